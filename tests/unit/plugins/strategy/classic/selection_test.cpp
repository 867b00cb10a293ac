#include "plugins/strategy/classic/selection.hpp"

#include <set>

#include <gtest/gtest.h>

namespace muster::classic {
namespace {

SelectRequest::Offer offer(const std::string& id, std::int64_t instances, std::int64_t capacity,
                           double price, double weight = 1, double reliability = 1) {
  return {BidId(id), ProviderId("p-" + id), weight,
          Bid{LaunchConfigId("lc-" + id), capacity, instances, price, reliability}};
}

SelectRequest request(std::int64_t capacity, std::vector<SelectRequest::Offer> offers,
                      std::uint64_t seed = 0) {
  return {WorkerPoolId("a/b"), capacity, {0, 1000}, std::move(offers), seed};
}

std::map<std::string, std::int64_t> taken(const Selection& selection) {
  std::map<std::string, std::int64_t> by_bid;
  for (const auto& choice : selection.choices) by_bid[choice.bid_id.str()] = choice.instances;
  return by_bid;
}

using Taken = std::map<std::string, std::int64_t>;

std::string mistake(const json::object& document, const std::string& where = "") {
  const auto read = read_preferences(document, {}, where);
  return read ? "accepted" : read.error().message;
}

TEST(ClassicPreferences, say_which_key_is_wrong) {
  EXPECT_EQ(mistake({{"mode", "dearest"}}), "mode: \"dearest\" is none of random, cheapestBiased");
  EXPECT_EQ(mistake({{"mode", 7}}, "settings.strategy"),
            "settings.strategy.mode: expected a string, got the number 7");
  EXPECT_EQ(mistake({{"minPrice", -1}}), "minPrice: is negative");
  EXPECT_EQ(mistake({{"minPrice", 2}, {"maxPrice", 1}}), "minPrice: 2 is above maxPrice 1");
  EXPECT_EQ(mistake({{"maxBid", 0}}), "maxBid: is not above 0");
  EXPECT_EQ(mistake({{"utility", {{"ec2", 0}}}}), "utility.ec2: is not above 0");
}

TEST(ClassicPreferences, of_a_pool_replace_those_of_the_instance_one_by_one) {
  Preferences base;
  base.mode = Mode::cheapest_biased;
  base.max_price = 3;
  const auto read = read_preferences({{"maxPrice", 1}}, base, "");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->mode, Mode::cheapest_biased);
  EXPECT_EQ(read->max_price, 1);
}

TEST(ClassicSelect, nothing_comes_of_no_offers_no_capacity_or_dead_ones) {
  EXPECT_EQ(select(request(5, {}), {})->reason, "nothing: there are no offers");
  EXPECT_EQ(select(request(0, {offer("a", 5, 1, 1)}), {})->reason, "nothing: 0 capacity wanted");
  const auto dead =
      select(request(5, {offer("a", 0, 1, 1), offer("b", 1, 0, 1), offer("c", 1, 1, 1, 0)}), {});
  EXPECT_TRUE(dead->choices.empty());
  EXPECT_EQ(dead->reason,
            "nothing: none of 3 offers has instances, capacity and a healthy launch configuration");
  EXPECT_FALSE(select(request(2'000'000'000'000, {}), {}));
}

TEST(ClassicSelect, random_is_uniform_over_the_offers_whatever_they_cost) {
  std::map<std::string, int> count;
  for (std::uint64_t seed = 0; seed < 3000; ++seed)
    for (const auto& [bid, instances] : taken(*select(
             request(1, {offer("a", 9, 1, 0.1), offer("b", 9, 1, 4), offer("c", 9, 1, 1)}, seed),
             {})))
      ++count[bid];
  for (const char* bid : {"a", "b", "c"}) {
    EXPECT_GT(count[bid], 900) << bid;
    EXPECT_LT(count[bid], 1100) << bid;
  }
}

TEST(ClassicSelect, the_seed_decides_the_draws) {
  const std::vector<SelectRequest::Offer> offers{offer("a", 50, 1, 1), offer("b", 50, 2, 1),
                                                 offer("c", 50, 3, 1)};
  std::set<Taken> seen;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const auto once = taken(*select(request(40, offers, seed), {}));
    EXPECT_EQ(once, taken(*select(request(40, offers, seed), {})));
    seen.insert(once);
  }
  EXPECT_GT(seen.size(), 5u);
}

TEST(ClassicSelect, overshoots_by_less_than_one_instance) {
  for (std::int64_t capacity = 1; capacity <= 60; ++capacity)
    for (const Mode mode : {Mode::random, Mode::cheapest_biased}) {
      Preferences preferences;
      preferences.mode = mode;
      const auto selection = taken(*select(
          request(capacity, {offer("a", 99, 4, 0.1), offer("b", 99, 7, 0.1)}, 3), preferences));
      std::int64_t total = 0;
      for (const auto& [bid, instances] : selection) total += instances * (bid == "a" ? 4 : 7);
      EXPECT_GE(total, capacity);
      EXPECT_LE(total, capacity + 6);
    }
}

TEST(ClassicSelect, an_offer_is_taken_at_most_as_often_as_it_says) {
  const auto selection = select(request(10, {offer("a", 2, 1, 1), offer("b", 3, 1, 1)}), {});
  EXPECT_EQ(taken(*selection), (Taken{{"a", 2}, {"b", 3}}));
  EXPECT_EQ(selection->reason,
            "5 instances with 5 of 10 capacity, drawn at random from 2 offers; 5 more than the "
            "offers hold");
}

TEST(ClassicSelect, cheapest_biased_weighs_the_price_with_health) {
  Preferences preferences;
  preferences.mode = Mode::cheapest_biased;
  EXPECT_EQ(bias(offer("a", 1, 1, 1)), 1);
  EXPECT_EQ(bias(offer("a", 1, 1, 1, 1, 0.75)), 2);
  EXPECT_EQ(bias(offer("a", 1, 1, 1, 0.5, 0.5)), 4);
  const std::vector<SelectRequest::Offer> offers{offer("flaky", 9, 1, 0.6, 1, 0.75),
                                                 offer("steady", 2, 1, 1.0)};
  EXPECT_EQ(taken(*select(request(3, offers), preferences)), (Taken{{"steady", 2}, {"flaky", 1}}));
  EXPECT_EQ(select(request(1, offers), preferences)->reason,
            "1 instance with 1 of 1 capacity, by the lowest price × bias from 2 offers; first "
            "steady: 1 × 1");
}

TEST(ClassicSelect, divides_the_price_by_utility) {
  Preferences preferences;
  preferences.mode = Mode::cheapest_biased;
  preferences.utility = {{"p-b", 4.0}, {"lc-c", 0.5}};
  const std::vector<SelectRequest::Offer> offers{offer("a", 1, 1, 0.5), offer("b", 1, 1, 1),
                                                 offer("c", 1, 1, 0.2)};
  EXPECT_EQ(taken(*select(request(2, offers), preferences)), (Taken{{"b", 1}, {"c", 1}}));
}

TEST(ClassicSelect, a_price_above_the_maximum_ends_it_with_what_was_taken_so_far) {
  Preferences preferences;
  preferences.mode = Mode::cheapest_biased;
  preferences.max_price = 1;
  const auto selection =
      select(request(5, {offer("a", 2, 1, 0.5), offer("b", 9, 1, 1.5)}), preferences);
  EXPECT_EQ(taken(*selection), (Taken{{"a", 2}}));
  EXPECT_EQ(selection->reason,
            "2 instances with 2 of 5 capacity, by the lowest price × bias from 2 offers; first a: "
            "0.5 × 1; stopped at b: its price 1.5 is above maxPrice 1");
}

TEST(ClassicSelect, a_bid_above_ten_an_hour_drops_everything) {
  Preferences preferences;
  preferences.mode = Mode::cheapest_biased;
  // The bid is twice the price of the whole instance: 2 × 4 × 1.3.
  const auto selection =
      select(request(8, {offer("a", 2, 1, 0.5), offer("b", 9, 4, 1.3)}), preferences);
  EXPECT_TRUE(selection->choices.empty());
  EXPECT_NE(selection->reason.find("a bid of 10.4 per hour for b is above maxBid 10"),
            std::string::npos)
      << selection->reason;
  preferences.max_bid = 11;
  EXPECT_EQ(taken(*select(request(3, {offer("b", 9, 4, 1.3)}), preferences)), (Taken{{"b", 1}}));
}

TEST(ClassicSelect, the_minimal_price_divided_by_utility_is_the_bid_of_cheap_offers) {
  Preferences preferences;
  preferences.min_price = 48;  // bid 48 / 4 = 12, above the limit
  EXPECT_TRUE(select(request(4, {offer("a", 1, 4, 0.01)}), preferences)->choices.empty());
  preferences.min_price = 40;  // bid 10, at the limit
  EXPECT_EQ(taken(*select(request(4, {offer("a", 1, 4, 0.01)}), preferences)), (Taken{{"a", 1}}));
}

TEST(ClassicSelect, an_enormous_need_is_answered_without_an_enormous_loop) {
  const auto selection = select(request(900'000'000'000, {offer("a", 1'000'000'000'000, 1, 0.1),
                                                          offer("b", 1'000'000'000'000, 2, 0.1)}),
                                {});
  std::int64_t total = 0;
  for (const auto& [bid, instances] : taken(*selection)) total += instances * (bid == "a" ? 1 : 2);
  EXPECT_GE(total, 900'000'000'000);
  EXPECT_LE(total, 900'000'000'001);
}

}  // namespace
}  // namespace muster::classic
