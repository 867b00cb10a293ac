// The runs of tasks that workers did and do, in memory. A report changes the same whatever order
// reports come in and however often; what changed is appended to a batch for the store. Of runs
// that are too old or too many only the sums stay.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <muster/error.hpp>

#include "host/store/store.hpp"
#include "host/worker_state/packed_task_id.hpp"
#include "host/worker_state/resolved_run.hpp"
#include "host/worker_state/slot_index.hpp"
#include "host/worker_state/task_run.hpp"

namespace muster::worker_state {

// Runs that have not ended are never too many. Limits of number are exceeded by up to an eighth, so
// that the oldest go together.
struct Retention {
  std::chrono::milliseconds kept = std::chrono::hours(24 * 30);
  std::size_t most_of_worker = 200;
  std::size_t most_of_pool = 100'000;
  std::size_t most_of_configuration = 300'000;

  friend bool operator==(const Retention&, const Retention&) = default;
};

struct Applied {
  bool changed = false;
  std::optional<ResolvedRun> resolved = {};  // it ended by this report
};

struct WorkerActivity {
  Time first_claim{}, last_active{};
  std::int64_t running = 0;
  std::vector<TaskRunRow> recent = {};  // the newest 20, the oldest of them first
  Counts counts = {};
};

// Of all runs, those that fit everything that is not empty.
struct RunFilter {
  std::string worker_pool_id = {}, worker_group = {}, worker_id = {}, launch_config_id = {},
              worker_configuration = {};
  std::optional<Outcome> outcome = {};
};

struct RunPage {
  std::vector<TaskRunRow> runs = {};  // those that began last are first
  std::string next = {};              // for the page after it; empty: there is none
};

class RunTable {
 public:
  static constexpr std::size_t most_recent = 20;

  explicit RunTable(Retention retention = {}) : retention_(retention) {}

  // What was in the store. A row that cannot be used is an error.
  Result<void> load(const TaskRunRow& row);
  Result<void> load(const ForgottenRunsRow& row);

  // Fails as `invalid` and changes nothing if the report contradicts itself or what is known.
  Result<Applied> apply(const RunReport& report, const WorkerOrigin& origin, Time now,
                        store::Batch& changes);

  // Forgets what is older than what is kept.
  void forget_old(Time now, store::Batch& changes);
  void set_retention(const Retention& retention) { retention_ = retention; }

  std::size_t size() const { return size_; }
  std::size_t workers() const { return workers_.size() - free_workers_.size(); }
  // All zero, if nothing is known of it.
  Counts counts(Scope scope, const WorkerPoolId& pool, std::string_view name) const;
  std::optional<WorkerActivity> activity(const WorkerKey& worker) const;
  // Fails as `invalid` if `after` is no RunPage::next.
  Result<RunPage> page(const RunFilter& filter, const std::string& after, std::size_t limit) const;
  // Those that have not ended.
  std::vector<TaskRunRow> running(const WorkerPoolId& pool) const;
  Counts all_counts() const;

 private:
  struct Run {
    PackedTaskId task = {};
    std::uint16_t run_id = 0;
    Slot worker = no_slot;  // no_slot: the run's own slot is free
    Outcome outcome = Outcome::running;
    Reason reason = Reason::none;
    Time started{}, resolved{};
  };
  // A pool, a launch configuration or a worker configuration.
  struct Group {
    ForgottenRunsRow forgotten;
    Counts kept;
    std::size_t workers = 0;

    std::int64_t ended() const { return kept.completed + kept.failed + kept.exception; }
  };
  struct Worker {
    Group* pool = nullptr;  // null: the slot is free
    Group* launch_config = nullptr;
    Group* configuration = nullptr;  // null: not known, like the launch configuration
    std::string group, id;
    std::vector<Slot> runs;  // in the order in which they began
    std::optional<ForgottenRunsRow> forgotten;
  };
  using GroupKey = std::tuple<Scope, std::string, std::string>;

  Slot find_run(const PackedTaskId& task, std::uint16_t run_id) const;
  Slot find_worker(const WorkerKey& key) const;
  Slot worker_for(const WorkerKey& key);
  Group& group_for(Scope scope, const std::string& pool, const std::string& name);
  const Group* find_group(Scope scope, const std::string& pool, std::string_view name) const;
  void set_origin(Slot worker, const WorkerOrigin& origin);
  void join(const Worker& worker, Group*& membership, Group& group);
  Slot add(const PackedTaskId& task, std::uint16_t run_id, Slot worker, const WorkerOrigin& origin);
  void place(Slot run);
  void take_out(Slot run);
  void count(const Run& run, std::int64_t difference);
  bool merge(Slot run, const RunReport& report);
  bool is_forgotten(const RunReport& report, const WorkerOrigin& origin, Time now) const;
  void trim(Slot worker, store::Batch& changes);
  void trim_group(Group& group, Group* Worker::*membership, std::size_t most,
                  store::Batch& changes);
  // `trimmed`: the newest of them moves its `until`.
  void forget(const std::vector<Slot>& runs, ForgottenRunsRow* trimmed, store::Batch& changes);
  void drop_worker(Slot worker, store::Batch& changes);
  bool began_before(Slot a, Slot b) const;
  TaskRunRow row_of(const Run& run) const;
  ResolvedRun resolved_of(const Run& run) const;
  WorkerActivity activity_of(const Worker& worker) const;
  std::size_t hash_of_run(Slot run) const;
  std::size_t hash_of_worker(Slot worker) const;

  Retention retention_;
  std::deque<Run> runs_;
  std::vector<Slot> free_runs_ = {};
  SlotIndex by_task_;
  std::size_t size_ = 0;
  std::deque<Worker> workers_;
  std::vector<Slot> free_workers_ = {};
  SlotIndex by_name_;
  std::map<GroupKey, Group, std::less<>> groups_;
};

}  // namespace muster::worker_state
