// A queue with a clock that tests move and numbers that count by themselves.
#pragma once

#include <string>
#include <vector>

#include "host/queue/queue.hpp"

namespace muster::queue::testing {

using namespace std::chrono_literals;

struct Fixture {
  explicit Fixture(Settings settings = {}) : queue(std::move(settings), 7) {}

  Queue queue;
  Time now{std::chrono::hours(24 * 365 * 50)};
  std::int64_t next = 1;

  // A worker of a shared pool, unless it is said otherwise.
  std::int64_t worker(WorkerOffer offered) {
    if (offered.number == 0) offered.number = next++;
    queue.offer(offered, now);
    return offered.number;
  }
  std::int64_t worker(std::int64_t capacity = 1, const std::string& pool = "") {
    return worker({.pool = WorkerPoolId(pool), .has = {capacity, {}}});
  }

  Result<std::int64_t> ask(NewRequest ask) {
    const std::int64_t number = next++;
    return queue.request(std::move(ask), number, now);
  }
  std::int64_t ask(const std::string& team, std::int64_t capacity = 1) {
    return *ask(NewRequest{.team = TeamId(team), .needs = {capacity, {}}});
  }
  void release(std::int64_t request) { ASSERT_TRUE(queue.release(request, now)); }

  void dedicate(const std::string& pool, const std::vector<std::string>& teams) {
    ASSERT_TRUE(queue.set_pool(WorkerPoolId(pool), {}, now));
    std::vector<TeamId> ids;
    for (const std::string& team : teams) ids.emplace_back(team);
    ASSERT_TRUE(queue.attach(WorkerPoolId(pool), ids, false, now));
  }

  // The number of the worker that it holds; 0: it waits; -1: it has ended or is not known.
  std::int64_t holds(std::int64_t request) const {
    const Request* found = queue.find(request);
    if (!found || found->state == RequestState::ended) return -1;
    return found->state == RequestState::held ? queue.workers()[found->worker].number : 0;
  }

  // Time passes in steps, while the clients of all requests live.
  void wait(std::chrono::milliseconds time) {
    for (const Time end = now + time; now < end;) {
      now = std::min<Time>(end, now + 10s);
      for (const Request& request : std::vector<Request>(queue.requests()))
        if (request.number != 0) (void)queue.heartbeat(request.number, now);
      queue.expire(now);
    }
  }
};

}  // namespace muster::queue::testing
