#include "plugins/strategy/classic/sizing.hpp"

#include <gtest/gtest.h>

namespace muster::classic {
namespace {

SizeRequest request(std::int64_t running, std::int64_t requested, std::int64_t pending,
                    std::int64_t min, std::int64_t max, double ratio) {
  return {WorkerPoolId("a/b"), pending, {running, requested}, {min, max, ratio}};
}

TEST(ClassicSize, refuses_counts_that_cannot_be) {
  EXPECT_EQ(size(request(-1, 0, 0, 0, 20, 0)).error().message,
            "capacity.running: -1 is not between 0 and 1000000000000");
  EXPECT_EQ(size(request(0, 0, 9'000'000'000'000'000'000, 0, 20, 0)).error().message,
            "pending: 9000000000000000000 is not between 0 and 1000000000000");
  EXPECT_EQ(size(request(0, 0, 0, 0, 20, 1e300)).error().error_class, ErrorClass::invalid);
}

TEST(ClassicSize, equals_aws_provisioner_on_its_test_vectors) {
  struct Vector {
    std::int64_t running, requested, pending, min, max;
    double ratio;
    std::int64_t change;
  };
  for (const Vector& v :
       {Vector{0, 0, 0, 0, 20, 0, 0}, Vector{0, 0, 0, 1, 20, 0, 1}, Vector{0, 0, 5, 0, 20, 0, 5},
        Vector{5, 0, 5, 0, 20, 0, 5}, Vector{5, 5, 5, 0, 20, 0, 0}, Vector{0, 10, 5, 0, 20, 0, -5},
        Vector{5, 10, 5, 0, 20, 0, -5}, Vector{0, 0, 30, 1, 20, 0, 20},
        Vector{0, 40, 10000, 0, 1000, .2, 960}, Vector{100, 0, 50, 0, 1000, .2, 30},
        Vector{3, 2, 10, 0, 100, 1, 5}, Vector{30, 0, 0, 0, 20, 0, -10}}) {
    const auto sized = size(request(v.running, v.requested, v.pending, v.min, v.max, v.ratio));
    ASSERT_TRUE(sized);
    EXPECT_EQ(sized->capacity, v.change) << sized->reason;
  }
}

TEST(ClassicSize, rounds_halves_up_like_javascript) {
  EXPECT_EQ(round_half_up(2.5), 3);
  EXPECT_EQ(round_half_up(-2.5), -2);
  EXPECT_EQ(round_half_up(-2.6), -3);
  EXPECT_EQ(round_half_up(0.49999999999999994), 0);
  EXPECT_EQ(round_half_up(4503599627370497.5), 4503599627370498.0);
  EXPECT_EQ(size(request(5, 0, 0, 0, 100, -0.5))->capacity, 2);  // − round(−2.5)
  EXPECT_EQ(size(request(5, 0, 10, 0, 100, 0.5))->capacity, 7);  // − round(2.5)
}

TEST(ClassicSize, a_negative_ratio_keeps_spare_capacity) {
  EXPECT_EQ(size(request(10, 0, 0, 0, 100, -0.2))->capacity, 2);
}

TEST(ClassicSize, the_maximum_counts_what_runs_and_what_was_requested) {
  EXPECT_EQ(size(request(18, 1, 50, 0, 20, 0))->capacity, 1);
  EXPECT_EQ(size(request(0, 0, 7, 0, 0, 0))->capacity, 0);
}

TEST(ClassicSize, says_the_arithmetic) {
  EXPECT_EQ(size(request(3, 2, 10, 0, 100, 1))->reason,
            "10 pending − 2 requested − round(1 × 3 running) = 5");
  EXPECT_EQ(size(request(3, 2, 100, 0, 20, 0.5))->reason,
            "100 pending − 2 requested − round(0.5 × 3 running) = 96; limited: 20 maxCapacity − 3 "
            "running − 2 requested = 15");
  EXPECT_EQ(size(request(1, 0, 0, 4, 20, 0))->reason,
            "0 pending − 0 requested − round(0 × 1 running) = 0; raised: 4 minCapacity − 1 running "
            "− 0 requested = 3");
}

}  // namespace
}  // namespace muster::classic
