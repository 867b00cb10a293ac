// How much clients may ask for. Nothing is remembered of what is refused, not even its names.
#include <limits>

#include <muster/plural.hpp>

#include "host/queue/queue.hpp"

namespace muster::queue {
namespace {

using namespace std::chrono_literals;

constexpr auto shortest_heartbeat = 5s;
constexpr auto longest_heartbeat = 24h;
// Names of pools, also of those that only requests know.
constexpr std::size_t most_pools = 100'000;

Error full(std::string what, const char* key) {
  return Error::throttle(std::move(what) + ", which is the limit (queue." + key +
                         " of the host's configuration); try again when some are served")
      .with_code("queueFull");
}

}  // namespace

Result<void> Queue::check_request(const NewRequest& ask) const {
  if (const auto fine = check_name("the name of the team", ask.team.str()); !fine) return fine;
  if (!ask.pool.empty())
    if (const auto fine = check_name("the name of the pool", ask.pool.str()); !fine) return fine;
  for (const auto& [what, text] :
       {std::pair("the token", &ask.token), std::pair("the cache key", &ask.cache_key)})
    if (!text->empty())
      if (const auto fine = check_name(what, *text); !fine) return fine;
  if (ask.tags.size() > most_tags) return Error::invalid("a request has 16 tags at most");
  for (const std::string& tag : ask.tags)
    if (const auto fine = check_name("a tag", tag); !fine) return fine;
  if (ask.strategies.size() > 5) return Error::invalid("a chain has 5 strategies at most");
  if (ask.needs.active_task < 1 || ask.needs.active_task > largest_amount)
    return Error::invalid("a request needs at least one active-task");
  if (ask.priority < std::numeric_limits<std::int32_t>::min() ||
      ask.priority > std::numeric_limits<std::int32_t>::max())
    return Error::invalid("the priority must be a number of 32 bits");
  if (ask.heartbeat < shortest_heartbeat || ask.heartbeat > longest_heartbeat)
    return Error::invalid("the heartbeat must be from 5 seconds to 24 hours");
  if (ask.duration && (*ask.duration <= 0ms || *ask.duration > longest_duration))
    return Error::invalid("the duration must be positive, and a year at most");
  if (ask.deadline && *ask.deadline <= now_)
    return Error::invalid("the deadline has passed already");
  return {};
}

Result<void> Queue::check_new_team(const TeamId& team) const {
  if (team_index_.contains(team) || static_cast<std::int64_t>(teams_.size()) < settings_.most_teams)
    return {};
  return full("there are " + count_of(static_cast<std::int64_t>(teams_.size()), "team"),
              "mostTeams");
}

// Of teams and pools that nobody else has named before.
std::int64_t Queue::new_names_in(const NewRequest& ask) const {
  const bool new_pool = !ask.pool.empty() && !ask.pool_exists && !pool_index_.contains(ask.pool);
  return (team_index_.contains(ask.team) ? 0 : 1) + (new_pool ? 1 : 0);
}

Result<void> Queue::check_client(const NewRequest& ask) const {
  if (const auto named = names_of_client_.find(ask.client);
      named != names_of_client_.end() && new_names_in(ask) > 0 &&
      named->second >= settings_.most_names_of_client)
    return full("client " + ask.client + " has made up " + count_of(named->second, "name") +
                    " of teams and pools since the host started",
                "mostNamesOfClient");
  if (const auto open = open_of_client_.find(ask.client);
      open != open_of_client_.end() && open->second >= settings_.most_of_client)
    return full("client " + ask.client + " has " + count_of(open->second, "request") +
                    " that wait or have their worker",
                "mostOfClient");
  return {};
}

Result<void> Queue::check_team(const Team& team, const NewRequest& ask) const {
  if (team.max_held > 0 && ask.needs.active_task > team.max_held)
    return Error::invalid("team " + team.id.str() + " may hold " + std::to_string(team.max_held) +
                          " at once; this asks for " + std::to_string(ask.needs.active_task))
        .with_code("teamLimit");
  if (team.max_pending > 0 && team.pending >= team.max_pending)
    return Error::throttle("team " + team.id.str() + " has " + count_of(team.pending, "request") +
                           " waiting, which is its limit (maxPending of the team); try again when "
                           "some are served")
        .with_code("teamLimit");
  if (team.max_pending == 0 && team.pending >= settings_.most_waiting_of_team)
    return full("team " + team.id.str() + " has " + count_of(team.pending, "request") + " waiting",
                "mostWaitingOfTeam");
  return {};
}

// What a client may still ask for.
Result<void> Queue::check_bounds(const NewRequest& ask) const {
  if (const auto room = check_new_team(ask.team); !room) return room;
  if (const auto of = team_index_.find(ask.team); of != team_index_.end())
    if (const auto room = check_team(teams_[of->second], ask); !room) return room;
  if (!ask.client.empty())
    if (const auto room = check_client(ask); !room) return room;
  if (!ask.pool.empty() && !ask.pool_exists && !pool_index_.contains(ask.pool) &&
      pools_.size() >= most_pools)
    return Error::throttle("requests name " + std::to_string(most_pools) +
                           " pools, which is the limit; name one that this host has")
        .with_code("queueFull");
  if (waiting_ >= settings_.most_waiting)
    return full("the queue is full: " + count_of(waiting_, "request") + " waiting", "mostWaiting");
  return {};
}

}  // namespace muster::queue
