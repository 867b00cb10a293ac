#include "host/fleet/workers/worker_table.hpp"

#include <algorithm>

#include "host/fleet/model/words.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

// The same work is not tried again more often than that.
constexpr auto shortest_wait = 1s;

std::string instance_key(Index provider, const std::string& group, const std::string& worker_id) {
  std::string key = std::to_string(provider);
  key.reserve(key.size() + group.size() + worker_id.size() + 2);
  return (((key += '\n') += group) += '\n') += worker_id;
}

std::string declared_key(Index provider, const WorkerPoolId& pool, const std::string& group,
                         const std::string& worker_id) {
  return instance_key(provider, group, worker_id) + '\n' + pool.str();
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Edits

WorkerEdit::WorkerEdit(WorkerTable& table, Index index)
    : table_(table),
      index_(index),
      was_alive_(is_alive(table.workers_[index])),
      had_instance_(has_instance(table.workers_[index])),
      launch_config_(table.workers_[index].launch_config) {
  table_.count(table_.workers_[index], -1);
}

WorkerEdit::~WorkerEdit() {
  Worker& worker = table_.workers_[index_];
  if (is_alive(worker) != was_alive_) {
    Pool& pool = table_.registry_.pools()[worker.pool];
    table_.take_from_pool(was_alive_ ? pool.workers : pool.stopped, index_);
    table_.put_in_pool(index_);
  }
  if (worker.launch_config != launch_config_) {
    --table_.registry_.launch_configs()[launch_config_].rows;
    ++table_.registry_.launch_configs()[worker.launch_config].rows;
  }
  if (!had_instance_) table_.index_instance(index_);
  table_.count(worker, +1);
  table_.mark_changed(index_);
}

void WorkerTable::mark_changed(Index index) {
  Worker& worker = workers_[index];
  worker.last_modified = clock_.now();
  set_timer(index);
  if (worker.dirty) return;
  worker.dirty = true;
  dirty_.push_back(index);
}

void WorkerTable::set_load(Index index, std::int32_t busy) {
  Worker& worker = workers_[index];
  count(worker, -1);
  if (busy == 0 && worker.busy != 0) worker.idle_since = clock_.now();
  worker.busy = busy;
  worker.claimed |= busy > 0;
  worker.last_active = clock_.now();
  count(worker, +1);
  set_timer(index);
}

void WorkerTable::note_missing(Index index, int listings, Time since) {
  workers_[index].missing = static_cast<std::uint8_t>(listings);
  workers_[index].missing_since = since;
}

void WorkerTable::confirm(Index index) {
  Worker& worker = workers_[index];
  if (worker.confirmed) return;
  count(worker, -1);
  worker.confirmed = true;
  count(worker, +1);
}

bool WorkerTable::begin_termination(Index index) {
  return !std::exchange(workers_[index].terminating, true);
}

void WorkerTable::clock_was_set() {
  const Time now = clock_.now();
  for (Index index = 0; index < workers_.size(); ++index) {
    Worker& worker = workers_[index];
    if (worker.number == 0) continue;
    if (worker.last_active > now)
      worker.credentials_expire = std::min(
          worker.credentials_expire, now + registry_.lifecycle_of(worker).reregistration_timeout);
    for (Time* time : {&worker.since, &worker.last_active, &worker.idle_since, &worker.registered})
      *time = std::min(*time, now);
    note_missing(index, 0, {});
    set_timer(index);
  }
}

// -------------------------------------------------------------------------------------------------
// Sums

void WorkerTable::count(const Worker& worker, std::int64_t sign, const Sums& sums) {
  for (Totals* totals : {sums.pool, sums.launch_config, sums.provider}) {
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
        if (!worker.ends) totals->ending += capacity;
        break;
      case WorkerState::stopped:
        break;
    }
    if (!worker.confirmed && !(worker.state == WorkerState::stopping && worker.ends))
      totals->unconfirmed += capacity;
  }
  if (!has_instance(worker) && worker.phase == LaunchPhase::uncertain) *sums.unsure += sign;
  // A machine that waits to be repaired is one more that the pool renews just now.
  if ((worker.drain == Drain::outdated || worker.drain == Drain::nonconformant) &&
      worker.state == WorkerState::running)
    *sums.outdated_draining += sign;
}

void WorkerTable::count(const Worker& worker, std::int64_t sign) {
  if (!is_alive(worker)) return;
  Pool& pool = registry_.pools()[worker.pool];
  ProviderState& provider = registry_.providers()[worker.provider];
  count(worker, sign,
        {&pool.totals, &registry_.launch_configs()[worker.launch_config].totals, &provider.totals,
         &provider.unsure, &pool.outdated_draining});
}

std::string WorkerTable::check_sums() const {
  const auto& pools = registry_.pools();
  const auto& launch_configs = registry_.launch_configs();
  const auto& providers = registry_.providers();
  std::vector<Totals> of_pools(pools.size()), of_configs(launch_configs.size()),
      of_providers(providers.size());
  std::vector<std::int64_t> outdated(pools.size()), unsure(providers.size());
  for (const Worker& worker : workers_)
    if (is_alive(worker))
      count(worker, +1,
            {&of_pools[worker.pool], &of_configs[worker.launch_config],
             &of_providers[worker.provider], &unsure[worker.provider], &outdated[worker.pool]});
  for (std::size_t i = 0; i < pools.size(); ++i) {
    if (of_pools[i] != pools[i].totals) return "the sums of pool " + pools[i].id.str();
    if (outdated[i] != pools[i].outdated_draining)
      return "the outdated workers of pool " + pools[i].id.str();
    if (static_cast<std::int64_t>(pools[i].workers.size()) != pools[i].totals.workers)
      return "the list of workers of pool " + pools[i].id.str();
  }
  for (std::size_t i = 0; i < launch_configs.size(); ++i)
    if (of_configs[i] != launch_configs[i].totals)
      return "the sums of launch configuration " + std::to_string(i);
  for (std::size_t i = 0; i < providers.size(); ++i)
    if (of_providers[i] != providers[i].totals || unsure[i] != providers[i].unsure)
      return "the sums of provider " + providers[i].id.str();
  return {};
}

// -------------------------------------------------------------------------------------------------
// Names

Index WorkerTable::find(std::int64_t number) const {
  const auto found = by_number_.find(number);
  return found == by_number_.end() ? no_index : found->second;
}

Index WorkerTable::find(const IdempotencyKey& key, const HostIdentity& identity) const {
  const std::string& text = key.str();
  const std::size_t dash = text.rfind('-');
  if (dash == std::string::npos || dash + 1 >= text.size() || text.size() - dash > 19)
    return no_index;
  std::int64_t number = 0;
  for (std::size_t i = dash + 1; i < text.size(); ++i) {
    if (text[i] < '0' || text[i] > '9') return no_index;
    number = number * 10 + (text[i] - '0');
  }
  const Index found = find(number);
  return found == no_index || identity.key_of(workers_[found]) != key ? no_index : found;
}

Index WorkerTable::find_key(const std::string& key) const {
  const auto found = by_instance_.find(key);
  return found == by_instance_.end() ? no_index : found->second;
}

Index WorkerTable::lookup(Index provider, const std::string& group,
                          const std::string& worker_id) const {
  return find_key(instance_key(provider, group, worker_id));
}

Index WorkerTable::lookup(Index provider, const WorkerName& name) const {
  const Index declared = find_key(
      declared_key(provider, name.worker_pool_id, name.worker_group.str(), name.worker_id.str()));
  return declared != no_index ? declared
                              : lookup(provider, name.worker_group.str(), name.worker_id.str());
}

Index WorkerTable::lookup(const WorkerName& name) const {
  for (Index provider = 0; provider < registry_.providers().size(); ++provider) {
    const Index found = lookup(provider, name);
    if (found != no_index && registry_.pools()[workers_[found].pool].id == name.worker_pool_id)
      return found;
  }
  return no_index;
}

Result<Index> WorkerTable::known(const WorkerName& name) const {
  const Index index = lookup(name);
  if (index == no_index) return Error::not_found("there is no " + in_words(name));
  return index;
}

std::vector<const Worker*> WorkerTable::find_all(const WorkerGroup& group,
                                                 const WorkerId& id) const {
  std::vector<const Worker*> found;
  const auto add = [&](Index at) {
    if (at != no_index) found.push_back(&workers_[at]);
  };
  for (Index provider = 0; provider < registry_.providers().size(); ++provider) {
    add(lookup(provider, group.str(), id.str()));
    for (const Pool& pool : registry_.pools())
      if (!pool.removed()) add(find_key(declared_key(provider, pool.id, group.str(), id.str())));
  }
  return found;
}

std::string WorkerTable::key_of(const Worker& worker) const {
  const std::string& group = registry_.group_name(worker.group);
  return worker.origin == Origin::owner
             ? declared_key(worker.provider, registry_.pools()[worker.pool].id, group,
                            worker.worker_id)
             : instance_key(worker.provider, group, worker.worker_id);
}

void WorkerTable::index_instance(Index index) {
  if (has_instance(workers_[index])) by_instance_.insert_or_assign(key_of(workers_[index]), index);
}

void WorkerTable::forget_instance(Index index) {
  const Worker& worker = workers_[index];
  if (!has_instance(worker)) return;
  const auto found = by_instance_.find(key_of(worker));
  if (found != by_instance_.end() && found->second == index) by_instance_.erase(found);
}

// -------------------------------------------------------------------------------------------------
// Workers come and go

// Among those of its pool that are stopped, or among the others.
void WorkerTable::put_in_pool(Index index) {
  Worker& worker = workers_[index];
  Pool& pool = registry_.pools()[worker.pool];
  std::vector<Index>& list = is_alive(worker) ? pool.workers : pool.stopped;
  worker.place_in_pool = static_cast<Index>(list.size());
  list.push_back(index);
}

void WorkerTable::take_from_pool(std::vector<Index>& list, Index index) {
  Worker& worker = workers_[index];
  const Index last = list.back();
  list[worker.place_in_pool] = last;
  workers_[last].place_in_pool = worker.place_in_pool;
  list.pop_back();
  worker.place_in_pool = no_index;
}

Index WorkerTable::insert(Worker worker) {
  Index index = static_cast<Index>(workers_.size());
  if (free_.empty()) {
    workers_.emplace_back();
  } else {
    index = free_.back();
    free_.pop_back();
  }
  by_number_.emplace(worker.number, index);
  ++registry_.launch_configs()[worker.launch_config].rows;
  workers_[index] = std::move(worker);
  put_in_pool(index);
  index_instance(index);
  count(workers_[index], +1);
  return index;
}

Index WorkerTable::add(Worker worker) {
  const Index index = insert(std::move(worker));
  mark_changed(index);
  return index;
}

Index WorkerTable::restore(Worker worker) {
  worker.confirmed = worker.declared() || !has_instance(worker);
  const Index index = insert(std::move(worker));
  set_timer(index);
  return index;
}

void WorkerTable::erase(Index index, store::Batch& out) {
  Worker& worker = workers_[index];
  count(worker, -1);
  forget_instance(index);
  Pool& pool = registry_.pools()[worker.pool];
  take_from_pool(is_alive(worker) ? pool.workers : pool.stopped, index);
  by_number_.erase(worker.number);
  --registry_.launch_configs()[worker.launch_config].rows;
  out.emplace_back(store::erase<WorkerRow>({worker.number}));
  if (worker.dirty) std::erase(dirty_, index);
  worker = Worker{};
  free_.push_back(index);
}

// -------------------------------------------------------------------------------------------------
// Timers

void WorkerTable::set_timer(Index index) {
  Worker& worker = workers_[index];
  const Time at = deadlines_.due(worker);
  if (at == worker.timer) return;
  worker.timer = at;
  if (at != Time::max()) timers_.set(at, index);
}

std::optional<Index> WorkerTable::take_due() {
  while (timers_.is_due(clock_.now())) {
    const Timers::Timer timer = timers_.take();
    Worker& worker = workers_[timer.index];
    if (worker.number == 0 || worker.timer != timer.at) continue;  // an older setting
    worker.timer = Time{};
    return timer.index;
  }
  return std::nullopt;
}

// What is due and cannot be done now is looked at again soon.
void WorkerTable::set_timer_again(Index index) {
  Worker& worker = workers_[index];
  if (worker.number == 0 || worker.timer != Time{}) return;
  worker.timer = std::max(deadlines_.due(worker), clock_.now() + shortest_wait);
  if (worker.timer != Time::max()) timers_.set(worker.timer, index);
}

}  // namespace muster::fleet
