// All workers of the fleet: their slots, the indices by number and by instance, the lists and sums
// of their pools, launch configurations and providers, their timers, and the rows that are to be
// written. A worker is changed through WorkerEdit alone, which keeps all of that right.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "host/fleet/model/registration.hpp"
#include "host/fleet/state/timers.hpp"
#include "host/fleet/workers/deadlines.hpp"

namespace muster::fleet {

class WorkerTable {
 public:
  WorkerTable(const FleetClock& clock, const Deadlines& deadlines, Registry& registry)
      : clock_(clock), deadlines_(deadlines), registry_(registry) {}

  // Free slots have the number 0.
  const std::vector<Worker>& all() const { return workers_; }

  // no_index: there is none.
  Index find(std::int64_t number) const;
  Index find(const IdempotencyKey& key, const HostIdentity& identity) const;
  Index lookup(Index provider, const std::string& group, const std::string& worker_id) const;
  // Two providers may have machines of the same name: the pool decides which is meant. Owners may
  // declare a name once in each pool; what a provider itself names has one name over all its pools.
  Index lookup(const WorkerName& name) const;
  // What owners have declared in this pool; else what the provider has, in whichever pool.
  Index lookup(Index provider, const WorkerName& name) const;
  // The same, or an error that names it.
  Result<Index> known(const WorkerName& name) const;
  // Of any pool and provider.
  std::vector<const Worker*> find_all(const WorkerGroup& group, const WorkerId& id) const;

  // Its row is written with the next changes.
  Index add(Worker worker);
  // The slot is free then, and the row is erased.
  void erase(Index worker, store::Batch& out);
  // What is leased of it or what it works on has changed. That is not written with the worker.
  void set_load(Index worker, std::int32_t busy);
  // So many listings in a row lack it, since then. That is not written either.
  void note_missing(Index worker, int listings, Time since);
  // It was listed or heard of. That is not written either.
  void confirm(Index worker);
  // False: a termination is under way already.
  bool begin_termination(Index worker);
  // The times of its pool may have changed.
  void set_timer(Index worker);

  // The next worker whose time has come; it is looked at, and then set again.
  std::optional<Index> take_due();
  void set_timer_again(Index worker);
  Time next_timer() const { return timers_.next(); }

  // Times in the future are of a clock that was wrong: what they say happened just now.
  void clock_was_set();

  // Workers that have changed since their rows were written last.
  const std::vector<Index>& changed() const { return dirty_; }
  void write_rows(store::Batch& out);
  void write_everything(store::Batch& out) const;
  // The pools and launch configurations are there.
  Index restore(Worker worker);

  // Empty if all sums are what the workers say; else the first that is not. For tests.
  std::string check_sums() const;

 private:
  friend class WorkerEdit;

  // Of sums that are kept beside the records, to check them.
  struct Sums {
    Totals* pool;
    Totals* launch_config;
    Totals* provider;
    std::int64_t* unsure;
    std::int64_t* outdated_draining;
  };
  static void count(const Worker& worker, std::int64_t sign, const Sums& sums);
  void count(const Worker& worker, std::int64_t sign);
  Index insert(Worker worker);
  void put_in_pool(Index worker);
  void take_from_pool(std::vector<Index>& list, Index worker);
  std::string key_of(const Worker& worker) const;
  Index find_key(const std::string& key) const;
  void index_instance(Index worker);
  void forget_instance(Index worker);
  void mark_changed(Index worker);
  WorkerRow row_of(const Worker& worker) const;

  const FleetClock& clock_;
  const Deadlines& deadlines_;
  Registry& registry_;
  std::vector<Worker> workers_;
  std::vector<Index> free_;
  boost::unordered_flat_map<std::int64_t, Index> by_number_;
  // Provider, group and id; of those that owners have declared also the pool.
  boost::unordered_flat_map<std::string, Index> by_instance_;
  std::vector<Index> dirty_;
  Timers timers_;
};

// The only way to change a worker: takes it out of all sums, and puts it back as it is at the end,
// in the right list of its pool, with its timer set and its row due. Never two at once for the same
// worker, and no worker is added meanwhile.
class WorkerEdit {
 public:
  WorkerEdit(WorkerTable& table, Index index);
  ~WorkerEdit();
  WorkerEdit(const WorkerEdit&) = delete;
  WorkerEdit& operator=(const WorkerEdit&) = delete;

  Worker* operator->() { return &table_.workers_[index_]; }
  Worker& operator*() { return table_.workers_[index_]; }

 private:
  WorkerTable& table_;
  const Index index_;
  const bool was_alive_;
  const bool had_instance_;
  const Index launch_config_;
};

}  // namespace muster::fleet
