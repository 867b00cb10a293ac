#include "plugins/strategy/cheapest/selection.hpp"

#include <set>

#include <gtest/gtest.h>

#include "tests/unit/plugins/strategy/offers.hpp"

namespace muster::cheapest {
namespace {

using testing::offer;
using testing::select_request;
using testing::taken;
using testing::Taken;

TEST(CheapestPreferences, say_which_key_is_wrong) {
  const auto mistake = [](const json::object& document, const char* where) {
    const auto read = read_preferences(document, {}, where);
    return read ? "accepted" : read.error().message;
  };
  EXPECT_EQ(mistake({{"maxPrice", -1}}, ""), "maxPrice: is negative");
  EXPECT_EQ(mistake({{"maxPrice", "low"}}, "settings.strategy"),
            "settings.strategy.maxPrice: expected a number, got a string");
}

TEST(CheapestPreferences, of_a_pool_replace_those_of_the_instance) {
  EXPECT_EQ(read_preferences({{"maxPrice", 1}}, {3}, "")->max_price, 1);
  EXPECT_EQ(read_preferences({{"other", 1}}, {3}, "")->max_price, 3);
}

TEST(CheapestSelect, nothing_comes_of_no_offers_no_capacity_or_dead_ones) {
  EXPECT_EQ(select(select_request(5, {}), {})->reason, "took nothing: there are no offers");
  EXPECT_EQ(select(select_request(-1, {offer("a", 5, 1, 1)}), {})->reason,
            "took nothing: -1 capacity wanted");
  const auto dead = select(
      select_request(5, {offer("a", 0, 1, 1), offer("b", 1, 0, 1), offer("c", 1, 1, 1, 0)}), {});
  EXPECT_TRUE(dead->choices.empty());
  EXPECT_EQ(dead->reason,
            "took nothing: of 3 offers, 1 with weight 0, 2 without instances, capacity or price");
  EXPECT_FALSE(select(select_request(2'000'000'000'000, {}), {}));
}

TEST(CheapestSelect, a_weight_of_zero_is_never_taken_even_for_free) {
  const auto selection =
      select(select_request(5, {offer("free", 9, 1, 0, 0), offer("dear", 2, 1, 9)}), {});
  EXPECT_EQ(taken(*selection), (Taken{{"dear", 2}}));
}

TEST(CheapestSelect, uses_up_the_cheapest_before_the_next) {
  const auto selection = select(
      select_request(12, {offer("dear", 9, 1, 3), offer("low", 5, 1, 1), offer("mid", 5, 1, 2)}),
      {});
  EXPECT_EQ(taken(*selection), (Taken{{"low", 5}, {"mid", 5}, {"dear", 2}}));
}

TEST(CheapestSelect, health_makes_a_price_dearer) {
  EXPECT_DOUBLE_EQ(effective_price(offer("a", 1, 1, 0.5, 0.5, 0.5)), 2);
  EXPECT_DOUBLE_EQ(effective_price(offer("a", 1, 1, 0.5, 1, 0)), 500);
  const auto selection = select(
      select_request(1, {offer("flaky", 9, 1, 0.6, 1, 0.5), offer("steady", 9, 1, 1.0)}), {});
  EXPECT_EQ(taken(*selection), (Taken{{"steady", 1}}));
}

TEST(CheapestSelect, the_reason_has_the_numbers) {
  const auto selection =
      select(select_request(5, {offer("a", 9, 1, 0.042, 1, 0.9), offer("b", 9, 1, 0.051)}), {});
  EXPECT_EQ(selection->reason,
            "took 5 of lc-a (bid a) at 0.042/h per capacity, health 0.9; next best 0.051, health 1 "
            "(lc-b)");
  Preferences preferences{0.05};
  EXPECT_EQ(select(select_request(12, {offer("a", 9, 1, 0.042), offer("b", 9, 1, 0.051),
                                       offer("c", 1, 1, 0.01, 0)}),
                   preferences)
                ->reason,
            "took 9 of lc-a (bid a) at 0.042/h per capacity, health 1; 3 more than the offers "
            "hold; left out: 1 with weight 0, 1 above maxPrice 0.05");
}

TEST(CheapestSelect, the_maximum_is_of_the_offers_own_price) {
  const auto selection =
      select(select_request(2, {offer("sick", 1, 1, 0.9, 0.1), offer("dear", 9, 1, 1.1)}), {1.0});
  EXPECT_EQ(taken(*selection), (Taken{{"sick", 1}}));
  EXPECT_TRUE(select(select_request(2, {offer("dear", 9, 1, 1.1)}), {1.0})->choices.empty());
}

TEST(CheapestSelect, overshoots_by_less_than_one_instance) {
  for (std::int64_t capacity = 1; capacity <= 60; ++capacity) {
    const auto selection = taken(
        *select(select_request(capacity, {offer("a", 3, 4, 0.1), offer("b", 99, 7, 0.2)}), {}));
    std::int64_t total = 0;
    for (const auto& [bid, instances] : selection) total += instances * (bid == "a" ? 4 : 7);
    EXPECT_GE(total, capacity);
    EXPECT_LE(total, capacity + 6);
  }
}

TEST(CheapestSelect, the_seed_orders_equals_and_nothing_else) {
  std::map<std::string, int> first;
  for (std::uint64_t seed = 0; seed < 900; ++seed) {
    const auto request = select_request(
        1,
        {offer("a", 1, 1, 1), offer("b", 1, 1, 1), offer("c", 1, 1, 1), offer("dear", 1, 1, 1.01)},
        seed);
    const auto once = taken(*select(request, {}));
    EXPECT_EQ(once, taken(*select(request, {})));
    ++first[once.begin()->first];
  }
  for (const char* bid : {"a", "b", "c"}) EXPECT_NEAR(first[bid], 300, 60) << bid;
  EXPECT_EQ(first.count("dear"), 0u);
}

}  // namespace
}  // namespace muster::cheapest
