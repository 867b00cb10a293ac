#include "host/fleet/bidding/weights.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

namespace muster::bidding {
namespace {

using namespace std::chrono_literals;

WeightInput running(std::int64_t workers) {
  return {.running = workers, .health = {}};
}

WeightInput fared(std::int64_t tried, std::int64_t failed, std::int64_t registered) {
  WeightInput input{.health = {.tried = tried, .failed = failed, .registered = registered}};
  input.health.errors_by_class[2] = failed;
  return input;
}

std::vector<Weight> of(std::vector<WeightInput> inputs) {
  return weights(inputs);
}

TEST(Weights, of_nothing_are_nothing) {
  EXPECT_TRUE(of({}).empty());
}

TEST(Weights, an_initial_weight_that_makes_no_sense_is_cut) {
  const auto weights =
      of({{.initial_weight = -3, .health = {}}, {.initial_weight = 7, .health = {}}});
  EXPECT_EQ(weights[0].value, 0);
  EXPECT_EQ(weights[1].value, 1);
}

TEST(Weights, nothing_created_leaves_all_equal) {
  for (const Weight& weight : of({{}, {}})) {
    EXPECT_EQ(weight.value, 1);
    EXPECT_EQ(weight.arithmetic, "no recent failures");
  }
}

TEST(Weights, ten_and_five_running_make_a_third_and_two_thirds) {
  const auto weights = of({running(10), running(5)});
  EXPECT_DOUBLE_EQ(weights[0].value, 1.0 - 10.0 / 15);
  EXPECT_DOUBLE_EQ(weights[1].value, 1.0 - 5.0 / 15);
  EXPECT_EQ(weights[0].arithmetic, "(1 − 10/15 running) = 0.33");
  EXPECT_EQ(weights[1].arithmetic, "(1 − 5/15 running) = 0.67");
}

TEST(Weights, one_alone_competes_with_nobody) {
  EXPECT_EQ(of({running(10)})[0].value, 1);
}

TEST(Weights, one_that_has_all_workers_is_the_last_choice_but_a_choice) {
  const auto weights = of({running(10), running(0)});
  EXPECT_EQ(weights[0].value, minimal_weight);
  EXPECT_EQ(weights[0].arithmetic, "0.01 (it has all 10 running) = 0.01");
  EXPECT_EQ(weights[1].value, 1);
}

TEST(Weights, failures_lower_by_their_rate) {
  const auto weights = of({fared(4, 1, 3), fared(2, 0, 2), {}});
  EXPECT_DOUBLE_EQ(weights[0].value, 0.75);
  EXPECT_EQ(weights[0].arithmetic, "(1 − 1/4 failed) = 0.75");
  EXPECT_EQ(weights[1].value, 1);
  EXPECT_EQ(weights[2].value, 1);
}

TEST(Weights, more_failures_than_launches_in_the_hour_are_no_less_than_zero) {
  const auto weights = of({fared(2, 9, 1), {}});
  EXPECT_EQ(weights[0].value, 0);
  EXPECT_EQ(weights[0].arithmetic, "(1 − 2/2 failed) = 0.00");
}

TEST(Weights, created_none_registered_and_errors_make_zero) {
  const auto weights = of({fared(3, 1, 0), {}});
  EXPECT_EQ(weights[0].value, 0);
  EXPECT_EQ(weights[0].arithmetic,
            "0 (3 created, none registered, 1 error in the last hour) = 0.00");
}

TEST(Weights, one_error_does_not_make_zero_while_workers_run) {
  WeightInput input = fared(2, 1, 0);
  input.running = 5;
  EXPECT_DOUBLE_EQ(of({input, running(5)})[0].value, 0.25) << "those that run have registered";
}

TEST(Weights, created_and_none_registered_yet_is_no_reason_for_half_an_hour) {
  WeightInput input = fared(3, 0, 0);
  input.oldest_unregistered = 30min;
  EXPECT_EQ(of({input, {}})[0].value, 1);
}

TEST(Weights, after_half_an_hour_without_registration_it_falls_to_zero_at_an_hour) {
  WeightInput input = fared(3, 0, 0);
  input.oldest_unregistered = 45min;
  const Weight half = of({input, {}})[0];
  EXPECT_DOUBLE_EQ(half.value, 0.5);
  EXPECT_EQ(half.arithmetic, "0.50 (none registered for 45 minutes) = 0.50");
  input.oldest_unregistered = 60min;
  EXPECT_EQ(of({input, {}})[0].value, 0);
  input.oldest_unregistered = 24h;
  EXPECT_EQ(of({input, {}})[0].value, 0);
}

TEST(Weights, one_that_registered_ends_the_doubt) {
  WeightInput input = fared(3, 0, 1);
  input.oldest_unregistered = 50min;
  EXPECT_EQ(of({input, {}})[0].value, 1);
}

TEST(Weights, factors_multiply_in_words) {
  WeightInput input = fared(4, 1, 3);
  input.initial_weight = 0.5;
  input.running = 10;
  const Weight weight = of({input, running(10)})[0];
  EXPECT_DOUBLE_EQ(weight.value, 0.5 * 0.5 * 0.75);
  EXPECT_EQ(weight.arithmetic, "0.50 initially × (1 − 10/20 running) × (1 − 1/4 failed) = 0.19");
}

TEST(Weights, if_all_would_be_zero_the_healthiest_keeps_the_least) {
  const auto weights = of({fared(9, 9, 0), fared(3, 3, 0), fared(5, 5, 0)});
  EXPECT_EQ(weights[0].value, 0);
  EXPECT_EQ(weights[1].value, minimal_weight) << "it was tried least";
  EXPECT_EQ(weights[2].value, 0);
  EXPECT_NE(weights[1].arithmetic.find("all would be zero, so the healthiest keeps 0.01"),
            std::string::npos);
}

TEST(Weights, one_alone_that_only_fails_keeps_the_least) {
  EXPECT_EQ(of({fared(9, 9, 0)})[0].value, minimal_weight);
}

TEST(Weights, the_hour_heals) {
  Health health;
  const Time start(1000h);
  health.failed(start, ErrorClass::quota);
  const auto at = [&](Time now) {
    return of({WeightInput{.health = health.last_hour(now)}, {}})[0].value;
  };
  EXPECT_EQ(at(start + 59min), 0);
  EXPECT_EQ(at(start + 61min), 1);
}

TEST(Weights, are_in_zero_to_one_and_somebody_is_above_zero_whatever_happened) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 5000; ++round) {
    std::vector<WeightInput> inputs(1 + random() % 6);
    for (WeightInput& input : inputs) {
      input =
          fared(static_cast<std::int64_t>(random() % 5), static_cast<std::int64_t>(random() % 7),
                static_cast<std::int64_t>(random() % 3));
      input.running = static_cast<std::int64_t>(random() % 4);
      input.initial_weight = static_cast<double>(random() % 11) / 10;
      if (random() % 2) input.oldest_unregistered = std::chrono::minutes(random() % 90);
    }
    const auto weights = of(inputs);
    for (const Weight& weight : weights) {
      EXPECT_GE(weight.value, 0);
      EXPECT_LE(weight.value, 1);
      EXPECT_FALSE(weight.arithmetic.empty());
    }
    EXPECT_TRUE(
        std::ranges::any_of(weights, [](const Weight& weight) { return weight.value > 0; }));
  }
}

}  // namespace
}  // namespace muster::bidding
