// The fleet and its queue: workers that run are what the queue hands out, a lease keeps its worker
// busy, and what waits is demand of the pools that could serve it.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

// Of a registration that is measured when it is seen, and not when the queue is first used.
constexpr auto just_now = std::chrono::seconds(10);

// What a worker is to the queue beyond its capacity: `queue` in its worker configuration.
struct Facts {
  std::map<std::string, std::int64_t> resources = {};
  std::vector<std::string> tags = {};
  std::string team = {};

  static constexpr auto fields() {
    return std::tuple{optional("resources", &Facts::resources), optional("tags", &Facts::tags),
                      optional("team", &Facts::team)};
  }
};

Facts facts_of(const LaunchConfigSpec& spec) {
  Facts facts;
  if (const json::value* given = spec.worker_config.if_contains("queue"))
    if (auto read = from_value<Facts>(*given)) facts = std::move(*read);
  std::ranges::sort(facts.tags);
  return facts;
}

queue::Resources resources_of(const Facts& facts, std::int64_t capacity) {
  const auto given = queue::Resources::from(facts.resources, capacity);
  return given ? *given : queue::Resources{capacity, {}};
}

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
  if (known && known->takes_work == takes_work && known->has.active_task == worker.capacity) return;
  const Facts facts = facts_of(*launch_configs_[worker.launch_config].spec);
  queue_->offer({.number = worker.number,
                 .pool = pools_[worker.pool].id,
                 .team = queue::TeamId(facts.team),
                 .place = worker.group == nowhere ? "" : groups_[worker.group],
                 .tags = facts.tags,
                 .has = resources_of(facts, worker.capacity),
                 .takes_work = takes_work},
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

// What is leased of a worker is known from the leases: it is not written with the worker.
void Fleet::count_leases() {
  for (const std::int64_t number : queue_->take_load_changes()) {
    const auto found = by_number_.find(number);
    const queue::Worker* leased = queue_->find_worker(number);
    if (found == by_number_.end() || !leased) continue;
    Worker& worker = workers_[found->second];
    const auto busy = static_cast<std::int32_t>(
        std::clamp<std::int64_t>(leased->used.active_task, 0, worker.capacity));
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
  if (!queue_->requests().empty()) change_queue(now_);
  queue_->settle_after_load(now_.wall);
  // The rows of workers may be older than the end of their leases.
  for (Index index = 0; queue_in_use_ && index < workers_.size(); ++index) {
    Worker& worker = workers_[index];
    const queue::Worker* known = queue_->find_worker(worker.number);
    if (!known || !known->leases.empty() || worker.busy <= 0) continue;
    count(worker, -1);
    worker.busy = 0;
    worker.idle_since = now_.wall;
    count(worker, +1);
  }
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
}

void Fleet::add_up_demand(Index index) {
  Pool& pool = pools_[index];
  PoolDemand is = pool.outside;
  is.pending = sensible_capacity(is.pending + pool.in_queue);
  if (is.pending == pool.demand.pending && is.claimed == pool.demand.claimed &&
      is.note == pool.demand.note)
    return;
  pool.demand = std::move(is);
  wake(index, true);
}

namespace {

// Whether the launch configuration makes workers that could serve it.
bool serves(const LaunchConfigSpec& spec, const std::vector<std::string>& tags,
            std::int64_t needs) {
  const Facts facts = facts_of(spec);
  return queue::tags_match(facts.tags, tags) &&
         resources_of(facts, instance_capacity(spec)).active_task >= needs;
}

}  // namespace

// Each request counts once: for the first pool in the order of its candidates that could launch a
// worker for it and has room to grow; if none has, for the first that could.
void Fleet::measure_queue() {
  if (!queue_->demand_changed() ||
      (now_.wall < queue_measured_ + settings_.decision_gap && now_.wall >= queue_measured_))
    return;
  queue_measured_ = now_.wall;
  std::vector<std::int64_t> queued(pools_.size());
  std::vector<Index> shared;
  for (const auto& [id, at] : pool_index_) {
    const queue::TeamPool* known = queue_->find_pool(id);
    if (pools_[at].spec && !pools_[at].removed() && !(known && known->dedicated))
      shared.push_back(at);
  }
  const auto could_serve = [&](Index at, const queue::Waiting& waiting) {
    return std::ranges::any_of(pools_[at].launch_configs, [&](Index launch_config) {
      const LaunchConfigState& state = launch_configs_[launch_config];
      return state.status != LaunchConfigStatus::archived &&
             serves(*state.spec, waiting.tags, waiting.largest);
    });
  };
  for (const queue::Waiting& waiting : queue_->take_demand()) {
    std::vector<Index> candidates;
    for (const WorkerPoolId& id : waiting.pools)
      if (const auto known = pool_index_.find(id); known != pool_index_.end())
        candidates.push_back(known->second);
    if (waiting.shared) std::ranges::copy(shared, std::back_inserter(candidates));
    std::int64_t left = waiting.capacity;
    Index first = nowhere;
    for (const Index at : candidates) {
      if (left == 0) break;
      if (!pools_[at].spec || !could_serve(at, waiting)) continue;
      if (first == nowhere) first = at;
      const std::int64_t room =
          pools_[at].spec->settings.max_capacity - pools_[at].totals.running - queued[at];
      const std::int64_t taken = std::clamp<std::int64_t>(room, 0, left);
      queued[at] += taken;
      left -= taken;
    }
    if (first != nowhere) queued[first] = sensible_capacity(queued[first] + left);
  }
  for (Index at = 0; at < pools_.size(); ++at) {
    if (pools_[at].removed() || pools_[at].in_queue == queued[at]) continue;
    pools_[at].in_queue = queued[at];
    add_up_demand(at);
  }
}

// -------------------------------------------------------------------------------------------------
// Verdicts

queue::Verdict Fleet::verdict_of(const queue::Request& request, Now now) const {
  queue::Situation situation = queue_->situation_of(request);
  const Worker* worker = find_worker(situation.worker_number);
  if (worker && has_instance(*worker))
    situation.worker = "worker " + groups_[worker->group] + "/" + worker->worker_id + " of " +
                       pools_[worker->pool].id.str();
  if (situation.held) return queue::judge(situation, now.wall);
  const queue::Waiting candidates = queue_->candidates_of(request);
  const auto look_at = [&](const Pool& pool) {
    queue::Outlook outlook{.pool = pool.id};
    for (const Index at : pool.launch_configs) {
      const LaunchConfigState& state = launch_configs_[at];
      if (state.status == LaunchConfigStatus::archived ||
          !serves(*state.spec, candidates.tags, situation.needs))
        continue;
      outlook.largest_worker = std::max(outlook.largest_worker, instance_capacity(*state.spec));
      outlook.launching += state.totals.requested;
    }
    if (outlook.largest_worker == 0) return;
    if (outlook.launching > 0 && pool.start_time.count() > 0)
      outlook.ready = now.wall + pool.start_time;
    outlook.blocked = pool.verdict.kind == VerdictKind::blocked;
    outlook.text = pool.verdict.text;
    outlook.until = pool.verdict.until;
    outlook.owner = pool.spec->owner;
    situation.outlooks.push_back(std::move(outlook));
  };
  for (const WorkerPoolId& id : candidates.pools)
    if (const Pool* pool = find_pool(id); pool && pool->spec) look_at(*pool);
  if (candidates.shared)
    for (const Pool& pool : pools_) {
      const queue::TeamPool* known = queue_->find_pool(pool.id);
      if (!pool.removed() && pool.spec && !(known && known->dedicated)) look_at(pool);
    }
  return queue::judge(situation, now.wall);
}

}  // namespace muster::fleet
