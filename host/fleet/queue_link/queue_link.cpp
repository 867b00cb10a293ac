#include "host/fleet/queue_link/queue_link.hpp"

#include <algorithm>
#include <cmath>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {

QueueLink::QueueLink(const StageContext& context, Measurements& measurements)
    : Stage(context),
      measurements_(measurements),
      queue_(std::make_unique<queue::Queue>(settings_.queue,
                                            static_cast<std::uint64_t>(identity_.epoch))) {
  queue_->judge_silence_by(clock_.listening());
}

QueueLink::~QueueLink() = default;

queue::Queue& QueueLink::use() {
  if (!std::exchange(in_use_, true))
    for (Index index = 0; index < workers_.size(); ++index)
      if (workers_[index].number != 0) offer(index);
  return *queue_;
}

// -------------------------------------------------------------------------------------------------
// What workers report of themselves

Result<void> QueueLink::check_reported(const WorkerName& name, const ProviderId& provider,
                                       const QueueFacts& reported) const {
  if (const auto place = place_for(name, provider))
    if (const auto may = may_report(*place, reported); !may) return may;
  const queue::TeamPool* pool = queue_->find_pool(name.worker_pool_id);
  if (!reported.team || !pool || !pool->dedicated) return {};
  return Error::invalid("worker pool " + name.worker_pool_id.str() +
                        " is dedicated to teams, so its workers belong to none: report no team, "
                        "or join another pool");
}

void QueueLink::keep_reported(std::int64_t worker, const std::optional<QueueFacts>& reported) {
  if (reported) {
    reported_[worker] = *reported;
    outbox_.change(store::put(WorkerFactsRow{worker, codec::to_value(*reported).as_object()}));
  } else if (reported_.erase(worker) > 0) {
    outbox_.change(store::erase<WorkerFactsRow>({worker}));
  }
}

const QueueFacts* QueueLink::reported_facts(const Worker& worker) const {
  const auto found = reported_.find(worker.number);
  return found == reported_.end() ? nullptr : &found->second;
}

std::shared_ptr<const LaunchConfigSpec> QueueLink::place_for(const WorkerName& name,
                                                             const ProviderId& provider) const {
  const Index worker = table_.lookup(name);
  if (worker != no_index && is_alive(workers_[worker]))
    return launch_configs_[registry_.newest_launch_config(workers_[worker])].spec;
  const auto place = registry_.place_of(name.worker_pool_id, provider);
  return place ? launch_configs_[*place].spec : nullptr;
}

QueueFacts QueueLink::facts_of(const Worker& worker) const {
  QueueFacts configured = queue_facts_of(*launch_configs_[worker.launch_config].spec);
  const QueueFacts* reported = reported_facts(worker);
  return reported ? combined(std::move(configured), *reported) : configured;
}

std::int64_t QueueLink::tasks_at_once(const Worker& worker) const {
  return std::min(resources_of(facts_of(worker), worker.capacity).active_task, largest_capacity);
}

// -------------------------------------------------------------------------------------------------
// Workers

// Of one that runs and has registered. It serves until it drains, and is withdrawn when it stops or
// is not there any more.
void QueueLink::offer(Index index) {
  const Worker& worker = workers_[index];
  const bool known = queue_->find_worker(worker.number) != nullptr;
  if (worker.state != WorkerState::running || worker.registered == Time{} ||
      worker.drain == Drain::absent) {
    if (known) withdraw(worker);
    return;
  }
  QueueFacts facts = facts_of(worker);
  queue::Resources has = resources_of(facts, worker.capacity);
  queue_->offer({.number = worker.number,
                 .pool = pools_[worker.pool].id,
                 .team = queue::TeamId(facts.team.value_or("")),
                 .place = worker.group == no_index ? "" : registry_.group_name(worker.group),
                 .tags = std::move(facts.tags).value_or(std::vector<std::string>()),
                 .has = std::move(has),
                 .takes_work = worker.drain == Drain::none,
                 .working = std::max(0, worker.working)},
                clock_.now());
}

void QueueLink::withdraw(const Worker& worker) {
  queue_->withdraw(worker.number, worker.reason, clock_.now());
}

void QueueLink::offer_changed_workers() {
  if (!in_use_) return;
  for (const Index index : table_.changed())
    if (workers_[index].number != 0) offer(index);
}

std::int32_t QueueLink::leased_of(const Worker& worker) const {
  const queue::Worker* known = queue_->find_worker(worker.number);
  if (!known || known->leases.empty()) return 0;
  const double share = std::min(1.0, known->has.share_of(known->used));
  return std::max(1, static_cast<std::int32_t>(std::ceil(share * worker.capacity - 1e-6)));
}

std::int32_t QueueLink::capacity_at_work(const Worker& worker, std::int64_t tasks) const {
  if (tasks <= 0) return static_cast<std::int32_t>(tasks);
  const double part = static_cast<double>(tasks) / static_cast<double>(tasks_at_once(worker));
  return static_cast<std::int32_t>(std::ceil(std::min(1.0, part) * worker.capacity - 1e-6));
}

// What is leased of a worker is known from the leases: it is not written with the worker.
void QueueLink::count_leases() {
  for (const queue::LeaseTime& lease : queue_->take_lease_times())
    if (const Index worker = table_.find(lease.worker); worker != no_index)
      measurements_.measure_lease(workers_[worker], lease.lasted);
  for (const std::int64_t number : queue_->take_load_changes()) {
    const Index index = table_.find(number);
    if (index == no_index || !queue_->find_worker(number)) continue;
    const Worker& worker = workers_[index];
    table_.set_load(index, std::max(capacity_at_work(worker, worker.working), leased_of(worker)));
  }
}

void QueueLink::write_everything(store::Batch& out) const {
  for (const auto& [number, facts] : reported_)
    out.emplace_back(store::put(WorkerFactsRow{number, codec::to_value(facts).as_object()}));
  std::ranges::move(queue_->everything(), std::back_inserter(out));
}

Result<void> QueueLink::load_reported(const store::Store& store) {
  return store::read_rows<WorkerFactsRow>(store, [&](WorkerFactsRow row) -> Result<void> {
    auto facts = read_reported(json::value(std::move(row.facts)));
    if (!facts) return facts.error();
    reported_[row.number] = std::move(*facts);
    return {};
  });
}

Result<void> QueueLink::load_queue(const store::Store& store) {
  if (const auto read = queue_->load(
          store, clock_.now(),
          [&](std::int64_t worker) { return registry_.protected_rows().has_worker(worker); });
      !read)
    return read;
  configure_pools();
  queue_->configure_teams(settings_.teams, settings_.teams_origin, clock_.now());
  if (!queue_->requests().empty()) use();
  queue_->settle_after_load(clock_.now());
  count_leases();
  return {};
}

// -------------------------------------------------------------------------------------------------
// Pools

void QueueLink::configure_pools() {
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
  queue_->configure_pools(files, clock_.now());
  std::map<WorkerPoolId, std::vector<queue::Strategy>> placement;
  for (const Pool& pool : pools_)
    if (!pool.removed() && pool.spec && !pool.spec->placement_strategies.empty())
      placement[pool.id] = pool.spec->placement_strategies;
  queue_->configure_placement(placement);
}

}  // namespace muster::fleet
