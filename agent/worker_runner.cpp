#include "agent/worker_runner.hpp"

#include "agent/http_client.hpp"
#include "agent/settings_reader.hpp"
#include "lib/yaml/yaml_document.hpp"

namespace muster::agent {
namespace {

constexpr const char* default_folder = "/var/lib/muster-agent";

class RunnerReader {
 public:
  RunnerReader(const config::TomlDocument& document, const std::filesystem::path& file)
      : document_(document) {
    read_.has_positions = true;
    configuration_.file = file;
    configuration_.folder = default_folder;
  }

  ReadConfiguration read() {
    Settings top(document_, read_.mistakes);
    Settings provider = top.table("provider");
    if (!top.has("provider")) top.wrong("provider", "this is required");
    read_provider(provider);
    Settings worker = top.table("worker");
    if (!top.has("worker")) top.wrong("worker", "this is required");
    read_worker(worker);
    if (const json::value* config = top.raw("workerConfig")) {
      if (config->is_object())
        configuration_.worker_config = json::write(*config);
      else
        top.wrong("workerConfig", "this must be a mapping");
    }
    if (top.truth("getSecrets").value_or(false))
      top.wrong("getSecrets", "secrets of Taskcluster are not fetched", "set it to false");
    Settings logging = top.table("logging");
    if (logging.text("implementation").value_or("stdio") != "stdio")
      logging.wrong("implementation", "only stdio is supported");
    logging.finish();
    if (top.raw("cacheOverRestarts"))
      top.wrong("cacheOverRestarts", "this is not supported",
                "leave it out: the agent registers again after a restart");
    top.finish();
    config::sort_mistakes(read_.mistakes);
    if (!config::has_errors(read_.mistakes)) read_.configuration = std::move(configuration_);
    return std::move(read_);
  }

 private:
  void read_provider(Settings& table) {
    const auto type = table.text("providerType");
    IdentitySettings& identity = configuration_.identity;
    if (type == "aws") identity.kind = IdentityKind::aws;
    if (type == "google") identity.kind = IdentityKind::google;
    if (type == "azure") identity.kind = IdentityKind::azure;
    if (!type) {
      if (!table.has("providerType")) table.wrong("providerType", "this is required");
    } else if (type == "static") {
      read_static(table);
    } else if (!tells_place(identity.kind)) {
      return table.wrong("providerType", "the type " + *type + " is not supported",
                         "static, aws, google and azure are");
    }
    configuration_.remove_on_exit = is_launched(identity.kind);
    read_location(table, type.value_or(""));
    if (table.raw("providerMetadata"))
      table.wrong("providerMetadata", "this is not supported", "leave it out");
    table.finish();
  }

  void read_static(Settings& table) {
    const auto need = [&](const char* key) {
      const auto text = table.text(key);
      if (!text && !table.has(key)) table.wrong(key, "this is required");
      return text.value_or("");
    };
    Place& place = configuration_.place;
    place.root_url = need("rootURL");
    if (const auto url = parse_server_url(place.root_url); !url && !place.root_url.empty())
      table.wrong("rootURL", url.error().message);
    place.root_url.erase(place.root_url.find_last_not_of('/') + 1);
    place.provider_id = need("providerID");
    place.worker_pool_id = need("workerPoolID");
    place.worker_group = need("workerGroup");
    place.worker_id = need("workerID");
    configuration_.identity.kind = IdentityKind::static_secret;
    configuration_.identity.secret = Secret(need("staticSecret"));
  }

  void read_location(Settings& table, const std::string& cloud) {
    json::object location;
    location["cloud"] = cloud;
    Settings given = table.table("workerLocation");
    for (const std::string& key : given.keys())
      if (const auto text = given.text(key)) location[key] = *text;
    configuration_.worker.environment["TASKCLUSTER_WORKER_LOCATION"] = json::write(location);
  }

  void read_worker(Settings& table) {
    const auto implementation = table.text("implementation");
    if (!implementation || *implementation != "generic-worker")
      return table.wrong("implementation", "only generic-worker is supported",
                         "for others write a configuration of the agent's own");
    const auto path = table.text("path"), config_path = table.text("configPath");
    for (const char* key : {"path", "configPath"})
      if (!table.has(key)) table.wrong(key, "this is required");
    for (const char* key : {"service", "protocolPipe"})
      if (table.raw(key)) table.wrong(key, "this is for Windows and not supported");
    table.finish();
    if (!path || !config_path) return;
    configuration_.worker.command = {*path, "run", "--config", *config_path};
    configuration_.worker.refresh = WorkerSettings::Refresh::none;  // a signal would end it
    configuration_.worker_config_path = *config_path;
  }

  const config::TomlDocument& document_;
  Configuration configuration_;
  ReadConfiguration read_;
};

}  // namespace

ReadConfiguration read_worker_runner(const std::filesystem::path& file, std::string_view text) {
  auto parsed = config::parse_yaml(text);
  if (const auto* mistake = boost::variant2::get_if<config::Mistake>(&parsed)) {
    ReadConfiguration read;
    read.has_positions = true;
    read.mistakes.push_back(*mistake);
    return read;
  }
  return RunnerReader(boost::variant2::get<config::TomlDocument>(parsed), file).read();
}

std::string generic_worker_text(const json::object& worker_config, const Place& place,
                                const hawk::Credentials& credentials) {
  json::object all = worker_config;
  if (const json::value* nested = worker_config.if_contains("genericWorker")) {
    all.erase("genericWorker");
    const json::value* config =
        nested->is_object() ? nested->get_object().if_contains("config") : nullptr;
    if (config && config->is_object())
      for (const auto& member : config->get_object()) all[member.key()] = member.value();
  }
  const auto slash = std::min(place.worker_pool_id.find('/'), place.worker_pool_id.size());
  all["rootURL"] = place.root_url;
  all["clientId"] = credentials.client_id;
  all["accessToken"] = credentials.access_token.reveal();
  all["certificate"] = credentials.certificate;
  all["provisionerId"] = place.worker_pool_id.substr(0, slash);
  all["workerType"] = place.worker_pool_id.substr(std::min(slash + 1, place.worker_pool_id.size()));
  all["workerGroup"] = place.worker_group;
  all["workerId"] = place.worker_id;
  return json::write_pretty(all) + "\n";
}

}  // namespace muster::agent
