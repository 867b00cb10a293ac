#include "host/fleet/model/spec_json.hpp"

#include <muster/codec.hpp>

namespace muster::fleet {
namespace {

// The same specification with all times as numbers, which the codec knows.
struct WindowDocument {
  std::vector<std::int64_t> weekdays;
  std::int64_t from = 0, to = 0;  // minutes
  static constexpr auto fields(auto visit) {
    return visit(optional("weekdays", &WindowDocument::weekdays),
                 required("from", &WindowDocument::from), required("to", &WindowDocument::to));
  }
};

struct Document {
  WorkerPoolId worker_pool_id;
  std::string origin, owner, description;
  bool email_on_error = false;
  std::string strategy;
  PoolSettings settings;
  std::int64_t registration_timeout = 0, reregistration_timeout = 0, queue_inactivity_timeout = 0,
               idle_timeout = 0, warm_capacity = 0;
  std::optional<std::int64_t> cycling_workers;
  double cycling_share = 1;
  std::vector<WindowDocument> cycling_windows;
  std::int64_t finish_tasks = Lifecycle().finish_tasks.count();
  std::vector<ProviderId> providers;
  std::vector<std::string> teams, public_worker_keys;
  std::vector<queue::Strategy> placement_strategies;
  json::object payload_schema;

  static constexpr auto fields(auto visit) {
    return visit(
        required("workerPoolId", &Document::worker_pool_id), required("origin", &Document::origin),
        required("owner", &Document::owner), required("description", &Document::description),
        required("emailOnError", &Document::email_on_error),
        required("strategy", &Document::strategy), required("settings", &Document::settings),
        required("registrationTimeout", &Document::registration_timeout),
        required("reregistrationTimeout", &Document::reregistration_timeout),
        required("queueInactivityTimeout", &Document::queue_inactivity_timeout),
        required("idleTimeout", &Document::idle_timeout),
        required("warmCapacity", &Document::warm_capacity),
        optional("cyclingWorkers", &Document::cycling_workers),
        required("cyclingShare", &Document::cycling_share),
        optional("cyclingWindows", &Document::cycling_windows),
        optional("finishTasks", &Document::finish_tasks),
        required("providers", &Document::providers), optional("teams", &Document::teams),
        optional("publicWorkerKeys", &Document::public_worker_keys),
        optional("placementStrategies", &Document::placement_strategies),
        optional("payloadSchema", &Document::payload_schema));
  }
};

}  // namespace

json::object to_json(const PoolSpec& spec) {
  const Lifecycle& life = spec.lifecycle;
  Document document{.worker_pool_id = spec.worker_pool_id,
                    .origin = spec.origin,
                    .owner = spec.owner,
                    .description = spec.description,
                    .email_on_error = spec.email_on_error,
                    .strategy = spec.strategy,
                    .settings = spec.settings,
                    .registration_timeout = life.registration_timeout.count(),
                    .reregistration_timeout = life.reregistration_timeout.count(),
                    .queue_inactivity_timeout = life.queue_inactivity_timeout.count(),
                    .idle_timeout = life.idle_timeout.count(),
                    .warm_capacity = life.warm_capacity,
                    .cycling_workers = life.cycling_budget.workers,
                    .cycling_share = life.cycling_budget.share,
                    .cycling_windows = {},
                    .finish_tasks = life.finish_tasks.count(),
                    .providers = spec.providers,
                    .teams = spec.teams,
                    .public_worker_keys = spec.public_worker_keys,
                    .placement_strategies = spec.placement_strategies,
                    .payload_schema = spec.payload_schema};
  for (const auto& window : life.cycling_windows)
    document.cycling_windows.push_back(
        {{window.weekdays.begin(), window.weekdays.end()}, window.from.count(), window.to.count()});
  return codec::to_value(document).as_object();
}

Result<PoolSpec> pool_spec_from_json(const json::object& from) {
  const auto document = from_value<Document>(json::value(from));
  if (!document) return document.error();
  using std::chrono::minutes;
  using std::chrono::seconds;
  PoolSpec spec{
      .worker_pool_id = document->worker_pool_id,
      .origin = document->origin,
      .owner = document->owner,
      .description = document->description,
      .email_on_error = document->email_on_error,
      .strategy = document->strategy,
      .settings = document->settings,
      .lifecycle = {.registration_timeout = seconds(document->registration_timeout),
                    .reregistration_timeout = seconds(document->reregistration_timeout),
                    .queue_inactivity_timeout = seconds(document->queue_inactivity_timeout),
                    .idle_timeout = seconds(document->idle_timeout),
                    .warm_capacity = document->warm_capacity,
                    .cycling_budget = {document->cycling_workers, document->cycling_share},
                    .finish_tasks = seconds(document->finish_tasks),
                    .cycling_windows = {}},
      .providers = document->providers,
      .launch_configs = {},
      .teams = document->teams,
      .public_worker_keys = document->public_worker_keys,
      .placement_strategies = document->placement_strategies,
      .payload_schema = document->payload_schema};
  for (const WindowDocument& window : document->cycling_windows)
    spec.lifecycle.cycling_windows.push_back({{window.weekdays.begin(), window.weekdays.end()},
                                              minutes(window.from),
                                              minutes(window.to)});
  return spec;
}

}  // namespace muster::fleet
