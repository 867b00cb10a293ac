#include "host/leadership/lease.hpp"

#include <algorithm>
#include <time.h>

namespace muster::leadership {

BootTime boot_time() {
  timespec time{};
  ::clock_gettime(CLOCK_BOOTTIME, &time);
  return std::chrono::seconds(time.tv_sec) + std::chrono::duration_cast<std::chrono::milliseconds>(
                                                 std::chrono::nanoseconds(time.tv_nsec));
}

Holding renewed(const LeaseTimes& times, BootTime asked) {
  return {true, times.relied_until(asked), asked + times.renew_every()};
}

Holding not_renewed(const LeaseTimes& times, const Holding& before, BootTime now) {
  return {before.holds, before.relied_until, now + times.retry_every()};
}

bool may_act(const Holding& holding, BootTime now) {
  return holding.holds && now < holding.relied_until;
}

bool is_over(const Holding& holding, BootTime now) {
  return holding.holds && now >= holding.relied_until;
}

bool should_ask(std::chrono::milliseconds left_by_database) {
  return left_by_database.count() <= 0;
}

std::chrono::milliseconds next_look(const LeaseTimes& times,
                                    std::chrono::milliseconds left_by_database) {
  // Not long before it ends: then at its end.
  const auto soon = std::max(left_by_database, std::chrono::milliseconds(1));
  return std::min(times.look_every(), soon);
}

}  // namespace muster::leadership
