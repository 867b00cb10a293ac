// The state of the queue: teams, workers and requests. Plain values; Queue alone changes them.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/ids.hpp>

#include "host/queue/resources.hpp"
#include "host/verdict/verdict.hpp"

namespace muster::queue {

using TeamId = Id<struct TeamTag>;

using Index = std::uint32_t;
inline constexpr Index no_index = ~Index{0};

// Which of the workers with room is taken. In a chain the first says most; a later one decides
// among those that the earlier ones find equally good.
enum class Strategy : std::uint8_t { random, fewest_active, locality, spread, pack };
constexpr auto enum_names(Strategy) {
  return std::array<std::string_view, 5>{"random", "fewest-active", "locality", "spread", "pack"};
}
inline std::optional<Strategy> strategy_from(std::string_view name) {
  constexpr auto names = enum_names(Strategy{});
  const auto found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Strategy>(found - names.begin());
}

struct Settings {
  // After so long what a team used counts half.
  std::chrono::milliseconds half_life = std::chrono::hours(1);
  // The head of a line waits so long behind teams that used less; then its line goes first.
  std::chrono::milliseconds patience = std::chrono::minutes(10);
  // A lease is charged for at least that.
  std::chrono::milliseconds least_charge = std::chrono::minutes(1);
  // What ended other than by its client is remembered so long, so that the client learns why.
  std::chrono::milliseconds ended_kept = std::chrono::minutes(30);
  std::size_t most_ended_kept = 10'000;
  // Bounds, so that no client fills the memory: requests that wait, of all teams, and of a team
  // that has no limit of its own; requests of one client that wait or are held; teams; names of
  // teams and of pools that are not there, which one client has made up since the host started.
  std::int64_t most_waiting = 100'000;
  std::int64_t most_waiting_of_team = 50'000;
  std::int64_t most_of_client = 20'000;
  std::int64_t most_teams = 10'000;
  std::int64_t most_names_of_client = 1'000;
  std::int64_t most_polls_of_client = 2'000;  // that wait for an answer at once
  std::vector<Strategy> strategies = {Strategy::locality, Strategy::fewest_active};
};

// What a client asks for.
struct NewRequest {
  TeamId team = {};
  WorkerPoolId pool = {};  // only workers of this pool; empty: any that the team may use
  std::vector<std::string> tags = {};  // the worker must have all of them
  Resources needs = {};
  std::vector<Strategy> strategies = {};  // empty: as its pools or the host say
  std::int64_t priority = 0;              // among the requests of the same team; the highest first
  std::optional<Time> deadline = {};      // it is not wanted any more after that
  std::optional<std::chrono::milliseconds> duration = {};  // of the lease, unless it is extended
  std::chrono::milliseconds heartbeat = std::chrono::minutes(1);  // without one, its client is dead
  std::string cache_key = {};  // for `locality`: requests of the same key like the same workers
  std::string token = {};      // made by the client: the same token, the same request
  std::string client = {};     // who asks
  bool pool_exists = false;    // so its name is not made up
};

// Of a lease.
inline constexpr auto longest_duration = std::chrono::hours(24 * 365);

enum class RequestState { waiting, held, ended };
constexpr auto enum_names(RequestState) {
  return std::array<std::string_view, 3>{"waiting", "held", "ended"};
}

// Times that are not known are Time{}, which saves memory by the hundred thousand.
struct Request {
  std::int64_t number = 0;  // 0: the slot is free. Also its place among those of its priority
  RequestState state = RequestState::waiting;
  bool confirmed = false;  // its client has said that it knows its worker
  bool dirty = false;      // not yet in the batch of changes
  std::int32_t priority = 0;
  Index team = no_index, line = no_index;
  Index worker = no_index;  // of a lease
  std::vector<Strategy> strategies;
  Resources needs;
  Time created{}, deadline{}, granted{}, until{}, ended{};
  Time timer{};                                       // that is set for it
  Time heard{};                                       // when its client was last heard of
  Time charged{};                                     // until when its team has been charged for it
  std::chrono::milliseconds heartbeat{}, duration{};  // duration 0: until it is released
  verdict::Eta promised{};                            // the first prediction that its client got
  Time promised_at{};                                 // when
  std::string token, cache_key, client;
  std::string reason;  // why it ended
};

// What an operator may set of a team.
struct TeamNumbers {
  double weight = 1;
  std::int64_t max_held = 0, max_pending = 0;
};

struct Team {
  TeamId id;
  double weight = 1;
  std::int64_t max_held = 0;     // of "active-task", over all its leases; 0: no limit
  std::int64_t max_pending = 0;  // requests; 0: no limit
  bool configured = false;       // an operator has set its numbers
  std::string origin = {};       // the file that says them; empty: the API
  double usage = 0;              // see Queue::charge
  std::int64_t held = 0, leases = 0, pending = 0;
  std::int64_t own_workers = 0;
  std::set<Index> pools = {};  // that it is attached to
  std::vector<Index> lines = {};
  std::map<Index, std::int64_t> leases_by_place = {};
  bool dirty = false;
};

// A worker pool. A dedicated one serves the teams that are attached to it; every other is shared.
struct TeamPool {
  WorkerPoolId id;
  bool dedicated = false;
  std::string origin = {};  // the file that says so; empty: the API
  Time created{};
  std::set<Index> teams = {};
  std::vector<Strategy> strategies = {};  // of requests that name none; empty: as the host says
  // Of workers that may join, as lines of .pub files; empty: its provider alone decides.
  std::vector<std::string> public_keys = {};
  std::string keys_origin = {};  // the file that says them; empty: the API
  std::int64_t workers = 0;

  // What an operator has said of it, and no file.
  bool dedicated_by_operator() const { return dedicated && origin.empty(); }
  bool has_keys_of_operator() const { return !public_keys.empty() && keys_origin.empty(); }
};

// What the fleet says of a worker.
struct WorkerOffer {
  std::int64_t number = 0;  // the fleet's
  WorkerPoolId pool = {};
  TeamId team = {};                    // its owner; meaningless in a dedicated pool
  std::string place = {};              // region or datacenter, for `spread`
  std::vector<std::string> tags = {};  // ordered
  Resources has = {};
  bool takes_work = true;    // false: it drains
  std::int64_t working = 0;  // what it reports to be doing, from any source of work
};

struct Worker {
  std::int64_t number = 0;  // 0: the slot is free
  Index pool = no_index, team = no_index, place = no_index;
  std::vector<std::string> tags;
  Resources has, used{0, {}};
  std::int64_t working = 0;    // as it said itself
  std::int64_t elsewhere = 0;  // of that, what was not leased then
  bool takes_work = false;
  bool offered = false;                 // waits for its turn to be offered
  std::vector<Index> groups;            // at most two
  std::vector<Index> place_in_groups;   // beside them: where it stands among the open ones
  std::int64_t bucket = -1;             // under which number of used it stands there; -1: not open
  Index reserved_for = no_index;        // a line
  std::vector<Index> leases;            // requests
  std::vector<std::string> cache_keys;  // served last, the newest at the end

  // What is taken of it: leases, and work that it was given elsewhere.
  std::int64_t active() const { return used.active_task + elsewhere; }
  bool has_room() const { return takes_work && active() < has.active_task; }
  bool has_room_for(const Resources& needs) const {
    return needs.active_task <= has.active_task - active() && has.has_room(used, needs);
  }
  bool is_large_enough_for(const Resources& needs) const { return has.has_room({0, {}}, needs); }
};

// lines.hpp: the order in which requests wait, and the workers that they wait for.
struct Line;
struct Group;
enum class ScopeKind : std::uint8_t { shared, pool, team };

}  // namespace muster::queue
