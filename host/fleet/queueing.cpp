// The fleet and its queue: workers that run are what the queue hands out, and a lease keeps its
// worker busy.
#include <algorithm>
#include <cmath>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/queue_facts.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {

// -------------------------------------------------------------------------------------------------
// What workers say of themselves

Result<void> Fleet::check_announced(const WorkerName& name, const ProviderId& provider,
                                    const QueueFacts& announced) const {
  if (const auto place = place_for(name, provider))
    if (const auto may = may_announce(*place, announced); !may) return may;
  const queue::TeamPool* pool = queue_->find_pool(name.worker_pool_id);
  if (!announced.team || !pool || !pool->dedicated) return {};
  return Error::invalid("worker pool " + name.worker_pool_id.str() +
                        " is dedicated to teams, so its workers belong to none: report no team, "
                        "or join another pool");
}

void Fleet::keep_announced(std::int64_t worker, const std::optional<QueueFacts>& announced) {
  if (announced) {
    announced_[worker] = *announced;
    outcome_.changes.emplace_back(
        store::put(WorkerFactsRow{worker, codec::to_value(*announced).as_object()}));
  } else if (announced_.erase(worker) > 0) {
    outcome_.changes.emplace_back(store::erase<WorkerFactsRow>({worker}));
  }
}

const QueueFacts* Fleet::announced_facts(const Worker& worker) const {
  const auto found = announced_.find(worker.number);
  return found == announced_.end() ? nullptr : &found->second;
}

QueueFacts Fleet::facts_of(const Worker& worker) const {
  QueueFacts configured = queue_facts_of(*launch_configs_[worker.launch_config].spec);
  const QueueFacts* announced = announced_facts(worker);
  return announced ? combined(std::move(configured), *announced) : configured;
}

std::int64_t Fleet::tasks_at_once(const Worker& worker) const {
  return std::min(resources_of(facts_of(worker), worker.capacity).active_task, largest_capacity);
}

// -------------------------------------------------------------------------------------------------
// Workers

// Of one that runs and has registered. It serves until it drains, and is withdrawn when it stops or
// is not there any more.
void Fleet::offer_to_queue(Index index) {
  const Worker& worker = workers_[index];
  const bool known = queue_->find_worker(worker.number) != nullptr;
  if (worker.state != WorkerState::running || worker.registered == Time{} ||
      worker.drain == Drain::absent) {
    if (known) queue_->withdraw(worker.number, worker.reason, now_.wall);
    return;
  }
  QueueFacts facts = facts_of(worker);
  queue::Resources has = resources_of(facts, worker.capacity);
  queue_->offer({.number = worker.number,
                 .pool = pools_[worker.pool].id,
                 .team = queue::TeamId(facts.team.value_or("")),
                 .place = worker.group == no_index ? "" : groups_[worker.group],
                 .tags = std::move(facts.tags).value_or(std::vector<std::string>()),
                 .has = std::move(has),
                 .takes_work = worker.drain == Drain::none,
                 .working = std::max(0, worker.working)},
                now_.wall);
}

void Fleet::offer_changed_workers() {
  if (!queue_in_use_) return;
  for (const Index index : dirty_workers_)
    if (workers_[index].number != 0) offer_to_queue(index);
}

// The part of its capacity that goes with what is leased of it, by what it has the least left of.
std::int32_t Fleet::leased_of(const Worker& worker) const {
  const queue::Worker* known = queue_->find_worker(worker.number);
  if (!known || known->leases.empty()) return 0;
  const double share = std::min(1.0, known->has.share_of(known->used));
  return std::max(1, static_cast<std::int32_t>(std::ceil(share * worker.capacity - 1e-6)));
}

// A worker counts its tasks, of which it may take more or fewer at once than its capacity is.
std::int32_t Fleet::capacity_at_work(const Worker& worker, std::int64_t tasks) const {
  if (tasks <= 0) return static_cast<std::int32_t>(tasks);
  const double part = static_cast<double>(tasks) / static_cast<double>(tasks_at_once(worker));
  return static_cast<std::int32_t>(std::ceil(std::min(1.0, part) * worker.capacity - 1e-6));
}

// What is leased of a worker is known from the leases: it is not written with the worker.
void Fleet::count_leases() {
  for (const queue::LeaseTime& lease : queue_->take_lease_times()) measure_lease(lease);
  for (const std::int64_t number : queue_->take_load_changes()) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end() || !queue_->find_worker(number)) continue;
    Worker& worker = workers_[found->second];
    const std::int32_t busy = std::max(capacity_at_work(worker, worker.working), leased_of(worker));
    count(worker, -1);
    if (busy == 0 && worker.busy != 0) worker.idle_since = now_.wall;
    worker.busy = busy;
    worker.claimed |= busy > 0;
    worker.last_active = now_.wall;
    count(worker, +1);
    set_timer(found->second);
  }
}

const Worker* Fleet::find_worker(std::int64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? nullptr : &workers_[found->second];
}

queue::Queue& Fleet::change_queue(Now now) {
  begin(now);
  if (!std::exchange(queue_in_use_, true))
    for (Index index = 0; index < workers_.size(); ++index)
      if (workers_[index].number != 0) offer_to_queue(index);
  return *queue_;
}

Result<std::int64_t> Fleet::request_worker(queue::Ask ask, Now now) {
  return change_queue(now).request(std::move(ask), next_number(), now.wall);
}

Result<void> Fleet::load_queue(const store::Store& store) {
  if (const auto read = queue_->load(store, now_.wall); !read) return read;
  tell_queue_of_pools();
  queue_->configure_teams(settings_.teams, settings_.teams_origin, now_.wall);
  if (!queue_->requests().empty()) change_queue(now_);
  queue_->settle_after_load(now_.wall);
  count_leases();
  return {};
}

// -------------------------------------------------------------------------------------------------
// Pools

void Fleet::tell_queue_of_pools() {
  std::map<WorkerPoolId, queue::FilePool> files;
  for (const Pool& pool : pools_) {
    if (pool.removed() || !pool.spec) continue;
    const PoolSpec& spec = *pool.spec;
    if (spec.teams.empty() && spec.public_worker_keys.empty()) continue;
    queue::FilePool& file = files[pool.id];
    file.origin = spec.origin.empty() ? "the API" : spec.origin;
    for (const std::string& team : spec.teams) file.teams.emplace_back(team);
    file.public_keys = spec.public_worker_keys;
  }
  queue_->configure_pools(files, now_.wall);
  std::map<WorkerPoolId, std::vector<queue::Strategy>> placement;
  for (const Pool& pool : pools_)
    if (!pool.removed() && pool.spec && !pool.spec->placement_strategies.empty())
      placement[pool.id] = pool.spec->placement_strategies;
  queue_->configure_placement(placement);
}

// Without workers, if nobody has asked for one yet.
void Fleet::configure_queue(const queue::Settings& settings, Now now) {
  begin(now);
  queue_->configure(settings, now.wall);
}

}  // namespace muster::fleet
