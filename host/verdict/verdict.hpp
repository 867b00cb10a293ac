// Why something is where it is: one answer out of what is known about it, for a request of the
// queue, a worker pool or a launch configuration.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/ids.hpp>

#include "host/verdict/expectation.hpp"

namespace muster::verdict {

enum class Kind {
  placed,     // it has all that it wants
  launching,  // what it wants is on its way
  waiting,    // its turn, or the end of a worker, will come
  blocked     // nothing will come unless something changes
};
constexpr auto enum_names(Kind) {
  return std::array<std::string_view, 4>{"placed", "launching", "waiting", "blocked"};
}

// What stands in the way. The class of a provider's error is a cause, too.
namespace cause {
inline constexpr const char* team_limit = "teamLimit";
inline constexpr const char* no_worker = "noWorker";
inline constexpr const char* max_capacity = "maxCapacity";
inline constexpr const char* launch_config_limit = "launchConfigLimit";
inline constexpr const char* provider_limit = "providerLimit";
inline constexpr const char* provider_down = "providerDown";
inline constexpr const char* list_doubted = "listDoubted";
inline constexpr const char* paused = "paused";
inline constexpr const char* unhealthy = "unhealthy";
inline constexpr const char* canary = "canary";
inline constexpr const char* unsuitable = "unsuitable";
inline constexpr const char* strategy = "strategy";
inline constexpr const char* no_bids = "noBids";
inline constexpr const char* no_launch_config = "noLaunchConfig";
inline constexpr const char* not_configured = "notConfigured";
inline constexpr const char* fault = "fault";
}  // namespace cause

struct Obstacle {
  std::string cause;
  std::string scope;                  // what it is about: "team ios", "provider ec2, region eu-1"
  std::string text;                   // in words, with numbers
  std::optional<Time> until = {};     // when it ends by itself, if that is known
  std::string who;                    // can change it, and how
  std::string key = {};               // of the worker configuration, if what it says is the cause
  WorkerPoolId pool = {};             // whose key that is
  LaunchConfigId launch_config = {};  // likewise, if it is evaluated for one alone
};

struct Eta {
  Time p50{}, p90{};
};

struct Verdict {
  Kind kind = Kind::waiting;
  std::string text;                           // in words, with numbers
  std::optional<std::int64_t> position = {};  // among the waiting requests of its line; 1 is next
  std::optional<Eta> eta = {};
  std::optional<Obstacle> obstacle = {};  // of what is blocked, and of nothing else
  // Of a request that waits for a release: why nothing more is launched for it.
  std::optional<Obstacle> limited_by = {};
};

// -------------------------------------------------------------------------------------------------
// What a verdict rests on

// A pool that can launch workers that could serve the request.
struct Outlook {
  WorkerPoolId pool = {};
  std::int64_t launching = 0;          // so many such requests are served by what it launches
  const Obstacle* obstacle = nullptr;  // why it cannot grow now; null: it can. Borrowed
  std::string text = {};               // what it says of itself
};

struct RequestSituation {
  bool held = false;
  std::string worker = {};  // that it has, or that is reserved for it
  std::string team = {};
  std::int64_t position = 1;
  std::int64_t lines = 1;       // that wait for the same workers, its own included
  std::int64_t candidates = 0;  // workers that it may use
  bool large_enough = false;    // one of them has all that it needs, when it is empty
  std::string needs = {};       // in words
  std::int64_t head_needs = 1;  // of "active-task", by the first of its line
  std::int64_t team_held = 0, team_limit = 0;  // limit 0: none
  std::vector<Outlook> outlooks = {};          // the preferred one first
  std::vector<RoomSource> room_sources = {};
  double room = 1;  // that has to come before it is served
};

// How the last evaluation of a pool ended.
enum class PoolOutcome {
  not_evaluated,
  unconfigured,
  faulty,           // a decision about it failed because of a bug
  strategy_failed,  // the strategy fails
  at_target,        // nothing more is needed
  kept_in_service,  // workers that were about to end serve on
  full,             // more is needed, and it has as much as it may
  no_bids,          // no provider can launch what is needed
  bids_refused,     // the strategy takes none of the bids
  launched
};

struct PoolSituation {
  PoolOutcome outcome = PoolOutcome::not_evaluated;
  WorkerPoolId pool = {};
  std::string reason = {};  // of the strategy
  std::string owner = {};
  std::string strategy = {};
  std::string note = {};       // about its demand
  std::string capacity = {};   // in words
  std::int64_t workers = 0;    // not stopped
  std::int64_t pending = 0;    // capacity that waits
  std::int64_t requested = 0;  // capacity on its way
  std::int64_t wanted = 0, launched = 0, max_capacity = 0;
  std::vector<Obstacle> obstacles = {};  // of its launch configurations
  std::optional<Time> until = {};        // when it is tried again
  std::vector<RoomSource> room_sources = {};
};

struct LaunchConfigSituation {
  bool archived = false;
  std::string capacity = {};  // in words
  std::int64_t workers = 0;
  std::int64_t requested = 0;
  std::optional<Obstacle> obstacle = {};
  std::vector<RoomSource> room_sources = {};
};

using Situation = std::variant<RequestSituation, PoolSituation, LaunchConfigSituation>;

// Pure; exactly one verdict for every situation.
Verdict judge(const Situation& situation, Time now);

}  // namespace muster::verdict
