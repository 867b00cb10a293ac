#include "host/leadership/lease.hpp"

#include <gtest/gtest.h>

namespace muster::leadership {
namespace {

using namespace std::chrono_literals;

const LeaseTimes times{15s};

TEST(Lease, is_relied_on_from_the_moment_of_the_question_and_less_than_its_length) {
  const Holding holding = renewed(times, 100s);
  EXPECT_TRUE(may_act(holding, 100s));
  EXPECT_TRUE(may_act(holding, 111999ms));
  EXPECT_FALSE(may_act(holding, 112s));
  EXPECT_TRUE(is_over(holding, 112s));
  EXPECT_LT(holding.relied_until, 100s + times.length) << "it must stop before the lease ends";
}

TEST(Lease, a_clock_that_runs_a_fifth_too_slowly_still_stops_in_time) {
  // The holder counts 12 s while the database counts 15.
  EXPECT_LE(times.relied_until(0s) * 5 / 4, times.length);
}

TEST(Lease, nobody_may_act_who_never_held_it) {
  EXPECT_FALSE(may_act({}, 0s));
  EXPECT_FALSE(is_over({}, 1000s));
}

TEST(Lease, is_renewed_at_a_third_of_its_length_and_then_counts_anew) {
  const Holding first = renewed(times, 0s);
  EXPECT_EQ(first.next_renewal, 5s);
  const Holding second = renewed(times, 5s);
  EXPECT_EQ(second.relied_until, 17s);
}

TEST(Lease, a_renewal_that_failed_gives_no_more_time_and_is_tried_again_soon) {
  const Holding first = renewed(times, 0s);
  const Holding failed = not_renewed(times, first, 6s);
  EXPECT_EQ(failed.relied_until, first.relied_until);
  EXPECT_EQ(failed.next_renewal, 7s);
  int attempts = 0;
  for (Holding holding = failed; !is_over(holding, holding.next_renewal); ++attempts)
    holding = not_renewed(times, holding, holding.next_renewal);
  EXPECT_GE(attempts, 4) << "a short failure of the network must not cost the lead";
}

TEST(Lease, others_ask_when_it_is_over_by_the_database_and_look_at_its_end) {
  EXPECT_FALSE(should_ask(1ms));
  EXPECT_TRUE(should_ask(0ms));
  EXPECT_TRUE(should_ask(-5s));
  EXPECT_EQ(next_look(times, 10s), times.look_every());
  EXPECT_EQ(next_look(times, 300ms), 300ms);
  EXPECT_EQ(next_look(times, -1s), 1ms);
}

TEST(Lease, the_clock_goes_on) {
  const BootTime before = boot_time();
  EXPECT_GT(before, 0ms);
  EXPECT_GE(boot_time(), before);
}

}  // namespace
}  // namespace muster::leadership
