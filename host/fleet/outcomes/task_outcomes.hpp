// Task outcomes of all pools, and what follows from them: workers are quarantined, launch
// configurations lose weight, and people are told why. The statistics are host/outcome_health's.
#pragma once

#include <map>
#include <string>

#include "host/fleet/lifecycle/quarantine.hpp"
#include "host/outcome_health/pool_outcomes.hpp"

namespace muster::fleet {

class TaskOutcomes : Stage {
 public:
  TaskOutcomes(const StageContext& context, Quarantine& quarantine)
      : Stage(context), quarantine_(quarantine) {}

  // See Fleet::task_outcome.
  void add(outcome_health::TaskOutcome outcome);
  // By an operator: what is known against it is forgotten.
  void release(const WorkerName& name);
  // Likewise, with its image.
  void release(const WorkerPoolId& pool, const LaunchConfigId& id);

  // By the outcomes of the launch configuration or of its image, whichever is worse.
  outcome_health::WeightFactor weight_factor(const LaunchConfigState& launch_config,
                                             Time now) const;
  const outcome_health::PoolOutcomes* find(const WorkerPoolId& pool) const;

  // Forgets what is over.
  void prune();
  // Once a minute; at once if something was decided.
  void write_rows(store::Batch& out);
  void write_everything(store::Batch& out) const;
  Result<void> load(const store::Store& store);

 private:
  using Pools = std::map<WorkerPoolId, outcome_health::PoolOutcomes>;
  void act_on(Index pool, const outcome_health::TaskOutcome& outcome,
              const outcome_health::Finding& finding);
  void quarantine_worker(const outcome_health::TaskOutcome& outcome,
                         const outcome_health::Finding& finding);
  void tell(Index pool, const outcome_health::Finding& finding);

  Quarantine& quarantine_;
  Pools pools_outcomes_;
  bool decided_ = false;
  Time written_{};
};

}  // namespace muster::fleet
