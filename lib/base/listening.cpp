#include "lib/base/listening.hpp"

#include <algorithm>

namespace muster {
namespace {

// The two oldest gaps become one beyond that, which forgives more, never less.
constexpr std::size_t most_gaps = 64;

}  // namespace

Listening::Listening(Time start, Duration longest_return) : longest_return_(longest_return) {
  add({start, start, longest_return}, std::nullopt);
  gaps_.front().to_return = Duration(0);  // nobody is known to have been unheard
}

void Listening::heard_before_start(Time until) {
  Gap& start = gaps_.front();
  start.from = std::min(until, start.until);
  start.to_return = std::min<Duration>(start.until - start.from, longest_return_);
  returns_.front().last_moment = until;
}

void Listening::was_deaf(Time from, Time until) {
  if (from >= until) return;
  move_returns(from, until);
  add({from, until, std::min(until - from, longest_return_)}, from);
}

void Listening::clock_was_set(Time before, Time now) {
  move_returns(before, now);
  const Duration to_return = std::min<Duration>(std::chrono::abs(now - before), longest_return_);
  if (now < before) {  // what lies in the future is of a clock that was wrong
    std::erase_if(gaps_, [&](const Gap& gap) { return gap.from >= now; });
    for (Gap& gap : gaps_) gap.until = std::min(gap.until, now);
  }
  add({std::min(before, now), now, to_return}, before);
}

// What is left of the time to come back at `from` is left at `to`.
void Listening::move_returns(Time from, Time to) {
  std::erase_if(returns_, [&](const Return& each) { return each.end <= from; });
  for (Return& each : returns_) each.end += to - from;
}

void Listening::add(Gap gap, std::optional<Time> last_moment) {
  returns_.push_back({last_moment, gap.until + gap.to_return});
  if (returns_.size() > most_gaps) returns_.erase(returns_.begin());
  judges_from_ = std::ranges::max(returns_, {}, &Return::end).end;
  // Who still came back after an earlier gap has the rest of that time, too.
  gap.to_return = judges_from_ - gap.until;
  if (!gaps_.empty())
    gaps_.back().to_return =
        std::clamp<Duration>(gap.from - gaps_.back().until, Duration(0), gaps_.back().to_return);
  gaps_.push_back(gap);
  if (gaps_.size() <= most_gaps) return;
  gaps_[1].from = gaps_[0].from;
  gaps_.erase(gaps_.begin());
}

Time Listening::deadline(Time from, Duration patience) const {
  Time at = from + patience;
  for (const Gap& gap : gaps_) {
    if (gap.until <= from) continue;
    if (gap.from >= at) break;
    at += gap.until - std::max(gap.from, from) + std::min(gap.to_return, patience);
  }
  return at;
}

bool Listening::heard_all(Time from, Time to) const {
  return from <= to && std::ranges::none_of(gaps_, [&](const Gap& gap) {
           return gap.from <= to && gap.until > from;
         });
}

std::vector<Time> Listening::last_moments(Time now) const {
  std::vector<Time> moments;
  for (const Return& each : returns_)
    if (each.end > now && each.last_moment) moments.push_back(*each.last_moment);
  return moments;
}

}  // namespace muster
