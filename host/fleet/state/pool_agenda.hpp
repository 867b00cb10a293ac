// Which pools are to be reviewed, and when. A pool is reviewed at most once in a decision, not
// twice within the gap without an urgent cause, and not while its bidding is under way.
#pragma once

#include <vector>

#include "host/fleet/state/fleet_clock.hpp"
#include "host/fleet/state/registry.hpp"
#include "host/fleet/state/timers.hpp"

namespace muster::fleet {

// How long a pool that wants of what is scarce waits for the wishes of others.
inline constexpr auto fairness_wait = std::chrono::milliseconds(200);

class PoolAgenda {
 public:
  PoolAgenda(const Settings& settings, const FleetClock& clock, const Registry& registry)
      : settings_(settings), clock_(clock), registry_(registry) {}

  // Something changed for the pool. `at_once`: the gap between two reviews does not matter.
  void wake(Index pool, bool at_once = false);
  // It is reviewed then at the latest.
  void set_timer(Index pool, Time at);

  // Wakes the pools whose time has come.
  void run_timers();
  // Those that are to be reviewed now.
  std::vector<Index> take_waiting() { return std::exchange(waiting_, {}); }
  // False: there is nothing to review, because it was removed or its bidding is under way.
  bool begin_review(Index pool);
  // False: nothing happened to it since its last review, and nobody set a time. It has its turn
  // only because that review was a while ago.
  bool take_cause(Index pool) { return std::exchange(entry(pool).cause, false); }
  // It has its turn then at the latest, without a cause.
  void set_turn(Index pool, Time at);

  void begin_bidding(Index pool) { entry(pool).bidding = true; }
  // It is reviewed again at `next`, or now if something changed meanwhile.
  void end_bidding(Index pool, Time next);

  // No review waits and no bidding is under way.
  bool is_quiet(Index pool) const;
  void clock_was_set();
  Time next_wake() const;

 private:
  struct Entry {
    bool bidding = false;
    bool again = false;    // something changed during the bidding
    bool waiting = false;  // among those to be reviewed
    bool cause = true;     // for the next review: something happened, or somebody set a time
    Time reviewed{};
    Time timer{};  // Time{}: none is set
  };
  Entry& entry(Index pool);
  void enqueue(Index pool);

  const Settings& settings_;
  const FleetClock& clock_;
  const Registry& registry_;
  std::vector<Entry> entries_;  // by pool
  std::vector<Index> waiting_;
  Timers timers_;
};

}  // namespace muster::fleet
