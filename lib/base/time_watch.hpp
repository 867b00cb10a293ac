// Notices that the program did not run for a while, or that the machine's clock was set.
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "lib/base/clock.hpp"
#include "lib/base/listening.hpp"

namespace muster {

// Both clocks at the same moment.
struct BothClocks {
  Time wall{};
  std::chrono::milliseconds steady{};
};
// Also if the program is frozen between two looks at them.
BothClocks read_both(const Clock& clock);

// Somebody looks at least every second, or the time in between counts as time in which the program
// did not run. THREADS: any.
class TimeWatch {
 public:
  // The clock is borrowed. See Listening for `longest_return`.
  explicit TimeWatch(const Clock& clock,
                     std::chrono::milliseconds longest_return = std::chrono::minutes(10));

  void look();
  // The program saw this time in an earlier life.
  void saw(Time time);
  // Looks, and returns the moments at which others may be judged instead of now: the last ones
  // before the program did not run or its clock was set, as long as others come back after that.
  std::vector<Time> last_moments();
  // Looks; then as Listening::deadline().
  Time deadline(Time from, std::chrono::milliseconds patience);
  // The latest of all times that it saw, if the clock was set back behind it.
  std::optional<Time> latest_ahead();

 private:
  void look_at(BothClocks now);

  const Clock& clock_;
  std::mutex mutex_;
  BothClocks last_;
  Time latest_;
  Listening listening_;
};

}  // namespace muster
