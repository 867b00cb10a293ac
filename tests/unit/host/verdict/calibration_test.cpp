// How often expectations came true.
#include "host/verdict/calibration.hpp"

#include <gtest/gtest.h>

namespace muster::verdict {
namespace {

using namespace std::chrono_literals;

const Time start{std::chrono::hours(24 * 365 * 50)};
const Eta eta{start + 10s, start + 60s};

TEST(Calibration, who_gave_up_in_time_says_nothing) {
  Calibration calibration;
  calibration.gave_up({}, start + 1h);
  calibration.gave_up(eta, start + 30s);
  EXPECT_EQ(calibration.last().expectations, 0);
  calibration.gave_up(eta, start + 61s);
  EXPECT_EQ(calibration.last().expectations, 1);
  EXPECT_EQ(calibration.last().kept_p90, 0);
}

TEST(Calibration, counts_what_was_kept) {
  Calibration calibration;
  calibration.happened(eta, start + 10s);
  calibration.happened(eta, start + 11s);
  calibration.happened(eta, start + 61s);
  EXPECT_EQ(calibration.last().expectations, 3);
  EXPECT_EQ(calibration.last().kept_p50, 1);
  EXPECT_EQ(calibration.last().kept_p90, 2);
}

TEST(Calibration, the_last_thousand_are_what_it_shows) {
  Calibration calibration;
  for (int i = 0; i < 500; ++i) calibration.happened(eta, start + 1h);
  for (std::size_t i = 0; i < Calibration::most; ++i) calibration.happened(eta, start);
  EXPECT_EQ(calibration.last().expectations, 1000);
  EXPECT_EQ(calibration.last().kept_p50, 1000);
  EXPECT_EQ(calibration.total().expectations, 1500);
  EXPECT_EQ(calibration.total().kept_p90, 1000);
}

}  // namespace
}  // namespace muster::verdict
