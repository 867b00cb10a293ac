#include "host/wiring/task_runs.hpp"

#include <muster/enum_name.hpp>

#include "host/fleet/fleet.hpp"
#include "host/outcome_health/task_outcome.hpp"

namespace muster {
namespace {

outcome_health::Resolution resolution_of(worker_state::Outcome outcome) {
  switch (outcome) {
    case worker_state::Outcome::completed:
      return outcome_health::Resolution::completed;
    case worker_state::Outcome::failed:
      return outcome_health::Resolution::failed;
    default:
      return outcome_health::Resolution::exception;
  }
}

outcome_health::TaskOutcome outcome_of(const worker_state::ResolvedRun& run) {
  return {.worker_pool_id = run.worker_pool_id,
          .worker_group = run.worker_group,
          .worker_id = run.worker_id,
          .launch_config_id = LaunchConfigId(run.launch_config_id),
          .resolution = resolution_of(run.outcome),
          .reason = name_of(run.reason),
          .started = run.started,
          .resolved = run.resolved};
}

}  // namespace

std::vector<std::optional<worker_state::WorkerOrigin>> origins_of(
    fleet::Service& fleet_service, const std::vector<worker_state::WorkerKey>& workers) {
  std::vector<std::optional<worker_state::WorkerOrigin>> origins(workers.size());
  fleet_service.read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (std::size_t i = 0; i < workers.size(); ++i) {
      const fleet::Pool* pool = fleet.find_pool(workers[i].worker_pool_id);
      if (!pool) continue;
      worker_state::WorkerOrigin& origin = origins[i].emplace();
      if (pool->spec) origin.worker_configuration = pool->spec->origin;
      const fleet::Worker* worker = fleet.find_worker(
          {workers[i].worker_pool_id, workers[i].worker_group, workers[i].worker_id});
      if (!worker || worker->launch_config == fleet::no_index) continue;
      if (const auto& spec = fleet.launch_configs()[worker->launch_config].spec)
        origin.launch_config_id = spec->launch_config.launch_config_id.str();
    }
  });
  return origins;
}

void judge_by(fleet::Service& fleet_service, const std::vector<worker_state::ResolvedRun>& runs) {
  if (runs.empty()) return;
  fleet_service.post([runs](fleet::Fleet& fleet, fleet::Now now) {
    for (const worker_state::ResolvedRun& run : runs) fleet.task_outcome(outcome_of(run), now);
  });
}

}  // namespace muster
