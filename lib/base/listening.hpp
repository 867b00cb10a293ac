// When a program could hear others. Who judges the silence of others asks here, because time in
// which it could not hear is nobody's silence: while it was stopped or frozen, while its store
// failed, or time that never passed because the wall clock was set.
//
// A value without a clock: it is told what happened, in times of the wall clock.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include <muster/context.hpp>

namespace muster {

class Listening {
 public:
  using Duration = std::chrono::milliseconds;

  // Hears from `start` on. After every gap, those who were not heard have time to come back: as
  // long as the gap lasted, and `longest_return` at most. After a start nobody is judged for all of
  // that.
  Listening(Time start, Duration longest_return);

  // The program before this one heard until then.
  void heard_before_start(Time until);
  // Nobody was heard from `from` until `until`, which is now.
  void was_deaf(Time from, Time until);
  // The wall clock said `before`, and at the same moment it was made to say `now`.
  void clock_was_set(Time before, Time now);

  // When somebody who was heard last at `from` was silent for `patience`: time in gaps does not
  // count, nor the time to come back after them, of which he needs `patience` at most.
  Time deadline(Time from, Duration patience) const;
  // All of the time from `from` to `to` was heard, by one clock: how long it lasted can be
  // measured.
  bool heard_all(Time from, Time to) const;
  // When the time to come back ends or ended: before that, nobody is judged who may need it all.
  Time judges_from() const { return judges_from_; }
  // The last moments before the gaps after which others still come back at `now`. What was good at
  // one of them is not bad because of the gap.
  std::vector<Time> last_moments(Time now) const;

 private:
  // Of the wall clock.
  struct Gap {
    Time from, until;
    Duration to_return;  // ends at the next gap at the latest
  };
  struct Return {
    std::optional<Time> last_moment;  // nothing: of a start, before which nothing is known
    Time end;
  };
  void move_returns(Time from, Time to);
  void add(Gap gap, std::optional<Time> last_moment);

  Duration longest_return_;
  std::vector<Gap> gaps_;  // in order
  std::vector<Return> returns_;
  Time judges_from_;
};

}  // namespace muster
