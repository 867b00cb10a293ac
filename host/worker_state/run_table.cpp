#include "host/worker_state/run_table.hpp"

#include <algorithm>
#include <set>

#include "host/store/row.hpp"

namespace muster::worker_state {
namespace {

constexpr std::int64_t largest_run_id = 1000;
// A beginning in the future would stay the newest for ever.
constexpr auto largest_clock_difference = std::chrono::hours(24);

std::size_t hash_of(std::string_view pool, std::string_view group, std::string_view id) {
  const std::hash<std::string_view> hash;
  return (hash(pool) * 31 + hash(group)) * 31 + hash(id);
}

std::size_t hash_of(const PackedTaskId& task, std::uint16_t run_id) {
  return task.hash() * 31 + run_id;
}

std::int64_t& of(ForgottenRunsRow& row, Outcome outcome) {
  return outcome == Outcome::completed ? row.completed
         : outcome == Outcome::failed  ? row.failed
                                       : row.exception;
}

Time began(const RunReport& report) {
  return report.started == Time{} ? report.resolved : report.started;
}

// Ended runs may exceed a limit by an eighth.
bool exceeds(std::int64_t ended, std::size_t most) {
  return static_cast<std::size_t>(ended) > most + most / 8;
}

Result<PackedTaskId> check(const RunReport& report) {
  const auto task = PackedTaskId::pack(report.task_id);
  if (!task)
    return Error::invalid("the task id is not of 1 to 38 letters, digits, - and _: " +
                          report.task_id.substr(0, 60));
  const std::string run = "run " + std::to_string(report.run_id) + " of task " + report.task_id;
  if (report.run_id < 0 || report.run_id > largest_run_id)
    return Error::invalid(run + ": a run id is between 0 and 1000");
  if (report.worker.worker_pool_id.empty() || report.worker.worker_group.empty() ||
      report.worker.worker_id.empty())
    return Error::invalid(run + " names no worker");
  if (began(report) == Time{}) return Error::invalid(run + " has no time at which it began");
  if ((report.outcome == Outcome::running) != (report.resolved == Time{}))
    return Error::invalid(run + " is " + std::string(name_of(report.outcome)) +
                          (report.resolved == Time{} ? ", but has no time at which it ended"
                                                     : ", but has a time at which it ended"));
  return *task;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Finding

std::size_t RunTable::hash_of_run(Slot run) const {
  return hash_of(runs_[run].task, runs_[run].run_id);
}

std::size_t RunTable::hash_of_worker(Slot at) const {
  const Worker& worker = workers_[at];
  return hash_of(worker.pool->forgotten.worker_pool_id.str(), worker.group, worker.id);
}

Slot RunTable::find_run(const PackedTaskId& task, std::uint16_t run_id) const {
  return by_task_.find(hash_of(task, run_id), [&](Slot at) {
    return runs_[at].task == task && runs_[at].run_id == run_id;
  });
}

Slot RunTable::find_worker(const WorkerKey& key) const {
  return by_name_.find(
      hash_of(key.worker_pool_id.str(), key.worker_group.str(), key.worker_id.str()), [&](Slot at) {
        const Worker& worker = workers_[at];
        return worker.id == key.worker_id.str() && worker.group == key.worker_group.str() &&
               worker.pool->forgotten.worker_pool_id == key.worker_pool_id;
      });
}

const RunTable::Group* RunTable::find_group(Scope scope, const std::string& pool,
                                            std::string_view name) const {
  const auto found = groups_.find(GroupKey(scope, pool, std::string(name)));
  return found == groups_.end() ? nullptr : &found->second;
}

RunTable::Group& RunTable::group_for(Scope scope, const std::string& pool,
                                     const std::string& name) {
  Group& group = groups_[{scope, pool, name}];
  group.forgotten.scope = scope;
  group.forgotten.worker_pool_id = WorkerPoolId(pool);
  group.forgotten.name = name;
  return group;
}

Slot RunTable::worker_for(const WorkerKey& key) {
  if (const Slot found = find_worker(key); found != no_slot) return found;
  Slot at = static_cast<Slot>(workers_.size());
  if (free_workers_.empty()) {
    workers_.emplace_back();
  } else {
    at = free_workers_.back();
    free_workers_.pop_back();
  }
  Worker& worker = workers_[at];
  worker.pool = &group_for(Scope::pool, key.worker_pool_id.str(), "");
  ++worker.pool->workers;
  worker.group = key.worker_group.str();
  worker.id = key.worker_id.str();
  by_name_.insert(at, [this](Slot slot) { return hash_of_worker(slot); });
  return at;
}

// -------------------------------------------------------------------------------------------------
// Changing

void RunTable::join(const Worker& worker, Group*& membership, Group& group) {
  membership = &group;
  ++group.workers;
  for (const Slot run : worker.runs) ++group.kept.of(runs_[run].outcome);
}

// What the fleet learns of a worker later counts for its earlier runs, too.
void RunTable::set_origin(Slot at, const WorkerOrigin& origin) {
  Worker& worker = workers_[at];
  const std::string& pool = worker.pool->forgotten.worker_pool_id.str();
  if (!worker.launch_config && !origin.launch_config_id.empty())
    join(worker, worker.launch_config,
         group_for(Scope::launchConfig, pool, origin.launch_config_id));
  if (!worker.configuration && !origin.worker_configuration.empty())
    join(worker, worker.configuration,
         group_for(Scope::workerConfiguration, "", origin.worker_configuration));
}

void RunTable::count(const Run& run, std::int64_t difference) {
  const Worker& worker = workers_[run.worker];
  for (Group* group : {worker.pool, worker.launch_config, worker.configuration})
    if (group) group->kept.of(run.outcome) += difference;
}

bool RunTable::began_before(Slot a, Slot b) const {
  return std::tie(runs_[a].started, runs_[a].task, runs_[a].run_id) <
         std::tie(runs_[b].started, runs_[b].task, runs_[b].run_id);
}

void RunTable::place(Slot run) {
  std::vector<Slot>& runs = workers_[runs_[run].worker].runs;
  const auto behind =
      std::ranges::upper_bound(runs, run, [this](Slot a, Slot b) { return began_before(a, b); });
  runs.insert(behind, run);
}

void RunTable::take_out(Slot run) {
  std::erase(workers_[runs_[run].worker].runs, run);
}

// Without times: merge() puts it in its place.
Slot RunTable::add(const PackedTaskId& task, std::uint16_t run_id, Slot worker,
                   const WorkerOrigin& origin) {
  Slot at = static_cast<Slot>(runs_.size());
  if (free_runs_.empty()) {
    runs_.emplace_back();
  } else {
    at = free_runs_.back();
    free_runs_.pop_back();
  }
  runs_[at] = {.task = task, .run_id = run_id, .worker = worker};
  by_task_.insert(at, [this](Slot slot) { return hash_of_run(slot); });
  ++size_;
  set_origin(worker, origin);
  count(runs_[at], 1);
  return at;
}

// The earliest beginning and the earliest end are the true ones: a run that has ended runs no more.
bool RunTable::merge(Slot at, const RunReport& report) {
  Run& run = runs_[at];
  bool changed = false;
  if (const Time started = began(report); run.started == Time{} || started < run.started) {
    if (run.started != Time{}) take_out(at);
    run.started = started;
    place(at);
    changed = true;
  }
  const auto end = [](Time resolved, Outcome outcome, Reason reason) {
    return std::tuple(resolved == Time{} ? Time::max() : resolved, outcome, reason);
  };
  if (end(report.resolved, report.outcome, report.reason) <
      end(run.resolved, run.outcome, run.reason)) {
    count(run, -1);
    run.resolved = report.resolved;
    run.outcome = report.outcome;
    run.reason = report.reason;
    count(run, 1);
    changed = true;
  }
  return changed;
}

Result<Applied> RunTable::apply(const RunReport& report, const WorkerOrigin& origin, Time now,
                                store::Batch& changes) {
  const auto task = check(report);
  if (!task) return task.error();
  const auto run_id = static_cast<std::uint16_t>(report.run_id);
  Slot at = find_run(*task, run_id);
  Applied applied;
  bool ran = true;
  if (at == no_slot) {
    if (began(report) > now + largest_clock_difference)
      return Error::invalid("run " + std::to_string(report.run_id) + " of task " + report.task_id +
                            " begins in the future");
    if (is_forgotten(report, origin, now)) return applied;
    at = add(*task, run_id, worker_for(report.worker), origin);
  } else if (find_worker(report.worker) != runs_[at].worker) {
    const Worker& other = workers_[runs_[at].worker];
    return Error::invalid("run " + std::to_string(report.run_id) + " of task " + report.task_id +
                          " is said to be of worker " + report.worker.worker_group.str() + "/" +
                          report.worker.worker_id.str() + ", but " + other.group + "/" + other.id +
                          " has it");
  } else {
    ran = runs_[at].outcome == Outcome::running;
  }
  set_origin(runs_[at].worker, origin);  // it may be known only now
  applied.changed = merge(at, report);
  if (!applied.changed) return applied;
  changes.push_back(store::put(row_of(runs_[at])));
  if (ran && runs_[at].outcome != Outcome::running) applied.resolved = resolved_of(runs_[at]);
  trim(runs_[at].worker, changes);
  return applied;
}

Result<void> RunTable::load(const TaskRunRow& row) {
  const RunReport report{.task_id = row.task_id,
                         .run_id = row.run_id,
                         .worker = {row.worker_pool_id, row.worker_group, row.worker_id},
                         .outcome = row.outcome,
                         .reason = row.reason,
                         .started = row.started,
                         .resolved = row.resolved.value_or(Time{})};
  const auto task = check(report);
  if (!task) return task.error();
  const Slot at = add(*task, static_cast<std::uint16_t>(row.run_id), worker_for(report.worker),
                      {row.launch_config_id, row.worker_configuration});
  merge(at, report);
  return {};
}

// Of what has no runs any more nothing is needed.
Result<void> RunTable::load(const ForgottenRunsRow& row) {
  if (row.scope != Scope::worker) {
    const auto found = groups_.find(GroupKey(row.scope, row.worker_pool_id.str(), row.name));
    if (found != groups_.end()) found->second.forgotten = row;
    return {};
  }
  const std::size_t slash = row.name.find('/');
  if (slash == std::string::npos) return Error::invalid(row.name + " names no worker");
  const Slot worker = find_worker({row.worker_pool_id, WorkerGroup(row.name.substr(0, slash)),
                                   WorkerId(row.name.substr(slash + 1))});
  if (worker != no_slot) workers_[worker].forgotten = row;
  return {};
}

// -------------------------------------------------------------------------------------------------
// Forgetting

// It was counted when it was forgotten. One that never came before is too late.
bool RunTable::is_forgotten(const RunReport& report, const WorkerOrigin& origin, Time now) const {
  const Time start = began(report);
  if (start < now - retention_.kept) return true;
  const std::string& pool = report.worker.worker_pool_id.str();
  for (const Group* group :
       {find_group(Scope::pool, pool, ""),
        find_group(Scope::workerConfiguration, "", origin.worker_configuration)})
    if (group && start <= group->forgotten.until) return true;
  const Slot worker = find_worker(report.worker);
  return worker != no_slot && workers_[worker].forgotten &&
         start <= workers_[worker].forgotten->until;
}

void RunTable::trim(Slot at, store::Batch& changes) {
  Worker& worker = workers_[at];
  if (exceeds(static_cast<std::int64_t>(worker.runs.size()), retention_.most_of_worker)) {
    std::vector<Slot> ended;
    for (const Slot run : worker.runs)
      if (runs_[run].outcome != Outcome::running) ended.push_back(run);
    if (ended.size() > retention_.most_of_worker) {
      ended.resize(ended.size() - retention_.most_of_worker);
      if (!worker.forgotten)
        worker.forgotten = ForgottenRunsRow{.worker_pool_id = worker.pool->forgotten.worker_pool_id,
                                            .name = worker.group + "/" + worker.id};
      forget(ended, &*worker.forgotten, changes);
    }
  }
  // The worker itself may go with the oldest of its pool.
  const std::string configuration =
      worker.configuration ? worker.configuration->forgotten.name : std::string();
  trim_group(*worker.pool, &Worker::pool, retention_.most_of_pool, changes);
  const auto found = groups_.find(GroupKey(Scope::workerConfiguration, "", configuration));
  if (found != groups_.end())
    trim_group(found->second, &Worker::configuration, retention_.most_of_configuration, changes);
}

void RunTable::trim_group(Group& group, Group* Worker::*membership, std::size_t most,
                          store::Batch& changes) {
  if (!exceeds(group.ended(), most)) return;
  std::vector<Slot> ended;
  for (const Worker& worker : workers_)
    if (worker.*membership == &group)
      for (const Slot run : worker.runs)
        if (runs_[run].outcome != Outcome::running) ended.push_back(run);
  const auto keep = ended.begin() + static_cast<std::ptrdiff_t>(ended.size() - most);
  std::nth_element(ended.begin(), keep, ended.end(),
                   [this](Slot a, Slot b) { return began_before(a, b); });
  ended.erase(keep, ended.end());
  forget(ended, &group.forgotten, changes);
}

void RunTable::forget(const std::vector<Slot>& runs, ForgottenRunsRow* trimmed,
                      store::Batch& changes) {
  std::set<ForgottenRunsRow*> changed;
  std::set<Slot> workers;
  if (trimmed) changed.insert(trimmed);
  for (const Slot at : runs) {
    Run& run = runs_[at];
    Worker& worker = workers_[run.worker];
    workers.insert(run.worker);
    if (trimmed) trimmed->until = std::max(trimmed->until, run.started);
    if (!worker.forgotten)
      worker.forgotten = ForgottenRunsRow{.worker_pool_id = worker.pool->forgotten.worker_pool_id,
                                          .name = worker.group + "/" + worker.id};
    worker.forgotten->first_claim =
        std::min(worker.forgotten->first_claim.value_or(run.started), run.started);
    changed.insert(&*worker.forgotten);
    count(run, -1);
    if (run.outcome != Outcome::running) {
      ++of(*worker.forgotten, run.outcome);
      for (Group* group : {worker.pool, worker.launch_config, worker.configuration})
        if (group) {
          ++of(group->forgotten, run.outcome);
          changed.insert(&group->forgotten);
        }
    }
    changes.push_back(
        store::erase<TaskRunRow>({run.task.text(), static_cast<std::int64_t>(run.run_id)}));
    by_task_.erase(at, [this](Slot slot) { return hash_of_run(slot); });
    run = {};
    free_runs_.push_back(at);
    --size_;
  }
  for (const ForgottenRunsRow* row : changed) changes.push_back(store::put(*row));
  for (const Slot at : workers) {
    Worker& worker = workers_[at];
    std::erase_if(worker.runs, [this](Slot run) { return runs_[run].worker == no_slot; });
    if (worker.runs.empty()) drop_worker(at, changes);
  }
}

void RunTable::drop_worker(Slot at, store::Batch& changes) {
  const auto erase = [&](const ForgottenRunsRow& row) {
    changes.push_back(store::erase<ForgottenRunsRow>(
        {std::string(name_of(row.scope)), row.worker_pool_id.str(), row.name}));
  };
  by_name_.erase(at, [this](Slot slot) { return hash_of_worker(slot); });
  Worker& worker = workers_[at];
  if (worker.forgotten) erase(*worker.forgotten);
  for (Group* group : {worker.pool, worker.launch_config, worker.configuration}) {
    if (!group || --group->workers > 0) continue;
    erase(group->forgotten);
    groups_.erase(GroupKey(group->forgotten.scope, group->forgotten.worker_pool_id.str(),
                           group->forgotten.name));
  }
  worker = {};
  free_workers_.push_back(at);
}

void RunTable::forget_old(Time now, store::Batch& changes) {
  std::vector<Slot> old;
  for (const Worker& worker : workers_)
    for (const Slot run : worker.runs) {
      if (runs_[run].started >= now - retention_.kept) break;
      old.push_back(run);
    }
  forget(old, nullptr, changes);
}

}  // namespace muster::worker_state
