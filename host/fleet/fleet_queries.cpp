// What the fleet answers to its readers.
#include "host/fleet/fleet.hpp"
#include "host/fleet/fleet_parts.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

const Settings& Fleet::settings() const {
  return parts_->settings;
}

const Listening& Fleet::listening() const {
  return parts_->clock.listening();
}

const std::string& Fleet::host_id() const {
  return parts_->identity.host_id;
}

std::int64_t Fleet::epoch() const {
  return parts_->identity.epoch;
}

const std::vector<Pool>& Fleet::pools() const {
  return parts_->registry.pools().values();
}

const std::vector<LaunchConfigState>& Fleet::launch_configs() const {
  return parts_->registry.launch_configs().values();
}

const std::vector<ProviderState>& Fleet::providers() const {
  return parts_->registry.providers().values();
}

const std::vector<Worker>& Fleet::workers() const {
  return parts_->table.all();
}

const Pool* Fleet::find_pool(const WorkerPoolId& id) const {
  return parts_->registry.find_pool(id);
}

const Worker* Fleet::find_worker(const WorkerName& name) const {
  const Index found = parts_->table.lookup(name);
  return found == no_index ? nullptr : &workers()[found];
}

const Worker* Fleet::find_worker(std::int64_t number) const {
  const Index found = parts_->table.find(number);
  return found == no_index ? nullptr : &workers()[found];
}

std::vector<const Worker*> Fleet::find_workers(const WorkerGroup& group, const WorkerId& id) const {
  return parts_->table.find_all(group, id);
}

std::shared_ptr<const LaunchConfigSpec> Fleet::place_for(const WorkerName& name,
                                                         const ProviderId& provider) const {
  return parts_->queue_link.place_for(name, provider);
}

const QueueFacts* Fleet::reported_facts(const Worker& worker) const {
  return parts_->queue_link.reported_facts(worker);
}

const ApiPoolRow* Fleet::find_api_pool(const WorkerPoolId& id) const {
  return parts_->pool_configuration.find(id);
}

const std::string& Fleet::group_name(Index group) const {
  return parts_->registry.group_name(group);
}

IdempotencyKey Fleet::key_of(const Worker& worker) const {
  return parts_->identity.key_of(worker);
}

std::string Fleet::check_sums() const {
  return parts_->table.check_sums();
}

const outcome_health::PoolOutcomes* Fleet::outcomes_of(const WorkerPoolId& pool) const {
  return parts_->task_outcomes.find(pool);
}

// -------------------------------------------------------------------------------------------------
// Providers

std::vector<bidding::Hold> Fleet::holds() const {
  return parts_->holds.all();
}

const allocation::Throttle& Fleet::throttle_of(const ProviderState& provider) const {
  return parts_->dispatcher.throttle(parts_->registry.find_provider(provider.id));
}

std::size_t Fleet::launches_waiting(const ProviderState& provider) const {
  return parts_->dispatcher.waiting(parts_->registry.find_provider(provider.id));
}

std::size_t Fleet::terminations_waiting(const ProviderState& provider) const {
  return parts_->termination.waiting(parts_->registry.find_provider(provider.id));
}

// -------------------------------------------------------------------------------------------------
// The queue and verdicts

const queue::Queue& Fleet::queue() const {
  return std::as_const(parts_->queue_link).queue();
}

void Fleet::assign_demand(const std::vector<queue::WaitingCapacity>& demand,
                          const TakeDemand& take) const {
  parts_->queue_demand.assign(demand, take);
}

Weights Fleet::weights_of(const Pool& pool, Time now) const {
  return parts_->limits.weights_of(pool, now);
}

verdict::Verdict Fleet::verdict_of(const queue::Request& request, Now now) const {
  return parts_->verdict_inputs.verdict_of(request, now.wall);
}

verdict::Verdict Fleet::verdict_of(const Pool& pool, Now now) const {
  return parts_->verdict_inputs.verdict_of(pool, now.wall);
}

verdict::Verdict Fleet::verdict_of(Index launch_config, const Weights& weights, Now now) const {
  return parts_->verdict_inputs.verdict_of(launch_config, weights, now.wall);
}

std::map<std::pair<verdict::Kind, std::string>, std::int64_t> Fleet::count_verdicts(Now now) const {
  return parts_->verdict_inputs.count_verdicts(now.wall);
}

}  // namespace muster::fleet
