#include "plugins/strategy/estimator/selection.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/plugins/strategy/offers.hpp"

namespace muster::estimator {
namespace {

using testing::offer;
using testing::select_request;
using testing::taken;
using testing::Taken;

TEST(EstimatorSelect, nothing_comes_of_no_offers_no_capacity_or_dead_ones) {
  EXPECT_EQ(select(select_request(5, {}))->reason, "took nothing: there are no offers");
  EXPECT_EQ(select(select_request(0, {offer("a", 5, 1, 1)}))->reason,
            "took nothing: 0 capacity wanted");
  EXPECT_EQ(select(select_request(5, {offer("a", 0, 1, 1), offer("b", 1, 0, 1)}))->reason,
            "took nothing: none of 2 offers has instances, capacity and a weight above 0");
  EXPECT_FALSE(select(select_request(2'000'000'000'000, {})));
}

TEST(EstimatorSelect, an_offer_without_room_or_weight_gets_no_instance) {
  for (std::uint64_t seed = 0; seed < 50; ++seed)
    EXPECT_EQ(
        taken(*select(select_request(
            5, {offer("full", 0, 1, 1), offer("held", 9, 1, 1, 0), offer("a", 9, 1, 1)}, seed))),
        (Taken{{"a", 5}}));
}

TEST(EstimatorSelect, draws_in_proportion_to_the_weights_whatever_the_price) {
  std::map<std::string, int> count;
  for (std::uint64_t seed = 0; seed < 4000; ++seed)
    for (const auto& [bid, instances] : taken(*select(select_request(
             1, {offer("a", 9, 1, 9, 1), offer("b", 9, 1, 0.1, 0.5), offer("c", 9, 1, 1, 0.5)},
             seed))))
      count[bid] += static_cast<int>(instances);
  EXPECT_NEAR(count["a"], 2000, 150);
  EXPECT_NEAR(count["b"], 1000, 120);
  EXPECT_NEAR(count["c"], 1000, 120);
}

TEST(EstimatorSelect, the_seed_decides_the_draws) {
  std::set<Taken> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto request =
        select_request(40, {offer("a", 50, 1, 1), offer("b", 50, 2, 1, 0.5)}, seed);
    const auto once = taken(*select(request));
    EXPECT_EQ(once, taken(*select(request)));
    seen.insert(once);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(EstimatorSelect, overshoots_by_less_than_one_instance) {
  for (std::int64_t capacity = 1; capacity <= 60; ++capacity) {
    const auto selection = taken(*select(
        select_request(capacity, {offer("a", 99, 4, 0.1), offer("b", 99, 7, 0.1, 0.3)}, 3)));
    std::int64_t total = 0;
    for (const auto& [bid, instances] : selection) total += instances * (bid == "a" ? 4 : 7);
    EXPECT_GE(total, capacity);
    EXPECT_LE(total, capacity + 6);
  }
}

TEST(EstimatorSelect, says_what_it_took_and_what_is_missing) {
  EXPECT_EQ(select(select_request(10, {offer("a", 2, 1, 1, 0.5), offer("b", 3, 1, 1)}))->reason,
            "drawn by weight from 2 of 2 offers: 2 of lc-a (bid a, weight 0.5), 3 of lc-b (bid b, "
            "weight 1); 5 of 10 capacity, 5 more than the offers hold");
}

}  // namespace
}  // namespace muster::estimator
