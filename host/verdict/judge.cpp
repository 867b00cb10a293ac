#include <algorithm>

#include <muster/plural.hpp>

#include "host/verdict/verdict.hpp"

namespace muster::verdict {
namespace {

constexpr std::size_t obstacles_told = 5;

// The first few, and how many more.
std::string joined(const std::vector<Obstacle>& obstacles) {
  std::string text;
  for (std::size_t i = 0; i < std::min(obstacles.size(), obstacles_told); ++i)
    text += (i ? "; " : "") + obstacles[i].text;
  if (obstacles.size() > obstacles_told)
    text += "; and " + std::to_string(obstacles.size() - obstacles_told) + " more";
  return text;
}

std::optional<Eta> eta_of(const std::optional<Expectation>& expectation, Time now) {
  if (!expectation) return std::nullopt;
  return Eta{now + expectation->p50, now + expectation->p90};
}

// 90 % of them: one that never comes should not be waited for.
std::optional<Expectation> when_most_is_there(const std::vector<RoomSource>& sources) {
  double all = 0;
  for (const RoomSource& each : sources) all += each.times;
  return when_there_is_room(sources, std::max(std::min(all, 1.0), all * 0.9));
}

Verdict blocked(Obstacle obstacle, std::string text, std::optional<std::int64_t> position = {}) {
  return {.kind = Kind::blocked,
          .text = std::move(text),
          .position = position,
          .obstacle = std::move(obstacle)};
}

// -------------------------------------------------------------------------------------------------
// Requests

class RequestJudge {
 public:
  RequestJudge(const RequestSituation& situation, Time now) : is_(situation), now_(now) {}

  Verdict judge() const {
    if (is_.held) return {.kind = Kind::placed, .text = "holds " + is_.worker};
    if (is_.team_limit > 0 && is_.team_held + is_.head_needs > is_.team_limit) return over_limit();
    // A request far behind in its line waits for a release rather than for what is launched.
    const auto launch = std::ranges::max_element(is_.outlooks, {}, &Outlook::launching);
    const bool comes = launch != is_.outlooks.end() && launch->launching > 0;
    if (comes && is_.position <= launch->launching)
      return waiting_for("; pool " + launch->pool.str() + " launches workers for " +
                             count_of(launch->launching, "such request"),
                         Kind::launching);
    if (is_.large_enough) {
      Verdict verdict = waiting_for(reserved() + growth());
      if (!is_.outlooks.empty() && is_.outlooks.front().obstacle)
        verdict.limited_by = *is_.outlooks.front().obstacle;
      return verdict;
    }
    if (comes)
      return waiting_for("; pool " + launch->pool.str() + " launches workers for " +
                         count_of(launch->launching, "request") + " ahead of it");
    const auto grows = std::ranges::find_if(
        is_.outlooks, [](const Outlook& outlook) { return !outlook.obstacle; });
    if (grows != is_.outlooks.end())
      return waiting_for("; pool " + grows->pool.str() +
                         " will launch a worker for it: " + grows->text);
    if (!is_.outlooks.empty()) {
      const Outlook& first = is_.outlooks.front();
      return blocked(*first.obstacle,
                     "pool " + first.pool.str() + " cannot grow: " + first.obstacle->text,
                     is_.position);
    }
    return nobody();
  }

 private:
  std::string place_in_line() const {
    const std::string place =
        is_.position == 1 ? "first" : "number " + std::to_string(is_.position);
    const std::string competition =
        is_.lines <= 1 ? "no other queue competes"
                       : count_of(is_.lines - 1, "other queue competes", "other queues compete");
    return place + " in the queue of team " + is_.team + "; " + competition + " for these workers";
  }

  Verdict waiting_for(const std::string& what, Kind kind = Kind::waiting) const {
    return {.kind = kind,
            .text = place_in_line() + what,
            .position = is_.position,
            .eta = eta_of(when_there_is_room(is_.room_sources, is_.room), now_)};
  }

  std::string reserved() const {
    return is_.worker.empty() ? "" : "; " + is_.worker + " is reserved for it until it has room";
  }

  std::string growth() const {
    if (is_.outlooks.empty() || !is_.outlooks.front().obstacle) return {};
    const Outlook& first = is_.outlooks.front();
    return "; pool " + first.pool.str() + " cannot grow: " + first.obstacle->text;
  }

  Verdict over_limit() const {
    const std::string text = "team " + is_.team + " holds " + std::to_string(is_.team_held) +
                             " of the " + std::to_string(is_.team_limit) +
                             " that it may hold, and the next request in its queue needs " +
                             std::to_string(is_.head_needs);
    return blocked(
        {.cause = cause::team_limit,
         .scope = "team " + is_.team,
         .text = text,
         .who = "the team, by releasing a lease, or an operator, by raising its maxHeld"},
        text, is_.position);
  }

  Verdict nobody() const {
    const std::string text =
        is_.candidates == 0
            ? "team " + is_.team +
                  " may use no worker, and no pool that could launch one, for this request"
            : "none of the " + count_of(is_.candidates, "worker", "workers") +
                  " that it may use has " + is_.needs + ", and no pool could launch such a worker";
    return blocked({.cause = cause::no_worker,
                    .scope = "request",
                    .text = text,
                    .who = "the client, by asking for less or for other tags, or an operator, by "
                           "attaching a pool to team " +
                           is_.team},
                   text, is_.position);
  }

  const RequestSituation& is_;
  const Time now_;
};

// -------------------------------------------------------------------------------------------------
// Pools

class PoolJudge {
 public:
  PoolJudge(const PoolSituation& situation, Time now) : is_(situation), now_(now) {}

  Verdict judge() const {
    Verdict verdict = by_last_outcome();
    if (!is_.note.empty()) verdict.text += " (" + is_.note + ")";
    return verdict;
  }

 private:
  Verdict by_last_outcome() const {
    switch (is_.outcome) {
      case PoolOutcome::not_evaluated:
        return {.kind = Kind::waiting, .text = "the pool has not been evaluated yet"};
      case PoolOutcome::unconfigured:
        return unconfigured();
      case PoolOutcome::faulty:
        return stopped_by({.cause = cause::fault,
                           .scope = "pool " + is_.pool.str(),
                           .text = "a decision about the pool failed because of a bug in muster (" +
                                   is_.reason +
                                   "): nothing is launched or ended here, and its workers go on",
                           .who = "an operator: report the bug; change the pool's configuration or "
                                  "restart the host to try again"});
      case PoolOutcome::strategy_failed:
        return stopped_by(of_strategy(is_.reason));
      case PoolOutcome::at_target:
        if (is_.requested > 0) return launching(is_.capacity + "; " + is_.reason);
        return {.kind = Kind::placed, .text = at_target_size()};
      case PoolOutcome::kept_in_service:
        return {.kind = Kind::placed,
                .text = "workers that were about to stop stay in service: " + is_.reason};
      case PoolOutcome::full:
        return full();
      case PoolOutcome::no_bids:
        return nothing_bid();
      case PoolOutcome::bids_refused:
        return stopped_by(
            {.cause = cause::no_bids,
             .scope = "pool " + is_.pool.str(),
             .text = wants() + ", but the strategy accepts no bid: " + is_.reason + problems(),
             .who = owner("by allowing other places, types or prices")});
      case PoolOutcome::launched:
        return launching("launches capacity " + std::to_string(is_.launched) + " of " +
                         std::to_string(is_.wanted) + ": " + is_.reason);
    }
    return {};
  }

  // The strategy's arithmetic comes last: few readers need it.
  std::string at_target_size() const {
    return "at target size: " +
           (is_.pending == 0 ? "no pending work" : std::to_string(is_.pending) + " pending") +
           (is_.reason.empty() ? "" : " (" + is_.reason + ")");
  }
  std::string wants() const { return "wants " + std::to_string(is_.wanted) + " more"; }
  std::string problems() const { return is_.obstacles.empty() ? "" : "; " + joined(is_.obstacles); }
  std::string owner(const std::string& how) const {
    return (is_.owner.empty() ? "an operator, " : "the pool's owner, " + is_.owner + ", ") + how;
  }
  Obstacle of_strategy(std::string text) const {
    return {.cause = cause::strategy,
            .scope = "strategy " + is_.strategy,
            .text = std::move(text),
            .who = "an operator: see `muster plugin list` and the log for the strategy's plugin"};
  }

  Verdict stopped_by(Obstacle obstacle) const {
    if (!obstacle.until) obstacle.until = is_.until;
    std::string text = obstacle.text;
    return blocked(std::move(obstacle), std::move(text));
  }

  Verdict launching(std::string text) const {
    return {.kind = Kind::launching,
            .text = std::move(text),
            .eta = eta_of(when_most_is_there(is_.room_sources), now_)};
  }

  Verdict unconfigured() const {
    std::string text = "no longer configured; " +
                       count_of(is_.workers, "worker is", "workers are") +
                       " left and will stop when their credentials expire";
    if (is_.pending <= 0) return {.kind = Kind::waiting, .text = std::move(text)};
    return stopped_by({.cause = cause::not_configured,
                       .scope = "pool " + is_.pool.str(),
                       .text = std::to_string(is_.pending) + " pending for a pool that is " + text,
                       .who = "the clients that ask for this pool, or the owner who removed it"});
  }

  Verdict full() const {
    return stopped_by({.cause = cause::max_capacity,
                       .scope = "pool " + is_.pool.str(),
                       .text = "maxCapacity " + std::to_string(is_.max_capacity) +
                               " is reached: " + is_.capacity + "; " + is_.reason,
                       .who = owner("by raising maxCapacity"),
                       .key = "maxCapacity",
                       .pool = is_.pool});
  }

  // Of several obstacles the one that ends first is the one that keeps it waiting.
  Verdict nothing_bid() const {
    const std::string text =
        wants() + " (" + is_.reason + "), but nothing can be launched: " +
        (is_.obstacles.empty() ? "it has no active launch configuration" : joined(is_.obstacles));
    if (is_.obstacles.empty())
      return stopped_by({.cause = cause::no_launch_config,
                         .scope = "pool " + is_.pool.str(),
                         .text = text,
                         .who = owner("by naming providers and places that can launch it"),
                         .key = "providers",
                         .pool = is_.pool});
    Obstacle first = *std::ranges::min_element(is_.obstacles, {}, [](const Obstacle& obstacle) {
      return obstacle.until.value_or(Time::max());
    });
    first.text = text;
    return stopped_by(std::move(first));
  }

  const PoolSituation& is_;
  const Time now_;
};

// -------------------------------------------------------------------------------------------------
// Launch configurations

Verdict judge_launch_config(const LaunchConfigSituation& is, Time now) {
  const std::string obstacle = is.obstacle ? "; " + is.obstacle->text : "";
  if (is.requested > 0)
    return {.kind = Kind::launching,
            .text = is.capacity + obstacle,
            .eta = eta_of(when_most_is_there(is.room_sources), now)};
  if (is.archived)
    return {.kind = is.workers > 0 ? Kind::waiting : Kind::placed,
            .text = "archived: no longer produced; " +
                    count_of(is.workers, "worker is left", "workers are left")};
  if (is.obstacle) return blocked(*is.obstacle, is.obstacle->text);
  return {.kind = Kind::placed, .text = "can launch: " + is.capacity};
}

}  // namespace

Verdict judge(const Situation& situation, Time now) {
  struct Judge {
    Time now;
    Verdict operator()(const RequestSituation& is) const { return RequestJudge(is, now).judge(); }
    Verdict operator()(const PoolSituation& is) const { return PoolJudge(is, now).judge(); }
    Verdict operator()(const LaunchConfigSituation& is) const {
      return judge_launch_config(is, now);
    }
  };
  return std::visit(Judge{now}, situation);
}

}  // namespace muster::verdict
