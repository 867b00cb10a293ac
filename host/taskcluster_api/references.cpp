#include "host/taskcluster_api/references.hpp"

#include <algorithm>
#include <array>

#include "host/registration/meters.hpp"
#include "host/taskcluster_api/endpoints.hpp"

namespace muster::taskcluster_api {
namespace {

constexpr std::string_view folder = "/references/worker-manager/v1/";

std::string in_small_letters(std::string_view text) {
  std::string small(text);
  for (char& c : small)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return small;
}

std::string schema_of(const Schemas& schemas, std::string_view kind) {
  return schemas.root_url() + "/schemas/common/" + std::string(kind) + "-reference-v0.json#";
}

json::object entry_of(const Endpoint& endpoint) {
  json::array arguments, query;
  for (const std::string& name : parameters_of(endpoint)) arguments.emplace_back(name);
  for (const endpoints::QueryParameter& key : endpoint.query) query.emplace_back(key.name);
  json::object entry{{"type", "function"},
                     {"method", in_small_letters(endpoint.method)},
                     {"route", public_route(endpoint)},
                     {"args", std::move(arguments)},
                     {"query", std::move(query)},
                     {"name", endpoint.name},
                     {"stability", endpoint.stable ? "stable" : "experimental"},
                     {"category", endpoint.category},
                     {"title", endpoint.title},
                     {"description", endpoint.description}};
  const auto& scopes = endpoint.scopes.list();
  if (scopes.size() == 1) entry["scopes"] = scopes.front();
  if (scopes.size() > 1) {
    json::array all;
    for (const std::string_view scope : scopes) all.emplace_back(scope);
    entry["scopes"] = json::object{{"AllOf", std::move(all)}};
  }
  const auto file = [](std::string_view name) { return "v1/" + std::string(name) + ".json#"; };
  if (!endpoint.input.empty()) entry["input"] = file(endpoint.input);
  if (!endpoint.output.empty()) entry["output"] = file(endpoint.output);
  return entry;
}

// -------------------------------------------------------------------------------------------------
// Exchanges

struct Exchange {
  std::string_view exchange, name, message, title;
  bool of_one_worker;
};

constexpr std::array exchanges{
    Exchange{"worker-pool-created", "workerPoolCreated", "pulse-worker-pool-message",
             "A worker pool was made", false},
    Exchange{"worker-pool-updated", "workerPoolUpdated", "pulse-worker-pool-message",
             "A worker pool was changed", false},
    Exchange{"worker-pool-error", "workerPoolError", "pulse-worker-pool-error-message",
             "Something went wrong in a worker pool", false},
    Exchange{"worker-requested", "workerRequested", "pulse-worker-message",
             "A worker is on its way", true},
    Exchange{"worker-running", "workerRunning", "pulse-worker-message", "A worker has registered",
             true},
    Exchange{"worker-stopped", "workerStopped", "pulse-worker-message", "A worker has ended", true},
    Exchange{"worker-removed", "workerRemoved", "pulse-worker-removed-message",
             "A worker is to end, and why", true},
    Exchange{"launch-config-created", "launchConfigCreated", "pulse-launch-config-message",
             "A launch configuration was made", false},
    Exchange{"launch-config-updated", "launchConfigUpdated", "pulse-launch-config-message",
             "A launch configuration was changed in what may change", false},
    Exchange{"launch-config-archived", "launchConfigArchived", "pulse-launch-config-message",
             "Nothing is launched from a launch configuration any more", false}};

json::array routing_key(const Exchange& exchange) {
  json::array words;
  const auto word = [&](std::string_view name, std::string_view summary, bool required) -> auto& {
    words.push_back(json::object{
        {"name", name}, {"summary", summary}, {"multipleWords", false}, {"required", required}});
    return words.back().as_object();
  };
  word("routingKeyKind", "The form of this routing key", true)["constant"] = "primary";
  word("providerId", "The provider", exchange.of_one_worker);
  word("provisionerId", "The worker pool before the slash", exchange.of_one_worker);
  word("workerType", "The worker pool behind the slash", exchange.of_one_worker);
  word("workerGroup", "Region or datacenter of the worker", exchange.of_one_worker);
  word("workerId", "The worker", exchange.of_one_worker);
  word("launchConfigId", "The launch configuration", false);
  word("reserved", "Room for more", false)["multipleWords"] = true;
  return words;
}

json::object exchanges_reference(const Schemas& schemas) {
  json::array entries;
  for (const Exchange& exchange : exchanges)
    entries.push_back(json::object{{"type", "topic-exchange"},
                                   {"exchange", exchange.exchange},
                                   {"name", exchange.name},
                                   {"title", exchange.title},
                                   {"description", exchange.title},
                                   {"routingKey", routing_key(exchange)},
                                   {"schema", "v1/" + std::string(exchange.message) + ".json#"}});
  return {{"$schema", schema_of(schemas, "exchanges")},
          {"apiVersion", "v1"},
          {"serviceName", "worker-manager"},
          {"title", "What happens to worker pools and workers"},
          {"description",
           "Messages about worker pools, launch configurations and workers, where a "
           "message broker is configured."},
          {"exchangePrefix", "exchange/taskcluster-worker-manager/v1/"},
          {"entries", std::move(entries)}};
}

// -------------------------------------------------------------------------------------------------
// Logs and metrics

// Its log is lines for people and for any collector of logs; none of them has a type that programs
// could rely on.
json::object logs_reference(const Schemas& schemas) {
  return {{"$schema", schema_of(schemas, "logs")},
          {"serviceName", "worker-manager"},
          {"types", json::array{}}};
}

json::object metrics_reference(const Schemas& schemas) {
  json::array metrics;
  for (const registration::MeterDescription& meter : registration::meter_descriptions()) {
    json::object labels;
    for (const auto& [name, meaning] : meter.labels) labels[name] = meaning;
    json::object metric{
        {"name", meter.name},          {"type", meter.buckets.empty() ? "counter" : "histogram"},
        {"title", meter.description},  {"description", meter.description},
        {"labels", std::move(labels)}, {"registers", json::array{"default"}}};
    if (!meter.buckets.empty())
      metric["buckets"] = json::array(meter.buckets.begin(), meter.buckets.end());
    metrics.push_back(std::move(metric));
  }
  return {{"$schema", schema_of(schemas, "metrics")},
          {"serviceName", "worker-manager"},
          {"metrics", std::move(metrics)}};
}

}  // namespace

json::object api_reference(const Schemas& schemas) {
  json::array entries;
  for (const Endpoint& endpoint : endpoints()) entries.push_back(entry_of(endpoint));
  return {{"$schema", schema_of(schemas, "api")},
          {"apiVersion", "v1"},
          {"serviceName", "worker-manager"},
          {"title", "Worker pools and workers"},
          {"description",
           "Keeps fleets of workers at the right size. Whatever cannot be answered at "
           "the moment is answered with a status of 503 and may be tried again."},
          {"entries", std::move(entries)}};
}

std::map<std::string, std::string> served_documents(const Schemas& schemas) {
  std::map<std::string, std::string> served;
  json::array references;
  const auto add = [&](std::string_view name, const json::object& document) {
    const std::string path = std::string(folder) + std::string(name) + ".json";
    served[path] = json::write_pretty(document);
    references.emplace_back(schemas.root_url() + path);
  };
  add("api", api_reference(schemas));
  add("exchanges", exchanges_reference(schemas));
  add("logs", logs_reference(schemas));
  add("metrics", metrics_reference(schemas));
  served["/references/manifest.json"] = json::write_pretty(
      json::object{{"$schema", schemas.root_url() + "/schemas/common/manifest-v3.json#"},
                   {"references", std::move(references)}});
  for (const auto& [path, document] : schemas.documents())
    served[path] = json::write_pretty(document);
  return served;
}

}  // namespace muster::taskcluster_api
