// When a worker that its provider does not list is gone.
#include "host/fleet/reconciliation/absence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// Of a worker that has vanished beyond doubt.
Absence long_absence() {
  return {.registered = true, .reports = true, .listings = 100, .missing = 24h, .silent = 24h};
}

TEST(Absence, one_listing_is_never_enough) {
  Absence absence = long_absence();
  absence.listings = 1;
  EXPECT_FALSE(is_gone(absence));
}

TEST(Absence, a_worker_that_was_heard_of_after_the_listing_began_is_there) {
  Absence absence = long_absence();
  absence.heard_since = true;
  EXPECT_FALSE(is_gone(absence));
  absence.stated = absence.taken = true;
  EXPECT_FALSE(is_gone(absence)) << "whatever the provider says";
}

TEST(Absence, what_the_host_could_not_hear_is_no_silence) {
  Absence absence = long_absence();
  absence.may_judge = false;
  EXPECT_FALSE(is_gone(absence));
  absence.registered = false;
  EXPECT_TRUE(is_gone(absence)) << "it has never said anything";
}

TEST(Absence, a_worker_that_reports_is_gone_after_six_silent_minutes) {
  Absence absence = long_absence();
  absence.listings = 2;
  absence.missing = 5s;
  absence.silent = 6min - 1ms;
  EXPECT_FALSE(is_gone(absence));
  absence.silent = 6min;
  EXPECT_TRUE(is_gone(absence));
  EXPECT_THAT(why_gone(absence), HasSubstr("last 2 lists lack it, for 5 s"));
  EXPECT_THAT(why_gone(absence), HasSubstr("last heard of 360 s ago"));
}

TEST(Absence, a_worker_that_never_reports_has_longer) {
  Absence absence = long_absence();
  absence.reports = false;
  absence.silent = 15min - 1ms;
  EXPECT_FALSE(is_gone(absence));
  absence.silent = 15min;
  EXPECT_TRUE(is_gone(absence));
}

TEST(Absence, a_worker_that_has_not_registered_is_gone_after_half_a_minute) {
  Absence absence{.listings = 2, .missing = 30s - 1ms};
  EXPECT_FALSE(is_gone(absence));
  absence.missing = 30s;
  EXPECT_TRUE(is_gone(absence));
  EXPECT_THAT(why_gone(absence), HasSubstr("never registered"));
}

TEST(Absence, while_the_listing_is_doubted_everything_takes_longer) {
  Absence absence = long_absence();
  absence.doubted = true;
  absence.silent = 15min - 1ms;
  EXPECT_FALSE(is_gone(absence)) << "it reports";
  absence.silent = 15min;
  EXPECT_TRUE(is_gone(absence));
  absence.missing = 15min - 1ms;
  EXPECT_FALSE(is_gone(absence)) << "a silence alone says nothing about a listing";

  absence = long_absence();
  absence.doubted = true;
  absence.reports = false;
  absence.silent = 1h - 1ms;
  EXPECT_FALSE(is_gone(absence));
  absence.silent = 1h;
  EXPECT_TRUE(is_gone(absence));

  absence = {.doubted = true, .listings = 50, .missing = 15min - 1ms};
  EXPECT_FALSE(is_gone(absence)) << "it has not registered";
  absence.missing = 15min;
  EXPECT_TRUE(is_gone(absence));
  EXPECT_THAT(why_gone(absence), HasSubstr("many others were missing"));
}

TEST(Absence, what_the_provider_states_or_has_announced_needs_no_time) {
  Absence absence{.registered = true};
  absence.stated = true;
  EXPECT_TRUE(is_gone(absence));
  EXPECT_THAT(why_gone(absence), HasSubstr("stopped"));
  absence = {.taken = true, .registered = true, .doubted = true};
  EXPECT_TRUE(is_gone(absence));
  EXPECT_THAT(why_gone(absence), HasSubstr("announced"));
}

TEST(Absence, a_quarter_is_a_large_share_but_a_single_worker_is_not) {
  EXPECT_FALSE(is_large_share(0, 0));
  EXPECT_FALSE(is_large_share(1, 1));
  EXPECT_FALSE(is_large_share(24, 100));
  EXPECT_TRUE(is_large_share(25, 100));
  EXPECT_TRUE(is_large_share(2, 2));
  EXPECT_TRUE(is_large_share(2, 8));
  EXPECT_FALSE(is_large_share(2, 9));
}

}  // namespace
}  // namespace muster::fleet
