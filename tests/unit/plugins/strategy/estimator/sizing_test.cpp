#include "plugins/strategy/estimator/sizing.hpp"

#include <algorithm>

#include <gtest/gtest.h>

namespace muster::estimator {
namespace {

SizeRequest pool(std::int64_t pending, PoolCapacity capacity, std::int64_t min, std::int64_t max,
                 double ratio = 1) {
  return {WorkerPoolId("a/b"), pending, capacity, {min, max, ratio, {}}, {}};
}

// What worker-manager answers to the same counts; its "existing" is running and requested.
double peers_answer(const SizeRequest& request) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double claimed = number(request.capacity.running - request.capacity.idle);
  const double requested = number(request.capacity.requested);
  const double existing = number(request.capacity.running) + requested;
  const double pending = std::max(0.0, number(request.pending) - std::max(0.0, existing - claimed));
  const double present = existing + number(request.capacity.stopping);
  const double desired = std::max(number(request.settings.min_capacity),
                                  std::min(pending * request.settings.scaling_ratio + present,
                                           number(request.settings.max_capacity)));
  return std::max(0.0, std::max(0.0, desired - present) - requested);
}

struct Vector {
  const char* situation;
  SizeRequest request;
  double peer;
  std::int64_t ours;
};

// running, requested, stopping, idle
const Vector vectors[] = {
    {"nothing waits", pool(0, {0, 0, 0, 0}, 0, 100), 0, 0},
    {"a cold pool", pool(10, {0, 0, 0, 0}, 0, 100), 10, 10},
    {"all busy", pool(10, {5, 0, 0, 0}, 0, 100), 10, 10},
    {"idle ones take some", pool(10, {5, 0, 0, 3}, 0, 100), 7, 7},
    {"requested counts once", pool(10, {0, 5, 0, 0}, 0, 100), 0, 5},
    {"requested counts once, with more", pool(20, {0, 5, 0, 0}, 0, 100), 10, 15},
    {"requested counts once against the minimum", pool(0, {0, 5, 0, 0}, 10, 100), 0, 5},
    {"stopping leaves room", pool(50, {0, 0, 100, 0}, 0, 100), 0, 50},
    {"stopping leaves room for any backlog", pool(5000, {0, 0, 100, 0}, 0, 100), 0, 100},
    {"stopping does not make up the minimum", pool(0, {0, 0, 5, 0}, 5, 100), 0, 5},
    {"up to the maximum", pool(500, {90, 0, 0, 0}, 0, 100), 10, 10},
    {"up to the maximum with some on their way", pool(500, {50, 40, 0, 0}, 0, 100), 0, 10},
    {"a fraction is rounded up", pool(3, {0, 0, 0, 0}, 0, 100, 0.5), 1.5, 2},
    {"one task at a small ratio gets its worker", pool(1, {0, 0, 0, 0}, 0, 100, 0.01), 0.01, 1},
    {"a ratio of what waits, beside busy ones", pool(100, {25, 0, 0, 0}, 0, 100, 0.5), 50, 50},
    {"half of what waits boots at a ratio of a half", pool(100, {0, 50, 0, 0}, 0, 100, 0.5), 0, 0},
    {"some of it still has to be launched", pool(100, {0, 30, 0, 0}, 0, 100, 0.5), 5, 20},
    {"half of what waits has booted", pool(100, {50, 0, 0, 50}, 0, 100, 0.5), 25, 0},
    {"some have booted, some boot", pool(100, {20, 30, 0, 20}, 0, 100, 0.5), 0, 0},
    {"more boot than the ratio asks for", pool(100, {0, 80, 0, 0}, 0, 100, 0.5), 0, -30},
    {"a ratio above one", pool(10, {0, 0, 0, 0}, 0, 100, 1.5), 15, 15},
    {"a product that is not exact", pool(30, {0, 0, 0, 0}, 0, 100, 0.1), 3, 3},
    {"a minimum above the maximum", pool(0, {0, 0, 0, 0}, 10, 5), 10, 5},
    {"no room at all", pool(1'000'000, {7, 0, 0, 0}, 0, 0), 0, -7},
    // Below zero the peer has no answer of its own: it tells workers one by one.
    {"all idle", pool(0, {10, 0, 0, 10}, 0, 100), 0, -10},
    {"all idle, some are kept", pool(0, {10, 0, 0, 10}, 3, 100), 0, -7},
    {"half idle", pool(2, {10, 0, 0, 5}, 0, 100), 0, -3},
    {"above a maximum that was lowered", pool(0, {30, 0, 0, 0}, 0, 20), 0, -10},
    {"requested is surplus, too", pool(0, {2, 8, 0, 0}, 0, 100), 0, -8},
    {"busy ones are no surplus at a ratio below one", pool(0, {10, 0, 0, 0}, 0, 100, 0.5), 0, 0},
    {"a negative ratio", pool(10, {0, 0, 0, 0}, 1, 100, -2), 1, 1},
};

TEST(EstimatorSize, refuses_counts_that_make_no_sense) {
  EXPECT_EQ(size(pool(-1, {}, 0, 5)).error().message,
            "pending: -1 is not between 0 and 1000000000000");
  EXPECT_EQ(size(pool(1, {1, 0, 0, -2}, 0, 5)).error().message, "capacity.idle: -2 is negative");
  EXPECT_FALSE(size(pool(1, {}, 0, 2'000'000'000'000)));
}

TEST(EstimatorSize, corrects_what_the_peer_gets_wrong_and_keeps_the_rest) {
  for (const Vector& vector : vectors) {
    EXPECT_DOUBLE_EQ(peers_answer(vector.request), vector.peer) << vector.situation;
    const auto ours = size(vector.request);
    ASSERT_TRUE(ours) << vector.situation;
    EXPECT_EQ(ours->capacity, vector.ours) << vector.situation << ": " << ours->reason;
  }
}

TEST(EstimatorSize, more_idle_than_running_is_taken_for_all_idle) {
  EXPECT_EQ(size(pool(0, {5, 0, 0, 9}, 0, 100))->capacity, -5);
}

TEST(EstimatorSize, a_ratio_below_one_launches_its_share_once_however_often_it_is_asked) {
  PoolCapacity capacity;
  for (int round = 0; round < 10; ++round)
    capacity.requested += size(pool(100, capacity, 0, 100, 0.5))->capacity;
  EXPECT_EQ(capacity.requested, 50);
}

TEST(EstimatorSize, what_was_launched_is_not_too_many_in_the_next_round) {
  for (const double ratio : {0.1, 0.3, 0.5, 0.9, 1.0})
    for (std::int64_t pending = 0; pending < 40; ++pending)
      for (std::int64_t running = 0; running < 20; running += 3)
        for (std::int64_t idle = 0; idle <= running; idle += 2) {
          PoolCapacity capacity{running, 0, 0, idle};
          const std::int64_t launched = size(pool(pending, capacity, 0, 1000, ratio))->capacity;
          if (launched <= 0) continue;
          capacity.requested = launched;
          EXPECT_EQ(size(pool(pending, capacity, 0, 1000, ratio))->capacity, 0)
              << ratio << " " << pending << " " << running << " " << idle;
        }
}

TEST(EstimatorSize, the_reason_has_the_arithmetic) {
  EXPECT_EQ(size(pool(20, {8, 5, 0, 2}, 0, 100))->reason,
            "20 pending × 1 = 20; 20 − 2 idle − 5 requested = 13");
  EXPECT_EQ(size(pool(90, {8, 5, 0, 2}, 0, 20, 0.5))->reason,
            "90 pending × 0.5 = 45; 45 − 2 idle − 5 requested = 38; limited: 20 maxCapacity − 8 "
            "running − 5 requested = 7");
  EXPECT_EQ(size(pool(0, {1, 1, 0, 0}, 5, 20))->reason,
            "0 pending × 1 = 0; 0 − 0 idle − 1 requested = -1; raised: 5 minCapacity − 1 running − "
            "1 requested = 3");
  EXPECT_EQ(size(pool(2, {10, 0, 0, 5}, 0, 100))->reason,
            "2 pending × 1 = 2; 2 − 5 idle − 0 requested = -3: 3 too many");
  EXPECT_EQ(size(pool(0, {4, 0, 0, 0}, 9, 4, -1))->reason,
            "0 pending × 0 = 0; 0 − 0 idle − 0 requested = 0: nothing more is needed; minCapacity "
            "9 is above maxCapacity 4, which wins; scalingRatio -1 counts as 0");
}

}  // namespace
}  // namespace muster::estimator
