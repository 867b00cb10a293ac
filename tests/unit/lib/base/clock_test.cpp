#include "lib/base/clock.hpp"

#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "lib/base/fake_clock.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

TEST(Clock, iso_8601_has_milliseconds_and_a_z) {
  EXPECT_EQ(format_time(Time(0ms)), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_time(Time(-1ms)), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_time(Time(951'782'400'007ms)), "2000-02-29T00:00:00.007Z");
}

TEST(Clock, both_faces_of_the_fake_clock_move_only_when_told) {
  FakeClock clock;
  const auto now = clock.now();
  const auto steady = clock.steady();
  EXPECT_EQ(clock.now(), now);
  clock.advance(1500ms);
  EXPECT_EQ(clock.now() - now, 1500ms);
  EXPECT_EQ(clock.steady() - steady, 1500ms);
}

}  // namespace
}  // namespace muster
