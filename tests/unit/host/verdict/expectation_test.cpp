// When there will be room; also whether what it says comes true, in a small queue that is played
// through hundreds of times.
#include <algorithm>
#include <deque>
#include <functional>
#include <random>

#include <gtest/gtest.h>

#include "host/verdict/calibration.hpp"

namespace muster::verdict {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

Durations always(milliseconds time, int times = 32) {
  Durations durations;
  for (int i = 0; i < times; ++i) durations.add(time);
  return durations;
}

// Times are told apart by two parts in a hundred.
void expect_about(milliseconds is, milliseconds wanted) {
  EXPECT_GE(is, wanted * 97 / 100);
  EXPECT_LE(is, wanted * 103 / 100);
}

TEST(Expectation, nothing_comes_of_nothing) {
  EXPECT_FALSE(when_there_is_room({}, 1));
  const Durations none;
  const RoomSource unknown[] = {{.takes = nullptr}, {.takes = &none}};
  EXPECT_FALSE(when_there_is_room(unknown, 1));
}

TEST(Expectation, what_is_too_far_away_is_not_expected) {
  const Durations long_ones = always(24h * 25);
  const RoomSource coming[] = {{.takes = &long_ones}};
  EXPECT_FALSE(when_there_is_room(coming, 3)) << "only one comes";
}

TEST(Expectation, one_launch_takes_as_long_as_the_others_did) {
  const Durations minute = always(1min);
  const RoomSource fresh[] = {{.takes = &minute}};
  expect_about(when_there_is_room(fresh, 1)->p50, 1min);
  expect_about(when_there_is_room(fresh, 1)->p90, 1min);
  const RoomSource old[] = {{.takes = &minute, .age = 45s}};
  expect_about(when_there_is_room(old, 1)->p50, 15s);
}

TEST(Expectation, a_single_measure_is_no_certainty) {
  const Durations once = always(1min, 1);
  const RoomSource coming[] = {{.takes = &once}};
  const auto expected = when_there_is_room(coming, 1);
  expect_about(expected->p50, 1min);
  EXPECT_GT(expected->p90, 3min);
}

TEST(Expectation, many_leases_make_room_often) {
  Durations leases;
  for (int i = 1; i <= 32; ++i) leases.add(milliseconds(1000 * i));
  std::vector<RoomSource> coming;
  for (int i = 0; i < 32; ++i)
    coming.push_back({.takes = &leases, .age = milliseconds(500 * i), .again = true});
  const auto first = when_there_is_room(coming, 1), tenth = when_there_is_room(coming, 10),
             hundredth = when_there_is_room(coming, 100);
  EXPECT_LT(first->p50, 1s);
  EXPECT_LT(first->p50, tenth->p50);
  EXPECT_LT(tenth->p50, hundredth->p50);
  EXPECT_LT(tenth->p50, tenth->p90);
  // 32 workers and a mean of 16.5 s: about two in a second.
  EXPECT_GT(hundredth->p50, 40s);
  EXPECT_LT(hundredth->p50, 60s);
}

TEST(Expectation, a_sample_stands_for_all) {
  const Durations minute = always(1min);
  const RoomSource one[] = {{.takes = &minute, .age = 30s, .times = 50, .again = true}};
  const std::vector<RoomSource> all(50, {.takes = &minute, .age = 30s, .again = true});
  for (const double room : {1.0, 20.0, 120.0}) {
    EXPECT_EQ(when_there_is_room(one, room)->p50, when_there_is_room(all, room)->p50);
    EXPECT_EQ(when_there_is_room(one, room)->p90, when_there_is_room(all, room)->p90);
  }
}

TEST(Expectation, parts_add_up) {
  Durations leases;
  for (int i = 1; i <= 8; ++i) leases.add(std::chrono::minutes(i));
  const std::vector<RoomSource> quarters(4, {.takes = &leases, .room = 0.25});
  const auto half = when_there_is_room(quarters, 0.5), whole = when_there_is_room(quarters, 1);
  EXPECT_LT(half->p50, whole->p50);
  EXPECT_GT(whole->p50, 5min) << "the last of four";
}

// Workers that are always busy, requests that come at random and are served in their order. Each
// is told what to expect from the leases and what was measured so far.
Calibration play(std::uint32_t seed, int workers,
                 const std::function<double(std::mt19937&)>& draw) {
  std::mt19937 random(seed);
  const auto lease = [&] {
    return milliseconds(static_cast<std::int64_t>(draw(random) * 1000) + 1);
  };
  Durations measured;
  Calibration calibration;
  struct Busy {
    Time began, ends;
  };
  std::vector<Busy> busy;
  Time now{1000h};
  for (int i = 0; i < workers; ++i) busy.push_back({now, now + lease()});
  std::deque<Eta> line;
  for (int grants = 0; grants < 500; ++grants) {
    const auto next = std::ranges::min_element(busy, {}, &Busy::ends);
    now = next->ends;
    measured.add(next->ends - next->began);
    if (!line.empty()) {
      if (line.front().p50 != Time{}) calibration.happened(line.front(), now);
      line.pop_front();
    }
    *next = {now, now + lease()};
    while (line.size() < 1 + random() % 12) {
      std::vector<RoomSource> coming;
      for (const Busy& each : busy)
        coming.push_back({.takes = &measured, .age = now - each.began, .again = true});
      const auto expected = when_there_is_room(coming, static_cast<double>(line.size() + 1));
      line.push_back(expected ? Eta{now + expected->p50, now + expected->p90} : Eta{});
    }
  }
  return calibration;
}

void expect_calibrated(const Calibration& calibration, double most_early = 0.7) {
  const auto& score = calibration.total();
  ASSERT_GT(score.expectations, 300);
  const double half = static_cast<double>(score.kept_p50) / static_cast<double>(score.expectations);
  const double most = static_cast<double>(score.kept_p90) / static_cast<double>(score.expectations);
  EXPECT_GT(half, 0.35);
  EXPECT_LT(half, most_early);
  EXPECT_GT(most, 0.8);
  EXPECT_LT(most, 0.99);
}

TEST(Expectation, comes_true_as_often_as_it_says_when_leases_are_alike) {
  std::uniform_real_distribution<double> minutes(50, 70);
  expect_calibrated(play(1, 8, [&](std::mt19937& random) { return minutes(random); }));
}

TEST(Expectation, comes_true_as_often_as_it_says_when_leases_differ_widely) {
  std::exponential_distribution<double> any(1.0 / 120);
  expect_calibrated(play(2, 20, [&](std::mt19937& random) { return any(random); }));
}

TEST(Expectation, errs_on_the_late_side_with_short_and_long_leases) {
  std::uniform_real_distribution<double> any(0, 1);
  const auto draw = [&](std::mt19937& random) {
    return any(random) < 0.8 ? 10 + any(random) : 300 + any(random);
  };
  expect_calibrated(play(3, 5, draw), 0.85);
}

}  // namespace
}  // namespace muster::verdict
