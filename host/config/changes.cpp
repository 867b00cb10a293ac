#include "host/config/changes.hpp"

#include <map>
#include <set>

namespace muster::config {
namespace {

using Instances = std::vector<PluginInstance>;

void add_instances(std::vector<Change>& changes, const std::string& table, const Instances& before,
                   const Instances& after) {
  std::map<std::string, const PluginInstance*> old_ones, new_ones;
  std::set<std::string> ids;
  for (const auto& instance : before) old_ones[instance.id] = &instance, ids.insert(instance.id);
  for (const auto& instance : after) new_ones[instance.id] = &instance, ids.insert(instance.id);
  for (const std::string& id : ids) {
    const auto* was = old_ones[id];
    const auto* is = new_ones[id];
    if (!was || !is || !(*was == *is)) changes.push_back({table + "." + id, false});
  }
}

}  // namespace

std::vector<Change> changes_between(const HostConfiguration& before,
                                    const HostConfiguration& after) {
  std::vector<Change> changes;
  const auto compare = [&](const auto& was, const auto& is, const char* key, bool needs_restart) {
    if (!(was == is)) changes.push_back({key, needs_restart});
  };
  compare(before.listen, after.listen, "listen", true);
  compare(before.public_url, after.public_url, "publicUrl", true);
  compare(before.data_directory, after.data_directory, "dataDirectory", true);
  const auto without_tls = [](HttpSettings http) {
    http.tls.reset();
    return http;
  };
  compare(without_tls(before.http), without_tls(after.http), "http", true);
  // Other files are read at once; a socket that speaks plain text does not learn TLS.
  compare(before.http.tls, after.http.tls, "http.tls",
          before.http.tls.has_value() != after.http.tls.has_value());
  compare(before.plugin_folders, after.plugin_folders, "pluginFolders", false);
  compare(before.worker_configurations, after.worker_configurations, "workerConfigurations", false);
  compare(before.shutdown_deadline, after.shutdown_deadline, "shutdownDeadline", false);
  compare(before.log, after.log, "log", false);
  compare(before.auth, after.auth, "auth", false);
  compare(before.store, after.store, "store", true);
  compare(before.hosts, after.hosts, "hosts", true);
  compare(before.fleet, after.fleet, "fleet", true);
  compare(before.queue, after.queue, "queue", false);
  compare(before.demand, after.demand, "demand", false);
  compare(before.teams, after.teams, "teams", false);
  compare(before.events, after.events, "events", true);
  compare(before.webhooks, after.webhooks, "webhooks", false);
  compare(before.amqp, after.amqp, "amqp", false);
  compare(before.worker_state, after.worker_state, "workerState", false);
  compare(before.notifications, after.notifications, "notifications", false);
  add_instances(changes, "providers", before.providers, after.providers);
  add_instances(changes, "strategies", before.strategies, after.strategies);
  return changes;
}

}  // namespace muster::config
