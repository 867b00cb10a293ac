// The times of a lease, as the host that holds it counts them. Pure.
//
// The database's clock decides when a lease is over. The holder never reads that clock: it counts
// from the moment at which it asked, which is before the database answered, by a clock that nobody
// sets and that goes on while the machine sleeps. So it stops first, whatever the two clocks say.
#pragma once

#include <chrono>
#include <optional>

namespace muster::leadership {

// Since the machine was started, CLOCK_BOOTTIME: time in which it slept counts, too.
using BootTime = std::chrono::milliseconds;
BootTime boot_time();

struct LeaseTimes {
  std::chrono::milliseconds length = std::chrono::seconds(15);

  // How often it is renewed.
  std::chrono::milliseconds renew_every() const { return length / 3; }
  // After a renewal that failed.
  std::chrono::milliseconds retry_every() const { return length / 15; }
  // How much earlier the holder stops than the lease ends: for clocks that run at different speeds,
  // and for a call that was just begun.
  std::chrono::milliseconds margin() const { return length / 5; }
  // How often one that does not hold it looks at it.
  std::chrono::milliseconds look_every() const { return length / 15; }

  // After which one that did not look is gone: all look at least twice in that time.
  std::chrono::milliseconds silence() const { return length * 4 / 5; }

  // Until when a lease that was asked for at `asked` may be relied on.
  BootTime relied_until(BootTime asked) const { return asked + length - margin(); }
};

struct Holding {
  bool holds = false;
  BootTime relied_until{};
  BootTime next_renewal{};
};

// A renewal that was asked for at `asked` was granted.
Holding renewed(const LeaseTimes& times, BootTime asked);
// It failed, and nobody knows whether the database has it.
Holding not_renewed(const LeaseTimes& times, const Holding& before, BootTime now);

// May the holder decide, call providers and acknowledge changes?
bool may_act(const Holding& holding, BootTime now);
// Is it over for good, so that the host must begin again as a follower?
bool is_over(const Holding& holding, BootTime now);

// When one that follows asks for the lease: nobody holds it, by the database's clock.
bool should_ask(std::chrono::milliseconds left_by_database);
// When it looks again.
std::chrono::milliseconds next_look(const LeaseTimes& times,
                                    std::chrono::milliseconds left_by_database);

}  // namespace muster::leadership
