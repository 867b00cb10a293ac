// Those who wait for a request of the queue to be granted or to end: no thread does.
#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "lib/base/tally.hpp"

namespace muster::fleet {

// THREADS: any.
class RequestWaiters {
 public:
  // Calls `wake` once: when the request waits no longer and that is durable, or soon after `until`,
  // a time of the steady clock (Now::steady): nobody waits longer because a clock was set.
  // Never from within this call. False: nobody is to wait any more, and nobody is called.
  bool wait(std::int64_t request, std::chrono::milliseconds until, std::function<void()> wake);

  // For one who waits, held meanwhile; null if the client waits for `most` answers already.
  Tally::Seat seat(const std::string& client, std::int64_t most) {
    return seats_.open(client, most);
  }

  void settled(const std::vector<std::int64_t>& requests);
  void expire(std::chrono::milliseconds now);
  // Everybody is woken, and nobody waits from now on: the host is about to end.
  void close();

 private:
  struct Waiter {
    std::chrono::milliseconds until;
    std::function<void()> wake;
  };
  using Waiters = std::multimap<std::int64_t, Waiter>;
  Tally seats_;
  std::mutex mutex_;
  Waiters waiters_;  // by request
  std::multimap<std::chrono::milliseconds, Waiters::iterator> by_time_;
  bool closed_ = false;

  Waiter take(Waiters::iterator waiter);
};

}  // namespace muster::fleet
