#include "host/fleet/bidding/fair_share.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace muster::bidding {
namespace {

using Claims = std::vector<std::int64_t>;

std::int64_t sum(const Claims& numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), std::int64_t{0});
}

TEST(FairShare, without_claims_there_are_no_shares) {
  EXPECT_TRUE(fair_shares({}, 10, 0).empty());
}

TEST(FairShare, a_limit_below_zero_gives_nothing) {
  EXPECT_EQ(fair_shares(Claims{3, 4}, -5, 1), (Claims{0, 0}));
}

TEST(FairShare, a_claim_below_zero_takes_and_gives_nothing) {
  EXPECT_EQ(fair_shares(Claims{-7, 4}, 10, 0), (Claims{0, 4}));
  EXPECT_EQ(fair_shares(Claims{-7, 4, 4}, 5, 2), (Claims{0, 2, 3}));
}

TEST(FairShare, claims_beyond_all_measure_do_not_overflow) {
  const auto most = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(fair_shares(Claims{most, most, 1}, 101, 0), (Claims{50, 50, 1}));
  EXPECT_EQ(fair_shares(Claims{most, 0}, most, 0), (Claims{most, 0}));
}

TEST(FairShare, everybody_gets_all_while_there_is_enough) {
  EXPECT_EQ(fair_shares(Claims{3, 0, 4}, 7, 2), (Claims{3, 0, 4}));
}

TEST(FairShare, small_claims_are_met_and_the_large_ones_share_the_rest) {
  EXPECT_EQ(fair_shares(Claims{100, 2, 100}, 12, 0), (Claims{5, 2, 5}));
}

TEST(FairShare, the_remainder_goes_round_with_the_first) {
  EXPECT_EQ(fair_shares(Claims{5, 5, 5}, 7, 0), (Claims{3, 2, 2}));
  EXPECT_EQ(fair_shares(Claims{5, 5, 5}, 7, 1), (Claims{2, 3, 2}));
  EXPECT_EQ(fair_shares(Claims{5, 5, 5}, 7, 5), (Claims{2, 2, 3}));
}

// Nobody over its claim, nothing wasted, and nobody who asks for more than it gets sees another
// with more than one above its own.
void expect_max_min(const Claims& claims, std::int64_t limit, const Claims& shares) {
  ASSERT_EQ(shares.size(), claims.size());
  EXPECT_EQ(sum(shares), std::min(sum(claims), limit));
  for (std::size_t i = 0; i < claims.size(); ++i) {
    EXPECT_GE(shares[i], 0);
    EXPECT_LE(shares[i], claims[i]);
    if (shares[i] == claims[i]) continue;
    for (const std::int64_t other : shares) EXPECT_LE(other, shares[i] + 1);
  }
}

TEST(FairShare, is_max_min_fair_for_any_claims) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 3000; ++round) {
    Claims claims(random() % 9);
    for (auto& claim : claims) claim = static_cast<std::int64_t>(random() % 40);
    const auto limit = static_cast<std::int64_t>(random() % 200);
    expect_max_min(claims, limit, fair_shares(claims, limit, random() % 20));
    if (::testing::Test::HasFailure()) FAIL() << "in round " << round;
  }
}

TEST(FairShare, no_place_in_the_list_is_better_over_all_firsts) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    const std::size_t count = 1 + random() % 8;
    const Claims claims(count, 50);
    const auto limit = static_cast<std::int64_t>(random() % 400);
    Claims total(count, 0);
    for (std::size_t first = 0; first < count; ++first) {
      const auto shares = fair_shares(claims, limit, first);
      for (std::size_t i = 0; i < count; ++i) total[i] += shares[i];
    }
    EXPECT_EQ(std::ranges::min(total), std::ranges::max(total)) << "limit " << limit;
  }
}

TEST(FairShare, a_change_of_places_changes_only_the_places) {
  const Claims shares = fair_shares(Claims{9, 1, 4}, 10, 0);
  const Claims turned = fair_shares(Claims{4, 9, 1}, 10, 1);
  EXPECT_EQ(turned, (Claims{shares[2], shares[0], shares[1]}));
}

}  // namespace
}  // namespace muster::bidding
