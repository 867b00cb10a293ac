#include "agent/configuration.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include "agent/http_client.hpp"
#include "agent/settings_reader.hpp"
#include "agent/worker_runner.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/log.hpp"
#include "lib/process/environment_names.hpp"

namespace muster::agent {
namespace fs = std::filesystem;
namespace {

using namespace std::chrono_literals;

constexpr std::size_t max_file_bytes = 1024 * 1024;
constexpr std::int64_t most_of_a_resource = 1'000'000'000'000;
constexpr std::array<std::pair<std::string_view, IdentityKind>, 8> kinds{
    {{"local", IdentityKind::local},
     {"staticSecret", IdentityKind::static_secret},
     {"poolKey", IdentityKind::pool_key},
     {"relay", IdentityKind::relay},
     {"aws", IdentityKind::aws},
     {"google", IdentityKind::google},
     {"azure", IdentityKind::azure},
     {"proof", IdentityKind::proof}}};

class Reader {
 public:
  Reader(const config::TomlDocument& document, const fs::path& file, bool has_positions,
         const Overrides& overrides)
      : document_(document), overrides_(overrides) {
    read_.has_positions = has_positions;
    configuration_.file = file;
    const fs::path parent = file.parent_path();
    beside_ = parent.empty() ? fs::path(".") : parent;
  }

  ReadConfiguration read() {
    Settings top(document_, read_.mistakes);
    read_place(top);
    read_reported(top);
    configuration_.capacity = static_cast<int>(top.integer("capacity", 1, 10'000).value_or(1));
    if (const auto folder = top.text("folder"))
      configuration_.folder = absolute(*folder);
    else if (!top.has("folder"))
      top.wrong("folder", "this is required", "name a folder of the agent's own, for its files");
    if (const auto file = top.text("caFile")) configuration_.ca_file = absolute(*file);
    if (const auto level = top.text("logLevel")) read_level(top, *level);
    read_identity(top);
    configuration_.remove_on_exit =
        top.truth("removeOnExit").value_or(is_launched(configuration_.identity.kind));
    read_worker(top);
    read_state(top);
    read_timings(top);
    top.finish();
    config::sort_mistakes(read_.mistakes);
    if (!config::has_errors(read_.mistakes)) read_.configuration = std::move(configuration_);
    return std::move(read_);
  }

 private:
  fs::path absolute(const fs::path& path) const {
    std::error_code failed;
    const fs::path from_here = path.is_absolute() ? path : beside_ / path;
    const fs::path result = fs::absolute(from_here, failed);
    return (failed ? from_here : result).lexically_normal();
  }

  std::string address(Settings& table, std::string_view key) {
    const auto text = table.text(key);
    if (!text) return {};
    const auto url = parse_server_url(*text);
    if (!url) table.wrong(key, url.error().message);
    return text->substr(0, text->find_last_not_of('/') + 1);
  }

  void read_place(Settings& top) {
    Place& place = configuration_.place;
    place.root_url = address(top, "rootUrl");
    place.worker_pool_id = top.text("workerPoolId").value_or("");
    place.provider_id = top.text("providerId").value_or("");
    place.worker_group = top.text("workerGroup").value_or("");
    place.worker_id = top.text("workerId").value_or("");
    const std::string& pool = place.worker_pool_id;
    const auto slash = pool.find('/');
    if (!pool.empty() && (slash == 0 || slash == pool.npos || slash + 1 == pool.size()))
      top.wrong("workerPoolId", "\"" + pool + "\" is not a worker pool",
                "write it as provisioner/worker-type");
  }

  // The host checks them again, and more closely.
  void read_reported(Settings& top) {
    ReportedCapabilities& reported = configuration_.reported;
    Settings resources = top.table("resources");
    for (const std::string& name : resources.keys())
      if (const auto amount = resources.integer(name, 1, most_of_a_resource))
        reported.resources[name] = *amount;
    if (const auto tags = top.names("tags")) reported.tags = *tags;
    reported.team = top.text("team").value_or("");
  }

  void require_place(Settings& top, IdentityKind kind) {
    const Place& place = configuration_.place;
    const bool clouds = tells_place(kind) && kind != IdentityKind::relay;
    const auto need = [&](std::string_view key, const std::string& value, bool told) {
      if (value.empty() && !told && !top.has(key))
        top.wrong(key, "this is required for the identity " + std::string(to_string(kind)));
    };
    need("rootUrl", place.root_url, clouds);
    const bool told = tells_place(kind);
    need("workerPoolId", place.worker_pool_id, told || !overrides_.worker_pool_id.empty());
    need("providerId", place.provider_id, told);
    need("workerGroup", place.worker_group, told);
    need("workerId", place.worker_id, told);
  }

  void read_level(Settings& top, const std::string& level) {
    if (const auto found = log_level_from(level))
      configuration_.log_level = *found;
    else
      top.wrong("logLevel", "\"" + level + "\" is none of debug, info, warning, error, off");
  }

  void read_identity(Settings& top) {
    if (!top.has("identity"))
      return top.wrong("identity", "this is required", "write [identity] with a kind");
    Settings table = top.table("identity");
    IdentitySettings& identity = configuration_.identity;
    const auto name = table.text("kind");
    const auto kind = std::ranges::find(kinds, name.value_or(""),
                                        [](const auto& known) { return std::string(known.first); });
    if (!name && !table.has("kind")) table.wrong("kind", "this is required");
    if (name && kind == kinds.end())
      table.wrong(
          "kind",
          "\"" + *name +
              "\" is none of local, staticSecret, poolKey, relay, aws, google, azure, proof");
    const bool known = kind != kinds.end();
    if (known) identity.kind = kind->second;
    const bool by_secret =
        identity.kind == IdentityKind::local || identity.kind == IdentityKind::static_secret;
    const auto file = [&](std::string_view key, bool wanted, fs::path& into) {
      if (const auto text = table.text(key)) into = absolute(*text);
      if (!known) return;
      if (wanted && !table.has(key)) table.wrong(key, "this is required for the identity " + *name);
      if (!wanted && table.has(key))
        table.wrong(key, "the identity " + *name + " has no use for it");
    };
    file("secretFile", by_secret, identity.secret_file);
    const bool by_key = identity.kind == IdentityKind::pool_key;
    file("keyFile", by_key, identity.key_file);
    read_key_beside(table, by_key || identity.kind == IdentityKind::relay);
    read_proof(table, known && identity.kind == IdentityKind::proof);
    identity.relay_url = address(table, "relayUrl");
    identity.metadata_url = address(table, "metadataUrl");
    if (known && identity.kind == IdentityKind::relay && !table.has("relayUrl"))
      table.wrong("relayUrl", "this is required for the identity relay");
    table.finish();
    if (known) require_place(top, identity.kind);
  }

  // Of a provider's own kind: a file, or what a command prints.
  void read_proof(Settings& table, bool wanted) {
    IdentitySettings& identity = configuration_.identity;
    if (const auto text = table.text("proofFile")) identity.proof_file = absolute(*text);
    if (const auto command = table.words("proofCommand")) identity.proof_command = *command;
    if (wanted && table.has("proofFile") == table.has("proofCommand"))
      table.wrong("proofFile", "the identity proof needs either proofFile or proofCommand");
    for (const char* key : {"proofFile", "proofCommand"})
      if (!wanted && table.has(key)) table.wrong(key, "only the identity proof has a use for it");
  }

  // Shown in addition to what the identity itself shows.
  void read_key_beside(Settings& table, bool useless) {
    const auto text = table.text("poolKeyFile");
    if (text && !useless) configuration_.identity.key_file = absolute(*text);
    if (text && useless)
      table.wrong("poolKeyFile", "the identity " +
                                     std::string(to_string(configuration_.identity.kind)) +
                                     " has no use for it");
  }

  void read_worker(Settings& top) {
    if (!top.has("worker"))
      return top.wrong("worker", "this is required", "write [worker] with a command");
    Settings table = top.table("worker");
    WorkerSettings& worker = configuration_.worker;
    if (const auto command = table.words("command"))
      worker.command = *command;
    else if (!table.has("command"))
      table.wrong("command", "this is required");
    if (const auto grace = table.duration("stopGrace")) configuration_.timings.stop_grace = *grace;
    read_refresh(table);
    Settings environment = table.table("environment");
    for (const std::string& name : environment.keys()) {
      const json::value& value = *environment.raw(name);
      if (!value.is_string() || name.empty() || name.find('=') != name.npos ||
          value.get_string().find('\0') != json::string::npos)
        environment.wrong(name, "environment variables are strings");
      else
        worker.environment[name] = std::string(value.get_string());
    }
    read_user(table);
    table.finish();
  }

  void read_user(Settings& table) {
    WorkerSettings& worker = configuration_.worker;
    if (const auto names = table.names("allowedEnvironment")) worker.allowed_environment = *names;
    for (const std::string& name : worker.allowed_environment)
      if (const auto good = check_allowed_variable(name); !good)
        table.wrong("allowedEnvironment", good.error().message);
    const auto name = table.text("user");
    if (!name) return;
    const auto user = parse_user(*name);
    if (!user) return table.wrong("user", user.error().message);
    if (::geteuid() == 0)
      worker.user = *user;
    else if (user->uid != ::geteuid())
      table.wrong("user", "only an agent that runs as root can start its worker as another user");
  }

  void read_refresh(Settings& worker_table) {
    WorkerSettings& worker = configuration_.worker;
    using Refresh = WorkerSettings::Refresh;
    if (!worker_table.has("refresh")) return;
    if (worker_table.is_table("refresh")) {
      Settings table = worker_table.table("refresh");
      if (const auto command = table.words("command")) worker.refresh_command = *command;
      if (!table.has("command")) table.wrong("command", "this is required");
      table.finish();
    } else if (worker_table.is_array("refresh")) {
      if (const auto command = worker_table.words("refresh")) worker.refresh_command = *command;
    } else {
      const auto word = worker_table.text("refresh");
      if (word && *word == "none") worker.refresh = Refresh::none;
      if (word && *word != "none" && *word != "signal")
        worker_table.wrong("refresh", "\"" + *word + "\" is neither signal nor none",
                           "for a command write { command = [\"...\"] }");
      return;
    }
    worker.refresh = Refresh::command;
  }

  void read_state(Settings& top) {
    Settings table = top.table("state");
    for (const std::string& name : table.keys()) {
      StateSetting setting;
      if (table.is_table(name)) {
        Settings entry = table.table(name);
        if (const auto command = entry.words("command")) setting.command = *command;
        if (!entry.has("command")) entry.wrong("command", "this is required");
        entry.finish();
      } else if (const auto text = table.text(name)) {
        setting.text = *text;
      }
      configuration_.state[name] = std::move(setting);
    }
  }

  void read_timings(Settings& top) {
    Settings table = top.table("timings");
    Timings& timings = configuration_.timings;
    const auto read = [&](std::string_view key, Milliseconds& into, Milliseconds least) {
      const auto time = table.duration(key);
      if (!time) return;
      if (*time < least)
        return table.wrong(key, "this must be at least " + std::to_string(least.count()) + "ms");
      into = *time;
    };
    read("requestTimeout", timings.request_timeout, 100ms);
    read("registrationTimeout", timings.registration_timeout, 0ms);
    read("retryMin", timings.retry_min, 10ms);
    read("retryMax", timings.retry_max, 10ms);
    read("renewBefore", timings.renew_before, 0ms);
    Milliseconds every{0};
    read("renewEvery", every, 100ms);
    if (every != 0ms) timings.renew_every = every;
    read("idleCheck", timings.idle_check, 100ms);
    read("activityInterval", timings.activity_interval, 100ms);
    read("interruptionCheck", timings.interruption_check, 100ms);
    read("removeTimeout", timings.remove_timeout, 0ms);
    if (timings.retry_max < timings.retry_min)
      table.wrong("retryMax", "this must not be less than retryMin");
    table.finish();
  }

  const config::TomlDocument& document_;
  const Overrides& overrides_;
  fs::path beside_;
  Configuration configuration_;
  ReadConfiguration read_;
};

ReadConfiguration unreadable(std::string reason, std::string remedy = "") {
  ReadConfiguration read;
  read.mistakes.push_back({config::Severity::error, {}, "", std::move(reason), std::move(remedy)});
  return read;
}

ReadConfiguration read_by_ending(const fs::path& file, std::string_view text,
                                 const Overrides& overrides) {
  const std::string ending = file.extension().string();
  if (ending == ".toml") {
    auto parsed = config::parse_toml(text);
    if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed)) {
      ReadConfiguration read;
      read.has_positions = true;
      read.mistakes.push_back(*mistake);
      return read;
    }
    return Reader(boost::variant2::get<config::TomlDocument>(parsed), file, true, overrides).read();
  }
  if (ending == ".json") {
    auto parsed = json::parse_object(text);
    if (!parsed) return unreadable("this is not JSON: " + parsed.error().message);
    config::TomlDocument document;
    document.root = std::move(*parsed);
    return Reader(document, file, false, overrides).read();
  }
  if (ending == ".yml" || ending == ".yaml") return read_worker_runner(file, text);
  return unreadable("the format of this file cannot be told from its name",
                    "let it end in .toml, .json, or .yml for worker-runner's");
}

void lay_over(Configuration& configuration, const Overrides& overrides) {
  if (!overrides.worker_pool_id.empty())
    configuration.place.worker_pool_id = overrides.worker_pool_id;
  ReportedCapabilities& reported = configuration.reported;
  for (const auto& [name, amount] : overrides.reported.resources) reported.resources[name] = amount;
  if (!overrides.reported.tags.empty()) reported.tags = overrides.reported.tags;
  if (!overrides.reported.team.empty()) reported.team = overrides.reported.team;
}

}  // namespace

std::string_view to_string(IdentityKind kind) {
  return std::ranges::find(kinds, kind, [](const auto& known) { return known.second; })->first;
}

bool tells_place(IdentityKind kind) {
  return kind == IdentityKind::relay || kind == IdentityKind::aws || kind == IdentityKind::google ||
         kind == IdentityKind::azure;
}

bool is_launched(IdentityKind kind) {
  return kind != IdentityKind::static_secret && kind != IdentityKind::pool_key &&
         kind != IdentityKind::relay;
}

ReadConfiguration read_configuration(const fs::path& file, const Overrides& overrides) {
  const auto text = read_file(file, max_file_bytes);
  if (!text) return unreadable(text.error().message);
  return read_configuration(file, *text, overrides);
}

ReadConfiguration read_configuration(const fs::path& file, std::string_view text,
                                     const Overrides& overrides) {
  ReadConfiguration read = read_by_ending(file, text, overrides);
  if (read.configuration) lay_over(*read.configuration, overrides);
  return read;
}

std::string describe(const config::Mistake& mistake, const fs::path& file, bool has_position) {
  if (has_position) return config::to_string(mistake, file.string());
  std::string text = file.string() + ": error: ";
  if (!mistake.key.empty()) text += mistake.key + ": ";
  text += mistake.reason;
  if (!mistake.remedy.empty()) text += "; " + mistake.remedy;
  return text;
}

}  // namespace muster::agent
