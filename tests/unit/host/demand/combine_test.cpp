#include "host/demand/combine.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"

namespace muster::demand {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const Time noon{1h * 36};  // of the second day
const WorkerPoolId a("p/a"), b("p/b");
const std::vector<WorkerPoolId> pools = {a, b};

Report report(const std::string& name, Counts counts,
              std::optional<std::chrono::milliseconds> stale_after = 1min) {
  return {name, std::move(counts), noon, "", {}, stale_after};
}

TEST(Combine, a_source_that_never_answered_is_noted_at_every_pool) {
  Report silent = report("queue", {});
  silent.error = "connection refused";
  const auto demand = combine({silent, report("cron", {{a, {2, {}, noon}}})}, pools, noon);
  EXPECT_EQ(demand.at(a).pending, 2);
  EXPECT_EQ(demand.at(b).pending, 0);
  for (const WorkerPoolId& pool : pools)
    EXPECT_EQ(demand.at(pool).note, "queue has not answered yet: connection refused");
}

TEST(Combine, counts_do_not_grow_old_while_the_host_does_not_run_or_because_its_clock_is_set) {
  for (const auto change : {&FakeClock::advance, &FakeClock::set_by}) {
    FakeClock clock;
    TimeWatch watch(clock);
    Report counted = report("queue", {{a, {5, {}, clock.now()}}});
    const auto pending = [&] {
      Report forgiven = counted;
      forgive_gaps(forgiven, watch, clock.now());
      return combine({forgiven}, pools, clock.now()).at(a).pending;
    };
    (clock.*change)(1h);
    EXPECT_EQ(pending(), 5);
    for (int second = 0; second < 121; ++second) {
      clock.advance(1s);
      watch.look();
    }
    EXPECT_EQ(pending(), 0) << "the source had its time to be asked again";
  }
}

TEST(Combine, counts_that_are_too_old_count_as_nothing_and_say_so) {
  struct Case {
    std::chrono::milliseconds age;
    std::optional<std::chrono::milliseconds> stale_after;
    std::int64_t pending;
  };
  for (const Case& each : {Case{0s, 1min, 5},
                           {60s, 1min, 5},
                           {60'001ms, 1min, 0},
                           {24h, 1min, 0},
                           {24h, std::nullopt, 5},
                           {-1h, 1min, 5}}) {
    const auto demand =
        combine({report("queue", {{a, {5, 3, noon - each.age}}}, each.stale_after)}, pools, noon);
    EXPECT_EQ(demand.at(a).pending, each.pending) << each.age.count();
    EXPECT_EQ(demand.at(a).claimed.has_value(), each.pending > 0);
    EXPECT_THAT(demand.at(a).note, each.pending == 0
                                       ? ::testing::Matcher<const std::string&>(
                                             HasSubstr("queue is stale since 1970-01-"))
                                       : ::testing::Matcher<const std::string&>(""));
    EXPECT_FALSE(demand.contains(b));
  }
}

TEST(Combine, what_waits_adds_up_over_those_that_are_fresh) {
  Report broken = report("broken", {{a, {100, {}, noon - 2h}}});
  broken.error = "500";
  const auto demand = combine({report("x", {{a, {2, {}, noon}}, {b, {0, {}, noon}}}), broken,
                               report("y", {{a, {3, 4, noon}}})},
                              pools, noon);
  EXPECT_EQ(demand.at(a).pending, 5);
  EXPECT_EQ(demand.at(a).claimed, 4);
  EXPECT_EQ(demand.at(a).note, "broken is stale since 1970-01-02T10:00:00.000Z: 500");
  EXPECT_EQ(demand.at(b).pending, 0);
  EXPECT_EQ(demand.at(b).note, "broken has not answered yet: 500");
}

TEST(Combine, the_last_numbers_of_a_failing_source_are_used_until_they_are_stale) {
  Report failing = report("queue", {{a, {7, {}, noon - 30s}}});
  failing.error = "timeout";
  EXPECT_EQ(combine({failing}, {a}, noon).at(a).pending, 7);
  EXPECT_EQ(combine({failing}, {a}, noon + 31s).at(a).pending, 0);
}

TEST(Combine, an_error_of_one_pool_is_told_there) {
  Report partial = report("queue", {{a, {1, {}, noon}}});
  partial.pool_errors[b] = "answered 403";
  const auto demand = combine({partial}, pools, noon);
  EXPECT_EQ(demand.at(a).note, "");
  EXPECT_EQ(demand.at(b).note, "queue has not answered yet: answered 403");
}

TEST(Combine, absurd_numbers_do_not_run_over) {
  const Counts huge = {{a, {max_pending, max_pending, noon}}};
  std::vector<Report> many(10'000, report("x", huge));
  EXPECT_EQ(combine(many, {a}, noon).at(a).pending, max_pending);
}

TEST(Combine, pools_that_this_host_does_not_have_are_left_out) {
  EXPECT_TRUE(combine({report("x", {{a, {1, {}, noon}}})}, {b}, noon).empty());
}

TEST(Combine, knows_when_the_next_count_goes_stale) {
  EXPECT_FALSE(next_stale({report("x", {{a, {1, {}, noon}}}, std::nullopt)}, noon));
  const auto next = next_stale({report("x", {{a, {1, {}, noon}}, {b, {1, {}, noon - 50s}}}),
                                report("y", {{a, {1, {}, noon - 2h}}})},
                               noon);
  EXPECT_EQ(next, noon + 10'001ms);
}

}  // namespace
}  // namespace muster::demand
