// What a host was told to be: the checked configuration, as values. Every field is documented for
// operators in docs/operating.md under the name it has in TOML.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/json.hpp>

#include "host/config/event_settings.hpp"
#include "host/config/notification_settings.hpp"
#include "host/config/worker_state_settings.hpp"
#include "lib/base/isolation.hpp"
#include "lib/base/log.hpp"
#include "lib/base/secret.hpp"
#include "lib/toml/units.hpp"

namespace muster::config {

struct TomlDocument;

// What one cell may use. Empty: what the host itself may.
struct CellLimits {
  std::optional<std::uint64_t> memory;                // bytes of address space
  std::optional<std::chrono::milliseconds> cpu_time;  // of the cell's life; then it is restarted
  std::optional<std::uint32_t> open_files;
  friend bool operator==(const CellLimits&, const CellLimits&) = default;
};

// How much and how fast a provider may launch, over all pools. Empty: as the fleet has it.
struct LaunchLimits {
  std::optional<std::int64_t> max_capacity;
  std::optional<double> per_second;
  std::optional<std::int64_t> burst, calls_at_once, per_call;
  friend bool operator==(const LaunchLimits&, const LaunchLimits&) = default;
};

// One provider or one strategy.
struct PluginInstance {
  std::string id;                      // providerId, or the strategy's name
  std::string plugin;                  // "provider/simulated"
  std::optional<Isolation> isolation;  // empty: the plugin decides
  std::uint32_t concurrency = 1;       // how many calls may run at once
  std::chrono::milliseconds deadline = std::chrono::seconds(30);  // of one call
  CellLimits limits;
  std::optional<std::string> user;       // that its cells run as
  std::vector<std::string> environment;  // names of the host's variables that its cells get, too
  LaunchLimits launch;                   // of a provider
  json::object config;                   // handed to the plugin as it is
  friend bool operator==(const PluginInstance&, const PluginInstance&) = default;
};

struct LogSettings {
  LogLevel level = LogLevel::info;
  std::optional<LogFormat> format;  // empty: text on a terminal, else JSON
  friend bool operator==(const LogSettings&, const LogSettings&) = default;
};

struct TlsSettings {
  std::filesystem::path certificate_file, key_file;  // absolute; PEM
  friend bool operator==(const TlsSettings&, const TlsSettings&) = default;
};

struct HttpSettings {
  std::uint32_t threads = 2;
  std::uint32_t max_connections = 4096;
  std::uint64_t max_header_bytes = 16 * 1024;
  std::uint64_t max_body_bytes = 10 * 1024 * 1024;
  std::uint64_t max_open_body_bytes = 64 * 1024;  // without valid credentials
  std::uint64_t max_buffered_body_bytes = 256 * 1024 * 1024;
  std::uint64_t max_buffered_body_bytes_per_peer = 64 * 1024 * 1024;
  std::chrono::milliseconds header_timeout = std::chrono::seconds(10);
  std::chrono::milliseconds body_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds write_timeout = std::chrono::seconds(60);
  std::chrono::milliseconds idle_timeout = std::chrono::seconds(75);
  bool access_log = true;
  std::uint32_t max_connections_per_peer = 1024;       // 0: no limit
  std::uint32_t requests_per_second_per_peer = 5'000;  // 0: no limit
  std::uint32_t request_burst_per_peer = 10'000;
  bool limit_loopback = false;  // whether the limits of peers hold for this machine, too
  bool metrics_need_token = false;
  std::optional<TlsSettings> tls = {};  // empty: plain HTTP
  friend bool operator==(const HttpSettings&, const HttpSettings&) = default;
};

// A bearer token, known by its digest.
struct StaticToken {
  Sha256 digest{};
  std::vector<std::string> scopes = {"*"};
  std::optional<Time> expires = {};
  friend bool operator==(const StaticToken&, const StaticToken&) = default;
};

// A client that signs its requests.
struct StaticClient {
  std::filesystem::path access_token_file;  // absolute
  std::vector<std::string> scopes = {};
  std::optional<Time> expires = {};
  bool disabled = false;
  std::string description = {};
  bool replay_protection = false;
  friend bool operator==(const StaticClient&, const StaticClient&) = default;
};

struct LockoutSettings {
  std::uint32_t failures = 20;
  std::chrono::milliseconds window = std::chrono::minutes(1);
  std::chrono::milliseconds duration = std::chrono::minutes(1);
  friend bool operator==(const LockoutSettings&, const LockoutSettings&) = default;
};

struct AuthSettings {
  std::filesystem::path admin_token_file;            // absolute
  std::map<std::string, StaticToken> tokens;         // by name
  std::map<std::string, StaticClient> clients = {};  // by clientId
  std::map<std::string, std::vector<std::string>> roles = {};
  std::vector<std::string> trusted_proxies = {};
  LockoutSettings lockout = {};
  friend bool operator==(const AuthSettings&, const AuthSettings&) = default;
};

// Where worker configurations come from.
struct WorkerConfigurations {
  std::filesystem::path folder;  // absolute; with `git`: inside the repository, may be empty
  std::string git = {};          // an absolute path or an address; empty: `folder` is one of ours
  std::string ref = "HEAD";
  std::chrono::milliseconds poll = std::chrono::seconds(30);
  friend bool operator==(const WorkerConfigurations&, const WorkerConfigurations&) = default;
};

enum class DemandType { file, folder, http, taskcluster };
std::string_view to_string(DemandType type);

// One source of demand. Only what its type needs is set; secrets are in files and never here.
struct DemandSettings {
  std::string name;
  DemandType type = DemandType::file;
  std::filesystem::path file;
  std::string url;
  std::filesystem::path token_file;
  std::string root_url;
  std::string client_id;
  std::filesystem::path access_token_file;
  std::filesystem::path certificate_file;
  std::filesystem::path ca_file;
  std::chrono::milliseconds interval = std::chrono::seconds(15);
  std::chrono::milliseconds timeout = std::chrono::seconds(20);
  std::optional<std::chrono::milliseconds> stale_after;  // empty: never
  std::uint32_t at_once = 16;
  std::filesystem::path folder = {};
  friend bool operator==(const DemandSettings&, const DemandSettings&) = default;
};

struct StoreSettings {
  bool synchronous_full = true;
  std::filesystem::path backup_folder = {};  // where the API may write copies of the store
  std::uint32_t most_backups = 100;          // files in it
  std::chrono::milliseconds scrub_every = std::chrono::seconds(10);
  std::string postgres = {};  // the address of a database; empty: SQLite in the data directory
  std::filesystem::path password_file = {};  // of that database; empty: none
  friend bool operator==(const StoreSettings&, const StoreSettings&) = default;
};

// This host among those that share a database.
struct HostsSettings {
  std::string name = {};     // empty: the machine's name and the port
  std::string address = {};  // where the others find it; empty: its own URL
  std::filesystem::path ca_file = {};
  std::chrono::milliseconds lease = std::chrono::seconds(15);
  friend bool operator==(const HostsSettings&, const HostsSettings&) = default;
};

// Empty: as the fleet has it.
struct FleetSettings {
  std::optional<std::string> default_strategy;
  std::optional<std::chrono::milliseconds> poll, list_every, notices_every, grace, journal_kept,
      stopped_kept;
  // Health by task outcomes.
  struct Outcomes {
    std::optional<bool> enabled, quarantine;
    std::optional<double> false_alarm, missed, effect, largest_share;
    std::optional<std::chrono::milliseconds> first_quarantine, longest_quarantine;
    friend bool operator==(const Outcomes&, const Outcomes&) = default;
  } outcomes = {};
  friend bool operator==(const FleetSettings&, const FleetSettings&) = default;
};

// Empty: as the queue has it.
struct QueueSettings {
  std::optional<std::chrono::milliseconds> patience, half_life, least_charge, ended_kept;
  std::optional<std::int64_t> most_waiting, most_waiting_of_team, most_of_client, most_teams,
      most_names_of_client, most_polls_of_client;
  std::optional<std::vector<std::string>> strategies;
  friend bool operator==(const QueueSettings&, const QueueSettings&) = default;
};

// A team's share of the workers, and its limits; 0: none.
struct TeamSettings {
  double weight = 1;
  std::int64_t max_held = 0, max_pending = 0;
  friend bool operator==(const TeamSettings&, const TeamSettings&) = default;
};

// All paths are absolute.
struct HostConfiguration {
  std::filesystem::path file;  // empty: the built-in configuration
  ListenAddress listen;
  std::string public_url;  // empty: that of `listen`
  std::filesystem::path data_directory;
  bool data_directory_is_default = false;  // nobody typed it: it is made with its parents
  std::vector<std::filesystem::path> plugin_folders;
  std::optional<WorkerConfigurations> worker_configurations;
  std::chrono::milliseconds shutdown_deadline = std::chrono::seconds(30);
  LogSettings log;
  HttpSettings http;
  AuthSettings auth;
  StoreSettings store;
  HostsSettings hosts;
  FleetSettings fleet;
  QueueSettings queue;
  std::vector<PluginInstance> providers;  // sorted by id
  // Sorted by id; `cheapest`, `classic` and `estimator` if the file names none.
  std::vector<PluginInstance> strategies;
  std::vector<DemandSettings> demand;         // sorted by name
  std::map<std::string, TeamSettings> teams;  // by name
  EventSettings events;
  std::vector<WebhookSettings> webhooks;  // sorted by name
  std::optional<AmqpSettings> amqp;
  WorkerStateSettings worker_state;
  NotificationSettings notifications;
  std::shared_ptr<const TomlDocument> document;

  // "/etc/muster/muster.toml:12:3" of what a JSON pointer names
  // ("/providers/ec2-us/config/region"), for mistakes that are found later, such as a plugin in its
  // own configuration.
  std::string place_of(std::string_view pointer) const;
};

}  // namespace muster::config
