// The state of the fleet: pools, launch configurations, providers, workers. Plain values; Fleet
// alone changes them and keeps the sums right.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "host/fleet/allocation/throttle.hpp"
#include "host/fleet/bidding/weights.hpp"
#include "host/fleet/model/configuration.hpp"
#include "host/fleet/model/health.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/fleet/model/queue_facts.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/times.hpp"
#include "host/verdict/verdict.hpp"
#include "lib/base/secret.hpp"

namespace muster::fleet {

using Index = std::uint32_t;
inline constexpr Index no_index = ~Index{0};

// Times that are not known are Time{}, which saves memory by the million.
struct Worker {
  std::int64_t number = 0;  // 0: the slot is free
  Index pool = no_index, launch_config = no_index, provider = no_index, group = no_index;
  Index place_in_pool = no_index;  // among Pool::workers, or Pool::stopped
  WorkerState state = WorkerState::requested;
  LaunchPhase phase = LaunchPhase::intended;
  Drain drain = Drain::none;
  Origin origin = Origin::launched;
  bool lost = false;         // without an answer for so long that others are launched instead
  bool called = false;       // a launch call with its key is on its way, or waits for its turn
  bool terminating = false;  // likewise a termination
  bool dirty = false;        // not yet in the batch of changes
  bool canary = false;       // its fate decides on a hold
  bool claimed = false;      // it has worked
  std::uint8_t missing = 0;  // listings in a row that did not show it
  std::uint8_t attempts = 0;
  std::int32_t capacity = 1;
  std::int32_t working = -1;  // of its capacity, as it says itself; -1: not known
  std::int32_t busy = -1;     // that, or what is leased of it if that is more
  std::int64_t epoch = 0;
  double price = 0;
  Time created{}, since{}, registered{}, credentials_expire{}, last_active{}, idle_since{},
      interruption{}, quarantined_until{};
  Time look{};  // the timer that is set for it
  std::string worker_id, reason, provider_data;
  Time last_modified{};
  Time expires{};                  // of a worker that its owner declared
  Sha256 secret{}, next_secret{};  // digests; all zero: there is none

  // Nobody launched it, so it is no instance of a listing and nobody ends it for want of work.
  bool declared() const { return origin != Origin::launched; }
  // Whoever said that it is there has to say that it is gone: it stays known while it is absent.
  bool persists_when_absent() const { return origin == Origin::owner || origin == Origin::listing; }
  // Time{}: it is not; one that waits to be put right has no end.
  Time in_quarantine_until() const {
    constexpr Time no_end = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
    return drain == Drain::nonconformant ? no_end : quarantined_until;
  }
  // It was there and has said that it ends.
  bool signed_off() const {
    return drain == Drain::absent && registered != Time{} && credentials_expire == Time{};
  }
  // It is to end when its work is done.
  bool is_draining_out() const {
    return signed_off() ||
           (drain != Drain::none && drain != Drain::absent && drain != Drain::quarantined);
  }
};

// Sums of capacity over workers. The invariant that they equal the workers is checked by tests at
// every step of a simulation.
struct Totals {
  std::int64_t requested = 0;  // on its way
  std::int64_t lost = 0;       // maybe on its way
  std::int64_t running = 0;    // takes work
  std::int64_t draining = 0;   // runs, takes no new work
  std::int64_t stopping = 0;
  std::int64_t absent = 0;           // declared, and not registered now
  std::int64_t busy = 0;             // of running, as far as known
  std::int64_t idle = 0;             // likewise
  std::int64_t workers = 0;          // not stopped
  std::int64_t running_workers = 0;  // running or draining, and not absent

  // What limits of pools and launch configurations are about: what can work, or will.
  std::int64_t used() const { return requested + lost + running + draining; }
  // What a provider's limit is about: what it has.
  std::int64_t occupied() const { return used() + stopping; }
  friend bool operator==(const Totals&, const Totals&) = default;
};

struct LaunchConfigState {
  std::shared_ptr<const LaunchConfigSpec> spec;
  Index pool = no_index, provider = no_index;
  LaunchConfigStatus status = LaunchConfigStatus::active;
  Time paused_until{};
  std::string pause_reason;
  Time created{}, archived{};
  std::optional<std::string> outdated = {};  // archived, and its workers do not conform: why
  bidding::Health health;
  Totals totals;
  std::int64_t rows = 0;  // workers in the store, stopped ones included
  // Launched, in their order; those that registered drop out lazily.
  std::vector<Index> unregistered;
  bool on_probation = false;     // see LaunchConfigRow
  bool queue_wants_it = false;   // its workers could serve what waits in the queue
  Promised promised;             // what its workers are to the queue
  std::unique_ptr<Times> times;  // null: nothing was measured
  bool times_dirty = false;
  bool dirty = false;

  bool removed() const { return spec == nullptr; }
};

enum class BiddingPhase { quiet, sizing, sized, bidding, selecting };

// One bidding in progress.
struct Conversation {
  std::int64_t wanted = 0;
  std::int64_t seed = 0;  // what the strategy draws from
  std::string size_reason;
  int bids_awaited = 0;
  std::vector<SelectRequest::Offer> offers;
  std::vector<Index> offer_launch_configs;  // beside offers
  std::vector<verdict::Obstacle> problems;  // why somebody did not bid
  std::vector<std::pair<Index, bidding::Weight>> weights;
};

struct Pool {
  WorkerPoolId id;
  std::shared_ptr<const PoolSpec> spec;  // null: no longer configured, its workers drain
  std::vector<Index> launch_configs;
  std::vector<Index> workers;  // not stopped
  std::vector<Index> stopped;  // and not forgotten yet
  Time created{}, last_modified{};
  Totals totals;
  PoolDemand outside;            // demand that sources report
  std::int64_t in_queue = 0;     // and that of the host's own queue
  PoolDemand demand;             // both together
  std::unique_ptr<Times> times;  // of all its workers; null: nothing was measured
  BiddingPhase talk = BiddingPhase::quiet;
  bool again = false;     // something happened meanwhile
  bool queued = false;    // among the pools to look at
  std::int64_t want = 0;  // capacity that was asked for and not launched, for fairness
  std::int64_t surplus = 0;
  std::unique_ptr<Conversation> conversation;
  verdict::PoolSituation situation;                          // as the last look at it found it
  verdict::Verdict verdict = verdict::judge(situation, {});  // about that, without a time
  Time looked{}, look{}, sized_at{};
  // The last decisions about its size and about bids, to write each only once.
  std::string journaled_size, journaled_bids;
  std::int64_t asked_pending = 0;  // what the strategy was told when it was asked for the size
  PoolCapacity asked_capacity;
  std::vector<HistoryPoint> history;
  std::int64_t launched = 0, failed = 0;  // since the last point of the history
  std::int64_t outdated_draining = 0;     // workers

  bool removed() const { return id.empty(); }
};

// A launch call that waits for its turn.
struct Launchable {
  Index pool, launch_config;
  json::value bid;
  std::vector<std::int64_t> workers;  // by number
};

struct ProviderState {
  ProviderId id;
  bool up = false;  // configured and able to answer
  ProviderSettings settings;
  FieldClasses field_classes;
  bool classes_known = false;
  bool has_notices = false;
  bool declares_machines = false;
  allocation::Throttle throttle;
  Totals totals;
  std::vector<Launchable> launchables;     // in the order in which they came
  Index last_served = no_index;            // the pool whose turn it was last
  std::vector<std::int64_t> to_terminate;  // by number
  CallId listing = 0, noticing = 0;
  Time list_at{}, notices_at{};
  Time listed{};         // when the last good listing began; Time{}: never in this run
  Time trouble_since{};  // calls fail since then
  std::string trouble;
  std::int64_t unsure = 0;           // workers whose launch has no known outcome
  std::int64_t bad_listings = 0;     // in a row, that lack too much to be believed
  std::vector<std::int64_t> shares;  // by pool, if it has a limit
  // Machines of the last listing that cannot be taken, by name, and why.
  std::map<std::string, std::string> refused_machines;
};

}  // namespace muster::fleet
