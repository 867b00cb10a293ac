#include "host/fleet/outcomes/task_outcomes.hpp"

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/outcomes/image.hpp"

namespace muster::fleet {

using outcome_health::Finding;
using outcome_health::FindingKind;
using outcome_health::PoolOutcomes;
using outcome_health::SubjectKind;
using outcome_health::TaskOutcome;

void TaskOutcomes::add(TaskOutcome outcome) {
  const Index pool = registry_.find_pool_index(outcome.worker_pool_id);
  if (pool == no_index || !settings_.outcomes.enabled) return;
  const Index worker =
      table_.lookup({outcome.worker_pool_id, outcome.worker_group, outcome.worker_id});
  const Index at = worker != no_index
                       ? workers_[worker].launch_config
                       : registry_.find_launch_config(pools_[pool], outcome.launch_config_id);
  if (at != no_index) {
    const LaunchConfig& launch_config = launch_configs_[at].spec->launch_config;
    outcome.launch_config_id = launch_config.launch_config_id;
    outcome.image = shortened(image_of(launch_config.document));
  }
  for (const Finding& finding :
       pools_outcomes_[outcome.worker_pool_id].add(outcome, clock_.now(), settings_.outcomes))
    act_on(pool, outcome, finding);
}

void TaskOutcomes::act_on(Index pool, const TaskOutcome& outcome, const Finding& finding) {
  decided_ = true;
  const bool of_worker = finding.subject.kind == SubjectKind::worker;
  if (finding.kind == FindingKind::quarantined && of_worker)
    return quarantine_worker(outcome, finding);
  tell(pool, finding);
  if (finding.until != Time{}) agenda_.set_timer(pool, finding.until);
  agenda_.wake(pool);
}

// An operator's longer word stays. One that does not run any more needs no quarantine.
void TaskOutcomes::quarantine_worker(const TaskOutcome& outcome, const Finding& finding) {
  const WorkerName name{outcome.worker_pool_id, outcome.worker_group, outcome.worker_id};
  const Index worker = table_.lookup(name);
  if (worker == no_index || workers_[worker].state != WorkerState::running ||
      workers_[worker].in_quarantine_until() >= finding.until)
    return;
  (void)quarantine_.set(name, finding.until, "by task outcomes: " + finding.text);
}

void TaskOutcomes::tell(Index pool, const Finding& finding) {
  const char* kind = "";
  json::object details{{"reason", finding.text}};
  const bool has_subject = finding.kind != FindingKind::everywhere_began &&
                           finding.kind != FindingKind::everywhere_ended;
  if (has_subject) details[name_of(finding.subject.kind)] = finding.subject.name;
  if (finding.until != Time{}) details["until"] = format_time(finding.until);
  switch (finding.kind) {
    case FindingKind::quarantined:
      kind = "outcomes-quarantined";
      break;
    case FindingKind::released:
      kind = "outcomes-released";
      break;
    case FindingKind::withheld:
      kind = "outcomes-withheld";
      break;
    case FindingKind::everywhere_began:
      kind = "failures-everywhere-began";
      break;
    case FindingKind::everywhere_ended:
      kind = "failures-everywhere-ended";
      break;
  }
  const std::string text =
      has_subject ? name_of(finding.subject.kind) + " " + finding.subject.name + ": " + finding.text
                  : finding.text;
  outbox_.journal(pools_[pool], "lifecycle", text, details, {});
  outbox_.emit_event(kind, pools_[pool], text, std::move(details));
}

void TaskOutcomes::release(const WorkerName& name) {
  const auto found = pools_outcomes_.find(name.worker_pool_id);
  if (found == pools_outcomes_.end()) return;
  decided_ |= found->second.release(outcome_health::worker_key(name.worker_group, name.worker_id));
}

void TaskOutcomes::release(const WorkerPoolId& id, const LaunchConfigId& launch_config) {
  const auto found = pools_outcomes_.find(id);
  const Index pool = registry_.find_pool_index(id);
  if (found == pools_outcomes_.end() || pool == no_index) return;
  const Index at = registry_.find_launch_config(pools_[pool], launch_config);
  if (at == no_index) return;
  const std::string image = shortened(image_of(launch_configs_[at].spec->launch_config.document));
  decided_ |= found->second.release({SubjectKind::launch_config, launch_config.str()});
  decided_ |= found->second.release({SubjectKind::image, image});
  agenda_.wake(pool);
}

outcome_health::WeightFactor TaskOutcomes::weight_factor(const LaunchConfigState& launch_config,
                                                         Time now) const {
  const PoolOutcomes* outcomes = find(pools_[launch_config.pool].id);
  if (!outcomes) return {};
  const LaunchConfig& document = launch_config.spec->launch_config;
  auto own = outcomes->weight_factor({SubjectKind::launch_config, document.launch_config_id.str()},
                                     now, settings_.outcomes);
  auto of_image = outcomes->weight_factor(
      {SubjectKind::image, shortened(image_of(document.document))}, now, settings_.outcomes);
  return of_image.value < own.value ? of_image : own;
}

const PoolOutcomes* TaskOutcomes::find(const WorkerPoolId& pool) const {
  const auto found = pools_outcomes_.find(pool);
  return found == pools_outcomes_.end() ? nullptr : &found->second;
}

}  // namespace muster::fleet
