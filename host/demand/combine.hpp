// Demand: how much capacity is wanted, from all who know something about it.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/ids.hpp>

#include "host/fleet/model/messages.hpp"
#include "lib/base/time_watch.hpp"

namespace muster::demand {

// What one source said of one pool.
struct Count {
  std::int64_t pending = 0;                  // capacity that waits
  std::optional<std::int64_t> claimed = {};  // capacity that works, if it knows
  Time at{};                                 // when this was true
  friend bool operator==(const Count&, const Count&) = default;
};
using Counts = std::map<WorkerPoolId, Count>;

// What one source has said so far.
struct Report {
  std::string source;
  Counts counts = {};                                    // the last ones, however old
  std::optional<Time> answered = {};                     // when it last said anything
  std::string error = {};                                // of its last answer; empty: all is well
  std::map<WorkerPoolId, std::string> pool_errors = {};  // pools it could not answer for
  std::optional<std::chrono::milliseconds> stale_after = {};  // none: its word holds for ever
};

// More capacity than anybody has.
inline constexpr std::int64_t max_pending = 1'000'000'000;

// Pure. What waits adds up over the sources. A count that is older than its source's staleAfter is
// used no more: nobody knows then, so it counts as nothing, and the pool's note says which source
// is stale and since when. A source that never answered is noted at every pool of `pools`, for it
// could be any that it would speak of. Pools that are not among `pools` are left out.
fleet::Demand combine(const std::vector<Report>& reports, const std::vector<WorkerPoolId>& pools,
                      Time now);

// When the next count goes stale; nothing if none can.
std::optional<Time> next_stale(const std::vector<Report>& reports, Time now);

bool same(const fleet::Demand& a, const fleet::Demand& b);

// What was counted before the host did not run, or before its clock was set, is no older because of
// that: its sources could not be asked, or the time never passed.
void forgive_gaps(Report& report, TimeWatch& watch, Time now);

}  // namespace muster::demand
