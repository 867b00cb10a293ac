#include "host/fleet/fleet.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"
#include "lib/base/secret.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t numbers_reserved_at_once = 10'000;
const Lifecycle default_lifecycle;

std::string instance_key(Index provider, const std::string& group, const std::string& worker_id) {
  std::string key = std::to_string(provider);
  key.reserve(key.size() + group.size() + worker_id.size() + 2);
  return (((key += '\n') += group) += '\n') += worker_id;
}

}  // namespace

Fleet::Fleet(Settings settings, std::string host_id, std::int64_t epoch, Now now)
    : settings_(std::move(settings)),
      host_id_(std::move(host_id)),
      epoch_(epoch),
      queue_(std::make_unique<queue::Queue>(settings_.queue, static_cast<std::uint64_t>(epoch))) {
  begin(now);
  grace_until_ = now.wall + settings_.grace;
  outcome_.changes.emplace_back(store::put(HostRow{"hostId", host_id_}));
  outcome_.changes.emplace_back(store::put(HostRow{"epoch", std::to_string(epoch_)}));
}

Fleet::~Fleet() = default;

// Notices a clock that was set: then no worker is judged by the time for a while.
void Fleet::begin(Now now) {
  if (clock_known_) {
    const auto wall = now.wall - wall_before_;
    const auto steady = now.steady - steady_before_;
    if (std::chrono::abs(wall - steady) > settings_.clock_jump) {
      grace_until_ = now.wall + settings_.grace;
      now_ = now;
      clock_was_set();
    }
  }
  clock_known_ = true;
  wall_before_ = now.wall;
  steady_before_ = now.steady;
  now_ = now;
}

// Times in the future are times of a clock that was wrong: what they say happened just now.
void Fleet::clock_was_set() {
  const Time now = now_.wall;
  for (Index i = 0; i < workers_.size(); ++i) {
    Worker& worker = workers_[i];
    if (worker.number == 0) continue;
    if (worker.last_active > now)
      worker.credentials_expire =
          std::min(worker.credentials_expire, now + lifecycle_of(worker).reregistration_timeout);
    for (Time* time : {&worker.since, &worker.last_active, &worker.idle_since, &worker.registered})
      *time = std::min(*time, now);
    set_timer(i);
  }
  for (Index i = 0; i < pools_.size(); ++i) {
    if (pools_[i].removed()) continue;
    pools_[i].looked = std::min(pools_[i].looked, now);
    pools_[i].look = Time{};
    set_pool_timer(i, now + settings_.decision_gap);
  }
  for (ProviderState& provider : providers_) {
    provider.list_at = std::min(provider.list_at, now + settings_.list_every);
    provider.notices_at = std::min(provider.notices_at, now + settings_.notices_every);
  }
  for (const bidding::Hold& hold : holds_.clock_was_set(now)) hold_changed(hold);
  queue_->clock_was_set(now);
}

std::int64_t Fleet::next_number() {
  if (next_number_ >= reserved_) {
    reserved_ = next_number_ + numbers_reserved_at_once;
    outcome_.changes.emplace_back(store::put(HostRow{"nextNumber", std::to_string(reserved_)}));
  }
  return next_number_++;
}

IdempotencyKey Fleet::key_of(const Worker& worker) const {
  return IdempotencyKey(host_id_ + "-" + std::to_string(worker.epoch) + "-" +
                        std::to_string(worker.number));
}

// -------------------------------------------------------------------------------------------------
// Sums

void Fleet::count(const Worker& worker, std::int64_t sign) {
  if (!is_alive(worker)) return;
  ProviderState& provider = providers_[worker.provider];
  for (Totals* totals : {&pools_[worker.pool].totals, &launch_configs_[worker.launch_config].totals,
                         &provider.totals}) {
    const std::int64_t capacity = sign * worker.capacity;
    totals->workers += sign;
    switch (worker.state) {
      case WorkerState::requested:
        (worker.lost ? totals->lost : totals->requested) += capacity;
        break;
      case WorkerState::running:
        if (worker.drain == Drain::absent) {
          totals->absent += capacity;
          break;
        }
        totals->running_workers += sign;
        (worker.drain == Drain::none ? totals->running : totals->draining) += capacity;
        if (worker.drain == Drain::none && worker.busy > 0) totals->busy += sign * worker.busy;
        if (worker.drain == Drain::none && worker.busy >= 0)
          totals->idle += sign * std::max(0, worker.capacity - worker.busy);
        break;
      case WorkerState::stopping:
        totals->stopping += capacity;
        break;
      case WorkerState::stopped:
        break;
    }
  }
  if (!has_instance(worker) && worker.phase == LaunchPhase::uncertain) provider.unsure += sign;
  // A machine that waits to be put right is one more that the pool renews just now.
  if ((worker.drain == Drain::outdated || worker.drain == Drain::nonconformant) &&
      worker.state == WorkerState::running)
    pools_[worker.pool].outdated_draining += sign;
}

std::string Fleet::check_sums() const {
  Fleet again(settings_, host_id_, epoch_, now_);
  again.pools_.resize(pools_.size());
  again.launch_configs_.resize(launch_configs_.size());
  again.providers_.resize(providers_.size());
  for (const Worker& worker : workers_)
    if (worker.number != 0) again.count(worker, +1);
  for (std::size_t i = 0; i < pools_.size(); ++i) {
    if (again.pools_[i].totals != pools_[i].totals) return "the sums of pool " + pools_[i].id.str();
    if (again.pools_[i].outdated_draining != pools_[i].outdated_draining)
      return "the outdated workers of pool " + pools_[i].id.str();
    if (static_cast<std::int64_t>(pools_[i].workers.size()) != pools_[i].totals.workers)
      return "the list of workers of pool " + pools_[i].id.str();
  }
  for (std::size_t i = 0; i < launch_configs_.size(); ++i)
    if (again.launch_configs_[i].totals != launch_configs_[i].totals)
      return "the sums of launch configuration " + std::to_string(i);
  for (std::size_t i = 0; i < providers_.size(); ++i)
    if (again.providers_[i].totals != providers_[i].totals ||
        again.providers_[i].unsure != providers_[i].unsure)
      return "the sums of provider " + providers_[i].id.str();
  return {};
}

// -------------------------------------------------------------------------------------------------
// Names

Index Fleet::index_of_group(const std::string& name) {
  const auto [at, added] = group_index_.try_emplace(name, static_cast<Index>(groups_.size()));
  if (added) groups_.push_back(name);
  return at->second;
}

Index Fleet::index_of_pool(const WorkerPoolId& id) {
  const auto [at, added] = pool_index_.try_emplace(id, static_cast<Index>(pools_.size()));
  if (added) pools_.emplace_back().id = id;
  return at->second;
}

Index Fleet::index_of_provider(const ProviderId& id) {
  const auto [at, added] = provider_index_.try_emplace(id, static_cast<Index>(providers_.size()));
  if (added) providers_.emplace_back().id = id;
  return at->second;
}

const Pool* Fleet::find_pool(const WorkerPoolId& id) const {
  const auto found = pool_index_.find(id);
  return found == pool_index_.end() ? nullptr : &pools_[found->second];
}

Index Fleet::lookup(Index provider, const std::string& group, const std::string& worker_id) const {
  const auto found = by_instance_.find(instance_key(provider, group, worker_id));
  return found == by_instance_.end() ? no_index : found->second;
}

// Two providers may have machines of the same name; a pool's worker is meant.
Index Fleet::lookup(const WorkerName& name) const {
  for (Index provider = 0; provider < providers_.size(); ++provider) {
    const Index found = lookup(provider, name.worker_group.str(), name.worker_id.str());
    if (found != no_index && pools_[workers_[found].pool].id == name.worker_pool_id) return found;
  }
  return no_index;
}

const Worker* Fleet::find_worker(const WorkerName& name) const {
  const Index found = lookup(name);
  return found == no_index ? nullptr : &workers_[found];
}

std::vector<const Worker*> Fleet::find_workers(const WorkerGroup& group, const WorkerId& id) const {
  std::vector<const Worker*> found;
  for (Index provider = 0; provider < providers_.size(); ++provider)
    if (const Index at = lookup(provider, group.str(), id.str()); at != no_index)
      found.push_back(&workers_[at]);
  return found;
}

void Fleet::index_instance(Index index) {
  const Worker& worker = workers_[index];
  if (has_instance(worker))
    by_instance_.insert_or_assign(
        instance_key(worker.provider, groups_[worker.group], worker.worker_id), index);
}

void Fleet::forget_instance(Index index) {
  const Worker& worker = workers_[index];
  if (!has_instance(worker)) return;
  const auto found =
      by_instance_.find(instance_key(worker.provider, groups_[worker.group], worker.worker_id));
  if (found != by_instance_.end() && found->second == index) by_instance_.erase(found);
}

// -------------------------------------------------------------------------------------------------
// Workers come and go

// Among those of its pool that are stopped, or among the others.
void Fleet::put_in_pool(Worker& worker, Index index) {
  Pool& pool = pools_[worker.pool];
  std::vector<Index>& list = is_alive(worker) ? pool.workers : pool.stopped;
  worker.place_in_pool = static_cast<Index>(list.size());
  list.push_back(index);
}

void Fleet::take_from_pool(std::vector<Index>& list, Worker& worker) {
  const Index last = list.back();
  list[worker.place_in_pool] = last;
  workers_[last].place_in_pool = worker.place_in_pool;
  list.pop_back();
  worker.place_in_pool = no_index;
}

Index Fleet::add_worker(Worker worker) {
  Index index = static_cast<Index>(workers_.size());
  if (free_workers_.empty()) {
    workers_.emplace_back();
  } else {
    index = free_workers_.back();
    free_workers_.pop_back();
  }
  put_in_pool(worker, index);
  by_number_.emplace(worker.number, index);
  ++launch_configs_[worker.launch_config].rows;
  workers_[index] = std::move(worker);
  index_instance(index);
  count(workers_[index], +1);
  return index;
}

void Fleet::erase_worker(Index index) {
  Worker& worker = workers_[index];
  queue_->withdraw(worker.number, worker.reason, now_.wall);
  forget_instance(index);
  Pool& pool = pools_[worker.pool];
  take_from_pool(is_alive(worker) ? pool.workers : pool.stopped, worker);
  by_number_.erase(worker.number);
  --launch_configs_[worker.launch_config].rows;
  outcome_.changes.emplace_back(store::erase<WorkerRow>({worker.number}));
  keep_reported(worker.number, std::nullopt);
  if (worker.dirty) std::erase(dirty_workers_, index);
  worker = Worker{};
  free_workers_.push_back(index);
}

const Lifecycle& Fleet::lifecycle_of(const Worker& worker) const {
  const auto& spec = pools_[worker.pool].spec;
  return spec ? spec->lifecycle : default_lifecycle;
}

// -------------------------------------------------------------------------------------------------
// Rows

namespace {

std::optional<Time> known_time(Time time) {
  return time == Time{} ? std::nullopt : std::optional(time);
}

std::string digest_text(const Sha256& digest) {
  return digest == Sha256{} ? "" : to_hex(digest);
}

}  // namespace

WorkerRow Fleet::row_of(const Worker& worker) const {
  return {.number = worker.number,
          .worker_pool_id = pools_[worker.pool].id,
          .launch_config_id =
              launch_configs_[worker.launch_config].spec->launch_config.launch_config_id,
          .provider_id = providers_[worker.provider].id,
          .worker_group = WorkerGroup(worker.group == no_index ? "" : groups_[worker.group]),
          .worker_id = WorkerId(worker.worker_id),
          .state = worker.state,
          .phase = worker.phase,
          .drain = worker.drain,
          .capacity = worker.capacity,
          .busy = worker.working,
          .epoch = worker.epoch,
          .attempts = worker.attempts,
          .price = worker.price,
          .created = worker.created,
          .since = worker.since,
          .registered = known_time(worker.registered),
          .credentials_expire = known_time(worker.credentials_expire),
          .last_active = known_time(worker.last_active),
          .idle_since = known_time(worker.idle_since),
          .interruption = known_time(worker.interruption),
          .quarantined_until = known_time(worker.quarantined_until),
          .reason = worker.reason,
          .provider_data = worker.provider_data,
          .expires = known_time(worker.expires),
          .last_modified = known_time(worker.last_modified),
          .secret_digest = digest_text(worker.secret),
          .next_secret_digest = digest_text(worker.next_secret),
          .origin = worker.origin};
}

LaunchConfigRow Fleet::row_of(const LaunchConfigState& launch_config) const {
  return {.worker_pool_id = pools_[launch_config.pool].id,
          .launch_config_id = launch_config.spec->launch_config.launch_config_id,
          .provider_id = launch_config.spec->provider_id,
          .status = launch_config.status,
          .paused_until = known_time(launch_config.paused_until),
          .pause_reason = launch_config.pause_reason,
          .created = launch_config.created,
          .archived = known_time(launch_config.archived),
          .on_probation = launch_config.on_probation,
          .spec = codec::to_value(*launch_config.spec).as_object(),
          .health = launch_config.health.to_json()};
}

void Fleet::write_rows() {
  for (const Index index : dirty_workers_) {
    Worker& worker = workers_[index];
    worker.dirty = false;
    if (worker.number != 0) outcome_.changes.emplace_back(store::put(row_of(worker)));
  }
  dirty_workers_.clear();
  for (const Index index : dirty_launch_configs_) {
    LaunchConfigState& launch_config = launch_configs_[index];
    launch_config.dirty = false;
    if (!launch_config.removed()) outcome_.changes.emplace_back(store::put(row_of(launch_config)));
  }
  dirty_launch_configs_.clear();
  std::ranges::sort(dirty_pools_);
  const auto [repeated, end] = std::ranges::unique(dirty_pools_);
  dirty_pools_.erase(repeated, end);
  for (const Index index : dirty_pools_)
    if (!pools_[index].removed()) outcome_.changes.emplace_back(store::put(row_of(pools_[index])));
  dirty_pools_.clear();
  write_times();
}

void Fleet::touch(Index index) {
  LaunchConfigState& launch_config = launch_configs_[index];
  if (launch_config.dirty) return;
  launch_config.dirty = true;
  dirty_launch_configs_.push_back(index);
}

// -------------------------------------------------------------------------------------------------
// Answers

void Fleet::answered(Answer answer, Now now) {
  begin(now);
  const auto found = open_.find(answer.call_id);
  if (found == open_.end()) return;  // of a question that nobody remembers
  const PendingCall open = std::move(found->second);
  open_.erase(found);
  sanitize(answer);
  struct Dispatch {
    Fleet& fleet;
    const PendingCall& open;
    void operator()(Result<Size>& result) { fleet.sized(open.pool, result); }
    void operator()(Result<Bids>& result) { fleet.bid(open, std::move(result)); }
    void operator()(Result<Selection>& result) { fleet.selected(open.pool, result); }
    void operator()(Result<Allocation>& result) { fleet.allocated(open, std::move(result)); }
    void operator()(Result<Listing>& result) { fleet.listed(open, std::move(result)); }
    void operator()(Result<Termination>& result) { fleet.terminated(open, std::move(result)); }
    void operator()(Result<Notices>& result) { fleet.noticed(open, std::move(result)); }
  };
  std::visit(Dispatch{*this, open}, answer.result);
}

Outcome Fleet::settle(Now now) {
  begin(now);
  run_timers();
  offer_changed_workers();
  queue_->expire(now.wall);
  count_leases();
  measure_queue();
  for (Index provider = 0; provider < providers_.size(); ++provider) ask_around(provider);
  for (const Index pool : std::exchange(to_look_at_, {})) look_at(pool);
  bid_for_all();
  for (Index provider = 0; provider < providers_.size(); ++provider) {
    dispatch(provider);
    terminate_waiting(provider);
  }
  prune();
  offer_changed_workers();
  count_leases();
  write_rows();
  store::Batch of_queue = queue_->take_changes(now.wall);
  std::ranges::move(of_queue, std::back_inserter(outcome_.changes));
  outcome_.settled = queue_->take_settled();
  return std::exchange(outcome_, {});
}

// The journal and the errors are kept for a bounded time.
void Fleet::prune() {
  if (now_.wall < pruned_ + 1h && now_.wall >= pruned_) return;
  pruned_ = now_.wall;
  const std::int64_t bound = (now_.wall - settings_.journal_kept).time_since_epoch().count();
  outcome_.changes.emplace_back(store::EraseBelow{&store::table_of<DecisionRow>, "at", bound});
  outcome_.changes.emplace_back(store::EraseBelow{&store::table_of<PoolErrorRow>, "at", bound});
  outcome_.changes.emplace_back(
      store::EraseBelow{&store::table_of<events::Event>, "at",
                        (now_.wall - settings_.events_kept).time_since_epoch().count()});
  outcome_.changes.emplace_back(store::put(HostRow{"nextEvent", std::to_string(next_event_)}));
  for (const bidding::Hold& hold : holds_.forget_before(now_.wall - 24h)) unhold(hold);
  expire_pools();
}

}  // namespace muster::fleet
