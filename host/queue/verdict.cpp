#include "host/queue/verdict.hpp"

#include <algorithm>

#include <muster/codec.hpp>

namespace muster::queue {
namespace {

std::string seconds(std::chrono::milliseconds time) {
  return std::to_string(std::max<std::int64_t>(1, time.count() / 1000)) + " s";
}

std::string place_in_line(const Situation& situation) {
  return "number " + std::to_string(situation.position) + " of its line, " +
         std::to_string(situation.lines) + (situation.lines == 1 ? " line waits" : " lines wait") +
         " for the same workers";
}

Verdict waiting(const Situation& situation, Time now) {
  Verdict verdict{.kind = VerdictKind::waiting,
                  .text = place_in_line(situation),
                  .position = situation.position};
  if (!situation.worker.empty())
    verdict.text += "; " + situation.worker + " is reserved for it until it has room";
  if (situation.interval.count() > 0) {
    // Teams take turns, so that each place in its line costs a grant for every line.
    const std::int64_t grants =
        std::min<std::int64_t>(situation.position * situation.lines, 1'000'000);
    verdict.eta = now + situation.interval * grants;
    verdict.text += "; a worker gets free every " + seconds(situation.interval);
  }
  return verdict;
}

const Outlook* soonest_launch(const Situation& situation) {
  const Outlook* soonest = nullptr;
  for (const Outlook& outlook : situation.outlooks)
    if (outlook.launching > 0 &&
        (!soonest || outlook.ready.value_or(Time::max()) < soonest->ready.value_or(Time::max())))
      soonest = &outlook;
  return soonest;
}

Verdict launching(const Situation& situation, const Outlook& outlook) {
  return {.kind = VerdictKind::launching,
          .text = std::to_string(outlook.launching) + " capacity of pool " + outlook.pool.str() +
                  " is on its way; " + place_in_line(situation),
          .position = situation.position,
          .eta = outlook.ready};
}

}  // namespace

Verdict judge(const Situation& situation, Time now) {
  if (situation.held) return {.kind = VerdictKind::placed, .text = "holds " + situation.worker};
  if (situation.team_limit > 0 && situation.position == 1 &&
      situation.team_held + situation.needs > situation.team_limit)
    return {.kind = VerdictKind::blocked,
            .text = "team " + situation.team + " holds " + std::to_string(situation.team_held) +
                    " of the " + std::to_string(situation.team_limit) +
                    " that it may hold, and this needs " + std::to_string(situation.needs),
            .position = situation.position,
            .cause = "teamLimit",
            .scope = "team " + situation.team,
            .who = "the team, by releasing a lease, or an operator, by raising its limit"};
  // Whoever is far behind in its line waits for a release rather than for what is launched.
  const Outlook* launch = soonest_launch(situation);
  if (launch && (!situation.large_enough || situation.position <= launch->launching))
    return launching(situation, *launch);
  if (situation.large_enough) return waiting(situation, now);
  const auto could_grow = std::ranges::find_if(situation.outlooks, [&](const Outlook& outlook) {
    return !outlook.blocked && outlook.largest_worker >= situation.needs;
  });
  if (could_grow != situation.outlooks.end())
    return {.kind = VerdictKind::waiting,
            .text = place_in_line(situation) + "; pool " + could_grow->pool.str() +
                    " is to launch a worker for it: " + could_grow->text,
            .position = situation.position};
  const auto blocked = std::ranges::find_if(situation.outlooks, [&](const Outlook& outlook) {
    return outlook.blocked && outlook.largest_worker >= situation.needs;
  });
  if (blocked != situation.outlooks.end())
    return {.kind = VerdictKind::blocked,
            .text = "pool " + blocked->pool.str() + " cannot grow: " + blocked->text,
            .position = situation.position,
            .cause = "pool",
            .scope = "pool " + blocked->pool.str(),
            .until = blocked->until,
            .who = blocked->owner.empty() ? "an operator" : "the pool's owner, " + blocked->owner};
  const std::string needs = std::to_string(situation.needs) + " active-task and all else it needs";
  return {.kind = VerdictKind::blocked,
          .text = situation.candidates == 0
                      ? "there is no worker, and no pool that could launch one, that team " +
                            situation.team + " may use for it"
                      : "none of the " + std::to_string(situation.candidates) +
                            " workers that it may use has " + needs,
          .position = situation.position,
          .cause = "noWorker",
          .scope = "request",
          .who = "whoever asks, by asking for less, or an operator, by attaching a pool to team " +
                 situation.team};
}

}  // namespace muster::queue
