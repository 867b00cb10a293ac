#include <algorithm>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/toml/schema_check.hpp"
#include "lib/toml/toml_document.hpp"
#include "lib/toml/toml_text.hpp"
#include "relay/schema.hpp"
#include "relay/settings.hpp"

namespace muster::relay {
namespace fs = std::filesystem;
namespace {

using config::Mistake;
using config::Severity;

constexpr const char* own_network[] = {"127.0.0.0/8", "::1"};
constexpr std::size_t longest_token = 64 * 1024;

// Reads a document that fits the schema, and notes what the schema cannot know.
class SettingsReader {
 public:
  SettingsReader(const config::TomlDocument& document, fs::path base,
                 const Environment& environment)
      : document_(document), base_(std::move(base)), environment_(environment) {}

  Settings read() {
    Settings settings;
    settings.document = document_.root;
    read_listening(settings);
    read_policy(settings);
    read_dns(settings);
    read_host(settings.host);
    const json::object log = table("log");
    if (const auto level = text(log, "level"))
      settings.log_level = log_level_from(*level).value_or(LogLevel::info);
    if (const auto format = text(log, "format"); format && *format != "auto")
      settings.log_format = *format == "json" ? LogFormat::json : LogFormat::text;
    if (const auto file = text(table("audit"), "file")) settings.audit_file = absolute(*file);
    return settings;
  }
  std::vector<Mistake> mistakes;

 private:
  void mistake(std::string_view pointer, std::string reason, std::string remedy,
               Severity severity = Severity::error) {
    mistakes.push_back({severity, document_.value_position(pointer),
                        config::key_path(document_.root, pointer), std::move(reason),
                        std::move(remedy)});
  }
  json::object table(std::string_view key) const {
    const auto* found = document_.root.if_contains(key);
    return found && found->is_object() ? found->get_object() : json::object();
  }
  static std::optional<std::string> text(const json::object& from, std::string_view key) {
    const auto* found = from.if_contains(key);
    return found && found->is_string() ? std::optional(std::string(found->get_string()))
                                       : std::nullopt;
  }
  static std::vector<std::string> texts(const json::object& from, std::string_view key) {
    std::vector<std::string> all;
    if (const auto* found = from.if_contains(key); found && found->is_array())
      for (const json::value& item : found->get_array())
        if (item.is_string()) all.emplace_back(item.get_string());
    return all;
  }
  static bool flag(const json::object& from, std::string_view key, bool otherwise = false) {
    const auto* found = from.if_contains(key);
    return found && found->is_bool() ? found->get_bool() : otherwise;
  }
  template <class Number>
  static void number(const json::object& from, std::string_view key, Number& into) {
    if (const auto* found = from.if_contains(key); found && found->is_number())
      into = found->to_number<Number>();
  }
  static void duration(const json::object& from, std::string_view key,
                       std::chrono::milliseconds& into) {
    if (const auto found = text(from, key)) into = config::parse_duration(*found).value_or(into);
  }
  fs::path absolute(const std::string& path) const { return (base_ / path).lexically_normal(); }

  void read_listening(Settings& settings) {
    const json::object& root = document_.root;
    const auto listen =
        config::parse_listen_address(text(root, "listen").value_or("127.0.0.1:8650"));
    if (listen)
      settings.listen = *listen;
    else
      mistake("/listen", "this is not an IP address with a port",
              "write for example listen = \"0.0.0.0:8650\"");
    const json::object tls = table("tls"), http = table("http");
    const auto certificate = text(tls, "certificateFile"), key = text(tls, "keyFile");
    const bool insecure = flag(root, "insecure");
    if (certificate && key) {
      settings.tls = http::TlsFiles{absolute(*certificate), absolute(*key)};
      if (insecure)
        mistake("/insecure", "with [tls], nothing is insecure", "remove one of them");
      else if (const auto loaded = http::TlsContext::load(*settings.tls); !loaded)
        mistake("/tls/certificateFile", loaded.error().message, "");
    } else if (insecure) {
      mistake("/insecure",
              listen && listen->loopback
                  ? "credentials of workers travel in plain text"
                  : "credentials of workers travel in plain text, on a network",
              "use [tls], unless this is a test or a proxy on this machine speaks TLS",
              Severity::warning);
    } else if (!root.contains("tls")) {
      mistake("", "there is no [tls], and machines would get their credentials in plain text",
              "write [tls] with certificateFile and keyFile, or insecure = true for a test");
    }
    number(http, "threads", settings.threads);
    number(http, "maxConnections", settings.max_connections);
    number(http, "maxConnectionsPerPeer", settings.max_connections_per_peer);
    settings.access_log = flag(http, "accessLog");
    duration(root, "shutdownDeadline", settings.shutdown_deadline);
  }

  Networks networks(std::string_view key, const std::vector<std::string>& otherwise = {}) {
    const auto written = texts(document_.root, key);
    Networks good;
    for (std::size_t i = 0; i < written.size(); ++i)
      if (const auto one = Networks::parse({written[i]}); !one)
        mistake("/" + std::string(key) + "/" + std::to_string(i), one.error().message, "");
    if (auto all = Networks::parse(document_.root.contains(key) ? written : otherwise))
      good = std::move(*all);
    return good;
  }

  void read_policy(Settings& settings) {
    settings.allowed_networks = networks("allowedNetworks");
    settings.trusted_proxies = networks("trustedProxies");
    settings.operator_networks =
        networks("operatorNetworks", {std::begin(own_network), std::end(own_network)});
    auto rules = std::make_shared<NameRules>();
    const auto names = texts(document_.root, "allowedNames");
    for (std::size_t i = 0; i < names.size(); ++i) {
      const std::string pointer = "/allowedNames/" + std::to_string(i);
      auto pattern = NamePattern::parse(names[i]);
      if (!pattern) {
        mistake(pointer, pattern.error().message, "write for example \"mac-*.dc1.example.com\"");
        continue;
      }
      if (pattern->matches_nearly_all())
        mistake(pointer,
                "nearly every name matches this: the owner of any zone could choose a name",
                "name the domain of the machines, as \"*.dc1.example.com\"", Severity::warning);
      rules->allowed.push_back(std::move(*pattern));
    }
    const json::object dns = table("dns"), limits = table("limits");
    number(dns, "maxNames", rules->max_names);
    number(dns, "maxAliases", rules->max_aliases);
    settings.names = std::move(rules);
    number(limits, "requestsPerMinute", settings.rate.per_minute);
    number(limits, "burst", settings.rate.burst);
  }

  // "192.0.2.53", "192.0.2.53:53", "2001:db8::53", "[2001:db8::53]:53"
  static std::optional<std::string> server(const std::string& written) {
    if (const auto address = parse_address(written)) {
      const std::string plain = to_text(*address);
      return (plain.find(':') == plain.npos ? plain : "[" + plain + "]") + ":53";
    }
    const auto with_port = config::parse_listen_address(written);
    if (!with_port || with_port->port == 0) return std::nullopt;
    return config::to_string(*with_port);
  }

  void read_dns(Settings& settings) {
    const json::object dns = table("dns"), cache = table("cache");
    const auto servers = texts(dns, "servers");
    for (std::size_t i = 0; i < servers.size(); ++i)
      if (const auto good = server(servers[i]))
        settings.dns.servers.push_back(*good);
      else
        mistake("/dns/servers/" + std::to_string(i), "this is no IP address",
                "write for example \"10.0.0.53\" or \"[2001:db8::53]:5353\"");
    duration(dns, "timeout", settings.dns.timeout);
    number(dns, "tries", settings.dns.tries);
    duration(dns, "deadline", settings.dns.deadline);
    number(dns, "concurrency", settings.dns.at_once);
    if (settings.dns.timeout > settings.dns.deadline)
      mistake(dns.contains("timeout") ? "/dns/timeout" : "/dns/deadline",
              "one question may take longer than all of them together",
              "make dns.timeout (" + config::to_duration_text(settings.dns.timeout) +
                  ") less than dns.deadline (" + config::to_duration_text(settings.dns.deadline) +
                  ")");
    number(cache, "entries", settings.cache.entries);
    duration(cache, "minTtl", settings.cache.min_ttl);
    duration(cache, "maxTtl", settings.cache.max_ttl);
    duration(cache, "negativeTtl", settings.cache.negative_ttl);
    if (settings.cache.min_ttl > settings.cache.max_ttl)
      mistake(cache.contains("minTtl") ? "/cache/minTtl" : "/cache/maxTtl",
              "minTtl is more than maxTtl",
              "make cache.minTtl (" + config::to_duration_text(settings.cache.min_ttl) +
                  ") no more than cache.maxTtl (" +
                  config::to_duration_text(settings.cache.max_ttl) + ")");
  }

  void read_host(HostSettings& host) {
    const json::object from = table("host");
    host.url = text(from, "url").value_or("");
    if (host.url.starts_with("http://")) {
      const bool allowed = flag(from, "insecure");
      mistake("/host/url", "credentials of workers come from the host in plain text",
              allowed ? "use https:// unless this is a test or the host is on this machine"
                      : "use https://, or write insecure = true in [host] for a test",
              allowed ? Severity::warning : Severity::error);
    }
    host.provider_id = text(from, "providerId").value_or("");
    host.client_id = text(from, "clientId").value_or("");
    duration(from, "timeout", host.timeout);
    number(from, "concurrency", host.at_once);
    if (const auto file = text(from, "caFile")) {
      host.ca_file = absolute(*file);
      if (const auto read = read_file(host.ca_file, config::max_toml_bytes); !read)
        mistake("/host/caFile", read.error().message, "name a file of PEM certificates");
    }
    const std::string handed_over = environment_("CREDENTIALS_DIRECTORY");
    if (const auto file = text(from, "accessTokenFile"))
      host.access_token_file = absolute(*file);
    else if (!handed_over.empty())
      host.access_token_file = fs::path(handed_over) / token_credential;
    else if (document_.root.contains("host"))
      return mistake("/host", "there is no accessTokenFile",
                     "name the file that holds the access token of " + host.client_id +
                         ", or let systemd hand it over: LoadCredential=" +
                         std::string(token_credential) + ":/etc/muster/relay-token");
    if (host.access_token_file.empty()) return;
    if (const auto token = read_access_token(host); !token)
      mistake(from.contains("accessTokenFile") ? "/host/accessTokenFile" : "/host",
              token.error().message, "");
  }

  const config::TomlDocument& document_;
  const fs::path base_;
  const Environment& environment_;
};

Report refused(std::string file, Mistake mistake) {
  return {std::move(file), {std::move(mistake)}, nullptr};
}

}  // namespace

std::vector<std::string> Settings::needs_restart(const Settings& next) const {
  std::vector<std::string> keys;
  for (const char* key : {"listen", "insecure", "http", "host", "dns", "cache"}) {
    const auto *before = document.if_contains(key), *after = next.document.if_contains(key);
    if ((before == nullptr) != (after == nullptr) || (before && *before != *after))
      keys.emplace_back(key);
  }
  if (tls.has_value() != next.tls.has_value()) keys.emplace_back("tls");
  return keys;
}

// What systemd hands over stands in a folder of the service's own, with modes as systemd likes.
Result<Secret> read_access_token(const HostSettings& settings) {
  static constexpr const char* what = "the relay's access token";
  if (settings.access_token_file.filename() != token_credential ||
      !settings.access_token_file.string().starts_with("/run/credentials/"))
    return read_secret_file(settings.access_token_file, what);
  auto content = read_file(settings.access_token_file, longest_token);
  if (!content) return content.error();
  content->erase(content->find_last_not_of(" \t\r\n") + 1);
  if (content->empty() ||
      std::any_of(content->begin(), content->end(), [](char c) { return c <= ' ' || c > '~'; }))
    return Error::config(settings.access_token_file.string() + " does not hold " + what);
  return Secret(std::move(*content));
}

Report read_settings_text(std::string_view text, const fs::path& file,
                          const Environment& environment) {
  Report report{file.string(), {}, nullptr};
  auto parsed = config::parse_toml(text);
  if (const auto* mistake = boost::variant2::get_if<Mistake>(&parsed))
    return refused(report.file, *mistake);
  const auto& document = boost::variant2::get<config::TomlDocument>(parsed);
  config::SchemaCheck checked = config::check_against_schema(document, schema_text);
  SettingsReader reader(checked.sound, fs::absolute(file).parent_path(), environment);
  auto settings = std::make_shared<Settings>(reader.read());
  report.mistakes = std::move(checked.mistakes);
  for (Mistake& mistake : reader.mistakes) report.mistakes.push_back(std::move(mistake));
  if (!config::has_errors(report.mistakes)) report.settings = std::move(settings);
  config::sort_mistakes(report.mistakes);
  return report;
}

Report read_settings(const fs::path& file, const Environment& environment) {
  const auto text = read_file(file, config::max_toml_bytes);
  if (!text)
    return refused(file.string(), {Severity::error,
                                   {},
                                   "",
                                   text.error().message,
                                   "give muster-relay a file that it can read: --config FILE"});
  // It says whose names count, and where the relay's token is sent.
  if (const auto ours = check_ownership(file, "the configuration", OthersMay::read); !ours)
    return refused(file.string(), {Severity::error, {}, "", ours.error().message, ""});
  return read_settings_text(*text, file, environment);
}

}  // namespace muster::relay
