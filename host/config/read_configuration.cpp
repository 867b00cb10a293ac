#include "host/config/read_configuration.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/config/cross_check.hpp"
#include "host/config/embedded.hpp"
#include "host/config/read_notifications.hpp"
#include "host/config/read_outcomes.hpp"
#include "host/config/read_worker_state.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"
#include "lib/git/repository.hpp"
#include "lib/toml/schema_check.hpp"
#include "lib/toml/toml_document.hpp"
#include "lib/toml/toml_text.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

// Reads what has passed the schema: types and patterns are known to be right. What has not was
// taken out, so even mandatory keys may be missing.
class Reader {
 public:
  Reader(const fs::path& base, const Defaults& defaults) : base_(base), defaults_(defaults) {}

  HostConfiguration read(const json::object& root) const {
    HostConfiguration host;
    const auto listen = parse_listen_address(text(root, "listen").value_or("127.0.0.1:8600"));
    if (listen) host.listen = *listen;  // if not, the cross check says so
    if (defaults_.listen) host.listen = *defaults_.listen;
    host.public_url = text(root, "publicUrl").value_or("");
    const auto folder =
        defaults_.data_directory_was_given ? std::nullopt : text(root, "dataDirectory");
    host.data_directory = folder ? absolute(*folder) : absolute(defaults_.data_directory);
    if (const auto* folders = root.if_contains("pluginFolders"))
      for (const json::value& item : folders->get_array())
        host.plugin_folders.push_back(absolute(fs::path(std::string(item.get_string()))));
    else
      for (const fs::path& item : defaults_.plugin_folders)
        host.plugin_folders.push_back(absolute(item));
    read_worker_configurations(root, host);
    read(root, "shutdownDeadline", host.shutdown_deadline);
    read_log(table(root, "log"), host.log);
    read_http(table(root, "http"), host.http);
    read_auth(table(root, "auth"), host);
    host.demand = read_demand(table(root, "demand"));
    for (const auto& [name, item] : table(root, "teams"))
      host.teams[std::string(name)] = team(item.get_object());
    read_events(root, host);
    host.worker_state = read_worker_state(table(root, "workerState"), base_);
    host.notifications = read_notifications(table(root, "notifications"), base_);
    read_store(table(root, "store"), host);
    read_hosts(table(root, "hosts"), host.hosts);
    read_fleet(table(root, "fleet"), host.fleet);
    read_queue(table(root, "queue"), host.queue);
    host.providers = instances(table(root, "providers"));
    host.strategies = instances(table(root, "strategies"));
    if (host.strategies.empty()) host.strategies = strategies_without_config();
    return host;
  }

 private:
  // Those that come with the host and need to be told nothing, sorted by id.
  static std::vector<PluginInstance> strategies_without_config() {
    std::vector<PluginInstance> all;
    for (const char* name : {"cheapest", "classic", "estimator"}) {
      PluginInstance& instance = all.emplace_back();
      instance.id = name;
      instance.plugin = std::string("strategy/") + name;
    }
    return all;
  }

  static json::object table(const json::object& parent, std::string_view key) {
    const auto* found = parent.if_contains(key);
    return found ? found->get_object() : json::object();
  }
  static std::optional<std::string> text(const json::object& parent, std::string_view key) {
    const auto* found = parent.if_contains(key);
    if (!found) return std::nullopt;
    return std::string(found->get_string());
  }
  static std::optional<std::chrono::milliseconds> duration(const json::object& from,
                                                           std::string_view key) {
    const auto found = text(from, key);
    return found ? parse_duration(*found) : std::nullopt;
  }
  static std::optional<std::int64_t> integer(const json::object& from, std::string_view key) {
    const auto* found = from.if_contains(key);
    return found ? std::optional(found->to_number<std::int64_t>()) : std::nullopt;
  }
  static void read(const json::object& from, std::string_view key,
                   std::chrono::milliseconds& into) {
    if (const auto found = text(from, key)) into = parse_duration(*found).value_or(into);
  }
  static void read_size(const json::object& from, std::string_view key, std::uint64_t& into) {
    if (const auto found = text(from, key)) into = parse_size(*found).value_or(into);
  }
  static void read(const json::object& from, std::string_view key, std::uint32_t& into) {
    if (const auto* found = from.if_contains(key)) into = found->to_number<std::uint32_t>();
  }

  static void read(const json::object& from, std::string_view key, bool& into) {
    if (const auto* found = from.if_contains(key)) into = found->get_bool();
  }

  fs::path absolute(const fs::path& path) const { return (base_ / path).lexically_normal(); }

  void read_worker_configurations(const json::object& root, HostConfiguration& host) const {
    const auto* written = root.if_contains("workerConfigurations");
    if (!written) return;
    WorkerConfigurations workers;
    if (written->is_string()) {
      workers.folder = absolute(std::string(written->get_string()));
    } else {
      const json::object source = table(written->get_object(), "source");
      const std::string folder = text(source, "folder").value_or("");
      const std::string git = text(source, "git").value_or("");
      if (git.empty() && folder.empty()) return;  // the schema's check or the cross check says so
      workers.git = git.empty() || git::is_remote(git) ? git : absolute(git).string();
      workers.folder = git.empty() ? absolute(folder) : fs::path(folder);
      workers.ref = text(source, "ref").value_or(workers.ref);
      read(written->get_object(), "poll", workers.poll);
    }
    host.worker_configurations = std::move(workers);
  }

  static void read_log(const json::object& from, LogSettings& log) {
    log.level = log_level_from(text(from, "level").value_or("info")).value_or(LogLevel::info);
    const std::string format = text(from, "format").value_or("auto");
    if (format == "text") log.format = LogFormat::text;
    if (format == "json") log.format = LogFormat::json;
  }

  void read_http(const json::object& from, HttpSettings& http) const {
    read(from, "threads", http.threads);
    read(from, "maxConnections", http.max_connections);
    read_size(from, "maxHeaderBytes", http.max_header_bytes);
    read_size(from, "maxBodyBytes", http.max_body_bytes);
    read_size(from, "maxOpenBodyBytes", http.max_open_body_bytes);
    read_size(from, "maxBufferedBodyBytes", http.max_buffered_body_bytes);
    read_size(from, "maxBufferedBodyBytesPerPeer", http.max_buffered_body_bytes_per_peer);
    read(from, "headerTimeout", http.header_timeout);
    read(from, "bodyTimeout", http.body_timeout);
    read(from, "writeTimeout", http.write_timeout);
    read(from, "idleTimeout", http.idle_timeout);
    read(from, "maxConnectionsPerPeer", http.max_connections_per_peer);
    read(from, "requestsPerSecondPerPeer", http.requests_per_second_per_peer);
    read(from, "requestBurstPerPeer", http.request_burst_per_peer);
    read(from, "accessLog", http.access_log);
    read(from, "limitLoopback", http.limit_loopback);
    read(from, "metricsNeedToken", http.metrics_need_token);
    const json::object tls = table(from, "tls");
    const auto certificate = text(tls, "certificateFile"), key = text(tls, "keyFile");
    if (certificate && key) http.tls = TlsSettings{absolute(*certificate), absolute(*key)};
  }

  void read_auth(const json::object& from, HostConfiguration& host) const {
    const auto file = text(from, "adminTokenFile");
    host.auth.admin_token_file = file ? absolute(*file) : host.data_directory / "admin-token";
    for (const auto& [name, token] : table(from, "tokens"))
      if (token.get_object().contains("sha256"))
        host.auth.tokens[std::string(name)] = static_token(token.get_object());
    for (const auto& [id, client] : table(from, "clients"))
      host.auth.clients[std::string(id)] = static_client(client.get_object());
    for (const auto& [name, role] : table(from, "roles"))
      host.auth.roles[std::string(name)] = texts(role.get_object(), "scopes").value_or(Texts());
    host.auth.trusted_proxies = texts(from, "trustedProxies").value_or(Texts());
    const json::object lockout = table(from, "lockout");
    read(lockout, "failures", host.auth.lockout.failures);
    read(lockout, "window", host.auth.lockout.window);
    read(lockout, "duration", host.auth.lockout.duration);
  }

  using Texts = std::vector<std::string>;
  static std::optional<Texts> texts(const json::object& from, std::string_view key) {
    const auto* found = from.if_contains(key);
    if (!found || !found->is_array()) return std::nullopt;
    Texts all;
    for (const json::value& item : found->get_array())
      if (item.is_string()) all.emplace_back(item.get_string());
    return all;
  }
  static std::optional<Time> moment(const json::object& from, std::string_view key) {
    const auto found = text(from, key);
    return found ? parse_time(*found) : std::nullopt;  // the cross check says if it is none
  }

  static StaticToken static_token(const json::object& from) {
    StaticToken token;
    const std::string_view hex = from.at("sha256").get_string();
    for (std::size_t i = 0; i < token.digest.size(); ++i)
      token.digest[i] =
          static_cast<unsigned char>(std::stoul(std::string(hex.substr(2 * i, 2)), nullptr, 16));
    token.scopes = texts(from, "scopes").value_or(token.scopes);
    token.expires = moment(from, "expires");
    return token;
  }

  StaticClient static_client(const json::object& from) const {
    StaticClient client;
    if (const auto file = text(from, "accessTokenFile")) client.access_token_file = absolute(*file);
    client.scopes = texts(from, "scopes").value_or(client.scopes);
    client.expires = moment(from, "expires");
    client.description = text(from, "description").value_or("");
    const auto flag = [&](std::string_view key) {
      const auto* found = from.if_contains(key);
      return found && found->get_bool();
    };
    client.disabled = flag("disabled");
    client.replay_protection = flag("replayProtection");
    return client;
  }

  std::vector<DemandSettings> read_demand(const json::object& from) const {
    std::map<std::string, DemandSettings> sorted;
    for (const auto& [name, item] : from)
      sorted[std::string(name)] = demand_source(std::string(name), item.get_object());
    std::vector<DemandSettings> all;
    for (auto& [name, item] : sorted) all.push_back(std::move(item));
    return all;
  }

  DemandSettings demand_source(std::string name, const json::object& from) const {
    DemandSettings source;
    source.name = std::move(name);
    const std::string type = text(from, "type").value_or("file");
    source.type = type == "file"     ? DemandType::file
                  : type == "folder" ? DemandType::folder
                  : type == "http"   ? DemandType::http
                                     : DemandType::taskcluster;
    const auto path = [&](const char* key, fs::path& into) {
      if (const auto written = text(from, key)) into = absolute(*written);
    };
    path("file", source.file);
    path("folder", source.folder);
    path("tokenFile", source.token_file);
    path("accessTokenFile", source.access_token_file);
    path("certificateFile", source.certificate_file);
    path("caFile", source.ca_file);
    source.url = text(from, "url").value_or("");
    source.root_url = text(from, "rootUrl").value_or("");
    source.client_id = text(from, "clientId").value_or("");
    read(from, "interval", source.interval);
    read(from, "timeout", source.timeout);
    if (const auto stale = text(from, "staleAfter"))
      source.stale_after = parse_duration(*stale);
    else if (source.type != DemandType::file && source.type != DemandType::folder)
      source.stale_after =
          std::max<std::chrono::milliseconds>(std::chrono::minutes(5), 3 * source.interval);
    read(from, "concurrency", source.at_once);
    return source;
  }

  void read_path(const json::object& from, const char* key, fs::path& into) const {
    if (const auto written = text(from, key)) into = absolute(*written);
  }

  static TeamSettings team(const json::object& from) {
    TeamSettings team;
    if (const auto* found = from.if_contains("weight")) team.weight = found->to_number<double>();
    if (const auto* found = from.if_contains("maxHeld"))
      team.max_held = found->to_number<std::int64_t>();
    if (const auto* found = from.if_contains("maxPending"))
      team.max_pending = found->to_number<std::int64_t>();
    return team;
  }

  void read_events(const json::object& root, HostConfiguration& host) const {
    const json::object events = table(root, "events");
    read(events, "kept", host.events.kept);
    read(events, "deadLettersKept", host.events.dead_letters_kept);
    read(events, "inMemory", host.events.in_memory);
    read(events, "mostStreamsOfClient", host.events.most_streams_of_client);
    std::map<std::string, WebhookSettings> sorted;
    for (const auto& [name, item] : table(root, "webhooks"))
      sorted[std::string(name)] = webhook(std::string(name), item.get_object());
    for (auto& [name, item] : sorted) host.webhooks.push_back(std::move(item));
    const json::object from = table(root, "amqp");
    if (!from.contains("url")) return;
    AmqpSettings& amqp = host.amqp.emplace();
    amqp.url = *text(from, "url");
    read_path(from, "passwordFile", amqp.password_file);
    read_path(from, "caFile", amqp.ca_file);
    amqp.exchange_prefix = text(from, "exchangePrefix").value_or(amqp.exchange_prefix);
    read(from, "heartbeat", amqp.heartbeat);
    read(from, "window", amqp.window);
  }

  WebhookSettings webhook(std::string name, const json::object& from) const {
    WebhookSettings webhook;
    webhook.name = std::move(name);
    webhook.url = text(from, "url").value_or("");
    read_path(from, "secretFile", webhook.secret_file);
    read_path(from, "caFile", webhook.ca_file);
    if (const auto* kinds = from.if_contains("kinds"); kinds && kinds->is_array())
      for (const json::value& kind : kinds->get_array())
        if (kind.is_string()) webhook.kinds.emplace_back(kind.get_string());
    webhook.worker_pool_id = text(from, "workerPoolId").value_or("");
    webhook.provider_id = text(from, "providerId").value_or("");
    webhook.launch_config_id = text(from, "launchConfigId").value_or("");
    read(from, "timeout", webhook.timeout);
    read(from, "giveUpAfter", webhook.give_up_after);
    return webhook;
  }

  void read_store(const json::object& from, HostConfiguration& host) const {
    host.store.synchronous_full = text(from, "synchronous").value_or("full") == "full";
    host.store.backup_folder = host.data_directory / "backups";
    read_path(from, "backupFolder", host.store.backup_folder);
    read(from, "mostBackups", host.store.most_backups);
    read(from, "scrubEvery", host.store.scrub_every);
    host.store.postgres = text(from, "postgres").value_or("");
    read_path(from, "passwordFile", host.store.password_file);
  }

  void read_hosts(const json::object& from, HostsSettings& hosts) const {
    hosts.name = text(from, "name").value_or("");
    hosts.address = text(from, "address").value_or("");
    read_path(from, "caFile", hosts.ca_file);
    read(from, "lease", hosts.lease);
  }

  static void read_fleet(const json::object& from, FleetSettings& fleet) {
    fleet.default_strategy = text(from, "defaultStrategy");
    fleet.poll = duration(from, "poll");
    fleet.list_every = duration(from, "listEvery");
    fleet.notices_every = duration(from, "noticesEvery");
    fleet.grace = duration(from, "grace");
    fleet.journal_kept = duration(from, "journalKept");
    fleet.stopped_kept = duration(from, "stoppedKept");
    if (const auto* outcomes = from.if_contains("outcomes"))
      fleet.outcomes = read_outcomes(outcomes->as_object());
  }

  static void read_queue(const json::object& from, QueueSettings& queue) {
    queue.patience = duration(from, "patience");
    queue.half_life = duration(from, "halfLife");
    queue.least_charge = duration(from, "leastCharge");
    queue.ended_kept = duration(from, "endedKept");
    queue.most_waiting = integer(from, "mostWaiting");
    queue.most_waiting_of_team = integer(from, "mostWaitingOfTeam");
    queue.most_of_client = integer(from, "mostOfClient");
    queue.most_teams = integer(from, "mostTeams");
    queue.most_names_of_client = integer(from, "mostNamesOfClient");
    queue.most_polls_of_client = integer(from, "mostPollsOfClient");
    queue.strategies = texts(from, "strategies");
  }

  static LaunchLimits launch_limits(const json::object& from) {
    LaunchLimits launch;
    launch.max_capacity = integer(from, "maxCapacity");
    if (const auto* rate = from.if_contains("perSecond"))
      launch.per_second = rate->to_number<double>();
    launch.burst = integer(from, "burst");
    launch.calls_at_once = integer(from, "callsAtOnce");
    launch.per_call = integer(from, "perCall");
    return launch;
  }

  static std::vector<PluginInstance> instances(const json::object& from) {
    std::map<std::string, PluginInstance> sorted;
    for (const auto& [id, item] : from)
      sorted[std::string(id)] = instance(std::string(id), item.get_object());
    std::vector<PluginInstance> all;
    for (auto& [id, item] : sorted) all.push_back(std::move(item));
    return all;
  }

  static PluginInstance instance(std::string id, const json::object& from) {
    PluginInstance instance;
    instance.id = std::move(id);
    instance.plugin = text(from, "plugin").value_or("");
    if (const auto isolation = text(from, "isolation"))
      instance.isolation = isolation_from(*isolation);
    read(from, "concurrency", instance.concurrency);
    read(from, "deadline", instance.deadline);
    instance.user = text(from, "user");
    if (const auto* names = from.if_contains("environment"); names && names->is_array())
      for (const json::value& name : names->get_array())
        if (name.is_string()) instance.environment.emplace_back(name.get_string());
    const json::object limits = table(from, "limits");
    if (const auto memory = text(limits, "memory")) instance.limits.memory = parse_size(*memory);
    if (const auto time = text(limits, "cpuTime")) instance.limits.cpu_time = parse_duration(*time);
    if (const auto* files = limits.if_contains("openFiles"))
      instance.limits.open_files = files->to_number<std::uint32_t>();
    instance.launch = launch_limits(table(from, "launch"));
    instance.config = table(from, "config");
    return instance;
  }

  fs::path base_;
  const Defaults& defaults_;
};

Report refused(std::string file, Mistake mistake) {
  return {std::move(file), {std::move(mistake)}, nullptr};
}

}  // namespace

Report read_configuration_text(std::string_view text, const fs::path& file,
                               const Defaults& defaults) {
  Report report{file.empty() ? "(built-in configuration)" : file.string(), {}, nullptr};
  auto parsed = parse_toml(text);
  if (const auto* mistake = boost::variant2::get_if<Mistake>(&parsed))
    return refused(report.file, *mistake);
  const auto document =
      std::make_shared<const TomlDocument>(std::move(boost::variant2::get<TomlDocument>(parsed)));
  SchemaCheck checked = check_against_schema(*document, schema_text);
  const fs::path base = file.empty() ? fs::current_path() : fs::absolute(file).parent_path();
  auto host = std::make_shared<HostConfiguration>(Reader(base, defaults).read(checked.sound.root));
  host->data_directory_is_default = !defaults.data_directory_was_given &&
                                    (file.empty() || !document->root.contains("dataDirectory"));
  host->file = file.empty() ? fs::path() : fs::absolute(file).lexically_normal();
  host->document = document;
  report.mistakes = std::move(checked.mistakes);
  for (Mistake& mistake : cross_check(*host, checked.sound))
    report.mistakes.push_back(std::move(mistake));
  if (!has_errors(report.mistakes)) report.configuration = std::move(host);
  sort_mistakes(report.mistakes);
  return report;
}

Report read_configuration(const fs::path& file, const Defaults& defaults) {
  const auto text = read_file(file, max_toml_bytes);
  if (!text)
    return refused(file.string(),
                   {Severity::error,
                    {},
                    "",
                    text.error().message,
                    "give musterd a file that it can read, or no --config to run on the built-in "
                    "configuration"});
  return read_configuration_text(*text, file, defaults);
}

Report read_own_configuration(const fs::path& file, const Defaults& defaults) {
  std::error_code failed;
  if (fs::exists(file, failed))
    if (const auto ours = check_ownership(file, "the configuration", OthersMay::read); !ours)
      return refused(file.string(), {Severity::error, {}, "", ours.error().message, ""});
  return read_configuration(file, defaults);
}

}  // namespace muster::config
