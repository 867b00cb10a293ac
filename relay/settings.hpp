// The configuration of a relay, and how it is read.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/base/log.hpp"
#include "lib/base/networks.hpp"
#include "lib/base/secret.hpp"
#include "lib/http/tls_context.hpp"
#include "lib/toml/mistake.hpp"
#include "lib/toml/units.hpp"
#include "relay/dns_resolver.hpp"
#include "relay/name_verification.hpp"
#include "relay/rate_limit.hpp"
#include "relay/verdict_cache.hpp"

namespace muster::relay {

struct HostSettings {
  std::string url;  // without a slash at its end
  std::string provider_id, client_id;
  std::filesystem::path access_token_file;
  std::filesystem::path ca_file;
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  std::uint32_t at_once = 8;
  friend bool operator==(const HostSettings&, const HostSettings&) = default;
};

struct Settings {
  config::ListenAddress listen;
  std::optional<http::TlsFiles> tls;  // without: plain HTTP
  std::uint32_t threads = 2, max_connections = 1024, max_connections_per_peer = 64;
  bool access_log = false;
  std::chrono::milliseconds shutdown_deadline = std::chrono::seconds(30);

  Networks allowed_networks, trusted_proxies, operator_networks;
  std::shared_ptr<const NameRules> names;
  RateSettings rate;
  CacheSettings cache;
  DnsSettings dns;
  HostSettings host;

  std::filesystem::path audit_file;  // empty: only the log
  LogLevel log_level = LogLevel::info;
  std::optional<LogFormat> log_format;

  // Keys that differ and that only a restart takes over.
  std::vector<std::string> needs_restart(const Settings& next) const;
  json::object document;  // as it was written
};

struct Report {
  std::string file;
  std::vector<config::Mistake> mistakes;     // in the order of the file; warnings, too
  std::shared_ptr<const Settings> settings;  // null if any mistake is an error
};

// "CREDENTIALS_DIRECTORY" → its value; empty if there is none.
using Environment = std::function<std::string(const char*)>;

// Finds every mistake in one go, except that nothing is read past a syntax error. The files that it
// names are looked at: the certificate, its key, the access token. Relative paths count from the
// folder of the file.
Report read_settings(const std::filesystem::path& file, const Environment& environment);
Report read_settings_text(std::string_view text, const std::filesystem::path& file,
                          const Environment& environment);

// The relay's own access token. Without accessTokenFile that is the credential `relay-token` that
// systemd has handed over.
inline constexpr const char* token_credential = "relay-token";
Result<Secret> read_access_token(const HostSettings& settings);

}  // namespace muster::relay
