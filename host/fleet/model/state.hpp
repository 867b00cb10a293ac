// The records of the fleet: workers, launch configurations, pools, providers. Plain values that
// others read through Fleet. WorkerTable alone changes workers and the sums over them; what only
// one stage needs to know is kept by that stage and not here.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

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
  bool ends = false;         // it is stopping, and its provider has said that it ends it
  bool dirty = false;        // not yet in the batch of changes
  bool canary = false;       // its fate decides on a hold
  bool claimed = false;      // it has worked
  bool confirmed = true;     // since the host's start it was launched, listed or heard of
  std::uint8_t missing = 0;  // listings in a row that did not show it
  std::uint8_t attempts = 0;
  std::int32_t capacity = 1;
  std::int32_t working = -1;  // of its capacity, as it says itself; -1: not known
  std::int32_t busy = -1;     // that, or what is leased of it if that is more
  std::int64_t epoch = 0;
  double price = 0;
  Time created{}, since{}, registered{}, credentials_expire{}, last_active{}, idle_since{},
      interruption{}, quarantined_until{};
  Time missing_since{};  // when the first of those listings began
  Time timer{};          // the time that its timer is set to
  std::string worker_id, reason, provider_data;
  Time last_modified{};
  Time expires{};                  // of a worker that its owner declared
  Sha256 secret{}, next_secret{};  // digests; all zero: there is none
  Sha256 registration_key{};       // likewise: what it must show to register again

  // The host did not launch it, so it is no instance of a listing and does not end for lack of
  // work.
  bool declared() const { return origin != Origin::launched; }
  // Its owner or its provider's listing has to say that it is gone: it stays known while absent.
  bool persists_when_absent() const { return origin == Origin::owner || origin == Origin::listing; }
  // Time{}: it is not in quarantine. The quarantine of a nonconformant worker has no end.
  Time in_quarantine_until() const {
    constexpr Time no_end = std::chrono::sys_days(std::chrono::year(9999) / 12 / 31);
    return drain == Drain::nonconformant ? no_end : quarantined_until;
  }
  // It was registered and has said that it ends.
  bool signed_off() const {
    return drain == Drain::absent && registered != Time{} && credentials_expire == Time{};
  }
  // It is told to end with its credentials, at the latest: it is outdated, or an operator drains
  // it.
  bool ends_with_credentials() const { return drain == Drain::outdated || drain == Drain::removed; }
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
  std::int64_t ending = 0;           // of stopping: its provider has not said yet that it ends it
  std::int64_t absent = 0;           // declared, and not registered now
  std::int64_t busy = 0;             // of running, as far as known
  std::int64_t idle = 0;             // likewise
  std::int64_t workers = 0;          // not stopped
  std::int64_t running_workers = 0;  // running or draining, and not absent
  std::int64_t unconfirmed = 0;      // of used(): only the store says that it is there

  // What limits of pools and launch configurations are about: all that may be alive, whatever the
  // host wants to become of it.
  std::int64_t used() const { return requested + lost + running + draining + ending; }
  // What a provider's limit is about: what it has.
  std::int64_t occupied() const { return used() - ending + stopping; }
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

struct Pool {
  WorkerPoolId id;
  std::shared_ptr<const PoolSpec> spec;  // null: no longer configured, its workers drain
  std::vector<Index> launch_configs;
  std::vector<Index> workers;  // not stopped
  std::vector<Index> stopped;  // and not forgotten yet
  Time created{}, last_modified{};
  Time stranger_at{};  // when a worker that is not known tried to register last
  Totals totals;
  PoolDemand outside;            // demand that sources report
  std::int64_t in_queue = 0;     // and that of the host's own queue
  PoolDemand demand;             // both together
  std::unique_ptr<Times> times;  // of all its workers; null: nothing was measured
  std::int64_t want = 0;         // capacity that was asked for and not launched, for fairness
  std::int64_t surplus = 0;
  verdict::PoolSituation situation;                          // as the last review found it
  verdict::Verdict verdict = verdict::judge(situation, {});  // about that, without a time
  std::vector<HistoryPoint> history;
  std::int64_t launched = 0, failed = 0;  // since the last point of the history
  std::int64_t outdated_draining = 0;     // workers
  // A decision about it failed because of a bug: what was told. Nothing is decided about it until
  // it is configured differently or the host starts again.
  std::string fault;

  bool removed() const { return id.empty(); }
};

struct ProviderState {
  ProviderId id;
  bool up = false;  // configured and able to answer
  ProviderSettings settings;
  FieldClasses field_classes;
  bool classes_known = false;
  bool has_notices = false;
  bool declares_machines = false;
  Totals totals;
  Time list_at{};                 // when the next listing is due
  Time listed{};                  // when the last good listing began; Time{}: never in this run
  bool listed_for_pools = false;  // a listing that began after pools were configured was good
  Time trouble_since{};           // calls fail since then
  std::string trouble;
  std::int64_t unsure = 0;  // workers whose launch has no known outcome
  // Why its listings are not believed, by region; "": everywhere. Nothing is launched there.
  std::map<std::string, std::string> doubts;
  Time doubted_since{};
};

inline bool is_alive(const Worker& worker) {
  return worker.number != 0 && worker.state != WorkerState::stopped;
}

// An instance is known, which can be terminated.
inline bool has_instance(const Worker& worker) {
  return !worker.worker_id.empty();
}

// Where it is launched; empty if its provider has no regions.
inline const std::string& region_of_launch(const LaunchConfig& launch_config) {
  static const std::string none;
  const auto found = launch_config.placement.facts.find("region");
  return found == launch_config.placement.facts.end() ? none : found->second;
}

// Why the provider's listings are not believed in that region; null: they are.
inline const std::string* doubt_about(const ProviderState& provider, const std::string& region) {
  if (provider.doubts.empty()) return nullptr;
  auto found = provider.doubts.find("");
  if (found == provider.doubts.end()) found = provider.doubts.find(region);
  return found == provider.doubts.end() ? nullptr : &found->second;
}
// Likewise, where it is launched.
inline const std::string* doubt_about(const ProviderState& provider,
                                      const LaunchConfig& launch_config) {
  return provider.doubts.empty() ? nullptr : doubt_about(provider, region_of_launch(launch_config));
}

// What is idle in a pool while requests of the queue wait for it is of no use to them: otherwise
// they would have it.
inline bool only_queue_wants_more(const Pool& pool) {
  return pool.in_queue > 0 && pool.outside.pending <= pool.totals.idle;
}

// Whether more workers of the launch configuration would serve what waits for the pool.
inline bool could_help(const Pool& pool, const LaunchConfigState& launch_config) {
  return launch_config.queue_wants_it || !only_queue_wants_more(pool);
}

}  // namespace muster::fleet
