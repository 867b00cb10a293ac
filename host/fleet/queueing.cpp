// The fleet and its queue: workers that run are what the queue hands out, and a lease keeps its
// worker busy.
#include <algorithm>
#include <cmath>

#include "host/fleet/changing.hpp"
#include "host/fleet/queue_facts.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

// Of a registration that is measured when it is seen, and not when the queue is first used.
constexpr auto just_now = std::chrono::seconds(10);

}  // namespace

// -------------------------------------------------------------------------------------------------
// Workers

// Of one that runs and has registered. It serves until it drains, and is withdrawn when it stops or
// is not there any more.
void Fleet::offer_to_queue(Index index) {
  const Worker& worker = workers_[index];
  const queue::Worker* known = queue_->find_worker(worker.number);
  if (worker.state != WorkerState::running || worker.registered == Time{} ||
      worker.drain == Drain::absent) {
    if (known) queue_->withdraw(worker.number, worker.reason, now_.wall);
    return;
  }
  const bool takes_work = worker.drain == Drain::none;
  const std::int64_t working = std::max(0, worker.working);
  if (known && known->takes_work == takes_work && known->has.active_task == worker.capacity)
    return queue_->set_working(worker.number, working, now_.wall);
  const QueueFacts facts = queue_facts_of(*launch_configs_[worker.launch_config].spec);
  queue_->offer({.number = worker.number,
                 .pool = pools_[worker.pool].id,
                 .team = queue::TeamId(facts.team),
                 .place = worker.group == nowhere ? "" : groups_[worker.group],
                 .tags = facts.tags,
                 .has = resources_of(facts, worker.capacity),
                 .takes_work = takes_work,
                 .working = working},
                now_.wall);
  if (known || now_.wall - worker.registered > just_now) return;
  auto& start_time = pools_[worker.pool].start_time;
  const auto took = worker.registered - worker.created;
  start_time = start_time.count() == 0 ? took : (start_time * 7 + took) / 8;
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

// What is leased of a worker is known from the leases: it is not written with the worker.
void Fleet::count_leases() {
  for (const std::int64_t number : queue_->take_load_changes()) {
    const auto found = by_number_.find(number);
    if (found == by_number_.end() || !queue_->find_worker(number)) continue;
    Worker& worker = workers_[found->second];
    const std::int32_t busy = std::max(worker.working, leased_of(worker));
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
    if (pool.removed() || !pool.spec || pool.spec->teams.empty()) continue;
    queue::FilePool& file = files[pool.id];
    file.origin = pool.spec->origin.empty() ? "the API" : pool.spec->origin;
    for (const std::string& team : pool.spec->teams) file.teams.emplace_back(team);
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
