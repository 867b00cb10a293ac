#include "lib/base/time_watch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/fake_clock.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class Watching : public ::testing::Test {
 protected:
  void pass(std::chrono::seconds time) {
    for (; time > 0s; time -= 1s) {
      clock.advance(1s);
      watch.look();
    }
  }

  FakeClock clock;
  TimeWatch watch{clock, 10min};
};

TEST_F(Watching, sees_nothing_while_time_passes_as_it_should) {
  EXPECT_THAT(watch.last_moments(), IsEmpty());
  pass(1h);
  EXPECT_THAT(watch.last_moments(), IsEmpty());
}

TEST_F(Watching, sees_that_the_program_was_frozen) {
  pass(20min);
  const Time before = clock.now();
  clock.advance(62s);
  EXPECT_THAT(watch.last_moments(), ElementsAre(before));
  pass(61s);
  EXPECT_THAT(watch.last_moments(), ElementsAre(before));
  pass(1s);
  EXPECT_THAT(watch.last_moments(), IsEmpty());
}

TEST_F(Watching, sees_that_the_clock_was_set_ahead) {
  pass(20min);
  const Time before = clock.now();
  clock.set_by(1h);
  EXPECT_THAT(watch.last_moments(), ElementsAre(before));
  pass(10min);
  EXPECT_THAT(watch.last_moments(), IsEmpty());
}

TEST_F(Watching, remembers_the_latest_time_when_the_clock_was_set_back) {
  pass(20min);
  const Time before = clock.now();
  clock.set_by(-1h);
  EXPECT_THAT(watch.last_moments(), ElementsAre(before));
  EXPECT_EQ(watch.latest_ahead(), before);
  pass(10min);
  EXPECT_THAT(watch.last_moments(), IsEmpty());
  EXPECT_EQ(watch.latest_ahead(), before);
  pass(50min);
  EXPECT_EQ(watch.latest_ahead(), std::nullopt);
}

TEST_F(Watching, remembers_a_time_that_an_earlier_life_saw) {
  const Time seen = clock.now() + 1h;
  watch.saw(seen);
  EXPECT_EQ(watch.latest_ahead(), seen);
}

TEST_F(Watching, a_machine_that_was_suspended_is_one_whose_clock_was_set) {
  pass(20min);
  const Time before = clock.now();
  clock.set_by(8h);
  clock.advance(2s);
  EXPECT_THAT(watch.last_moments(), ElementsAre(before + 2s));
}

}  // namespace
}  // namespace muster
