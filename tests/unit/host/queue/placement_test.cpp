// Which of several workers with room a request gets.
#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

NewRequest with(std::vector<Strategy> strategies, std::string cache_key = {}) {
  return {
      .team = TeamId("a"), .strategies = std::move(strategies), .cache_key = std::move(cache_key)};
}

TEST(Placing, by_fewest_active_fills_all_alike) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4);
  std::map<std::int64_t, int> got;
  for (int i = 0; i < 8; ++i) ++got[fixture.holds(*fixture.ask(with({Strategy::fewest_active})))];
  for (const auto& [worker, count] : got) EXPECT_EQ(count, 2) << worker;
}

TEST(Placing, by_pack_fills_one_after_the_other) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4);
  std::map<std::int64_t, int> got;
  for (int i = 0; i < 8; ++i) ++got[fixture.holds(*fixture.ask(with({Strategy::pack})))];
  EXPECT_EQ(got.size(), 2U);
}

TEST(Placing, by_random_uses_all_and_not_in_turn) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(1000);
  std::map<std::int64_t, int> got;
  for (int i = 0; i < 1000; ++i) ++got[fixture.holds(*fixture.ask(with({Strategy::random})))];
  ASSERT_EQ(got.size(), 4U);
  for (const auto& [worker, count] : got) {
    EXPECT_GT(count, 180) << worker;
    EXPECT_LT(count, 320) << worker;
  }
}

TEST(Placing, by_locality_returns_to_who_has_the_cache) {
  Fixture fixture;
  for (int i = 0; i < 50; ++i) fixture.worker(2);
  const std::vector<Strategy> chain{Strategy::locality, Strategy::fewest_active};
  const auto first = fixture.holds(*fixture.ask(with(chain, "repository")));
  const auto other = fixture.holds(*fixture.ask(with(chain, "something else")));
  EXPECT_NE(other, first) << "it is not the emptiest";
  EXPECT_EQ(fixture.holds(*fixture.ask(with(chain, "repository"))), first);
  EXPECT_NE(fixture.holds(*fixture.ask(with(chain, "repository"))), first)
      << "that has no room left";
}

TEST(Placing, by_locality_forgets_old_keys_and_gone_workers) {
  Fixture fixture;
  const auto worker = fixture.worker(100);
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE(fixture.ask(with({Strategy::locality}, "key" + std::to_string(i))));
  EXPECT_LE(fixture.queue.find_worker(worker)->cache_keys.size(), 8U);
  fixture.queue.withdraw(worker, "gone", fixture.now);
  const auto next = fixture.worker(1);
  const auto last = fixture.ask(with({Strategy::locality}, "key19"));
  EXPECT_TRUE(fixture.holds(*last) == next || fixture.holds(*last) == 0);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Placing, by_spread_uses_the_place_where_the_team_has_least) {
  Fixture fixture;
  std::map<std::int64_t, std::string> place;
  for (int i = 0; i < 4; ++i)
    for (const char* name : {"east", "west"})
      place[fixture.worker({.place = name, .has = {4, {}}})] = name;
  std::map<std::string, int> got;
  for (int i = 0; i < 10; ++i) ++got[place[fixture.holds(*fixture.ask(with({Strategy::spread})))]];
  EXPECT_EQ(got["east"], 5);
  EXPECT_EQ(got["west"], 5);
}

TEST(Placing, a_later_strategy_of_a_chain_decides_between_equals) {
  Fixture fixture;
  std::map<std::int64_t, std::string> place;
  for (int i = 0; i < 3; ++i)
    for (const char* name : {"east", "west"})
      place[fixture.worker({.place = name, .has = {4, {}}})] = name;
  std::map<std::int64_t, int> got;
  for (int i = 0; i < 8; ++i)
    ++got[fixture.holds(*fixture.ask(with({Strategy::spread, Strategy::pack})))];
  EXPECT_EQ(got.size(), 2U) << "both places alike, and one worker of each is packed";
}

TEST(Placing, looks_at_all_resources) {
  Fixture fixture;
  const auto small = fixture.worker({.has = {8, {{"memory", 4}}}});
  const auto large = fixture.worker({.has = {8, {{"memory", 64}}}});
  const auto ask = [&](std::int64_t memory) {
    return fixture.holds(
        *fixture.ask(NewRequest{.team = TeamId("a"), .needs = {1, {{"memory", memory}}}}));
  };
  EXPECT_EQ(ask(32), large);
  EXPECT_EQ(ask(32), large);
  EXPECT_EQ(ask(32), 0);
  EXPECT_EQ(fixture.queue.find_worker(small)->used.active_task, 0);
}

// Of four workers with room for four each, those that eight requests of one team got.
std::size_t workers_used(Fixture& fixture, const NewRequest& ask) {
  std::set<std::int64_t> used;
  for (int i = 0; i < 8; ++i) used.insert(fixture.holds(*fixture.ask(ask)));
  return used.size();
}

constexpr std::size_t packed = 2, alike = 4;

TEST(Placing, is_what_the_pool_says_that_the_request_names) {
  const WorkerPoolId full("full"), flat("flat");
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4, "full");
  for (int i = 0; i < 4; ++i) fixture.worker(4, "flat");
  fixture.queue.configure_placement({{full, {Strategy::pack}}});
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("a"), .pool = flat}), alike)
      << "as the host says";
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("a"), .pool = full}), packed);
}

TEST(Placing, of_a_request_says_more_than_its_pool) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4, "full");
  fixture.queue.configure_placement({{WorkerPoolId("full"), {Strategy::pack}}});
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("a"),
                                   .pool = WorkerPoolId("full"),
                                   .strategies = {Strategy::fewest_active}}),
            alike);
}

TEST(Placing, without_a_pool_is_that_of_the_first_of_the_teams_pools_that_has_one) {
  Fixture fixture;
  // Not in the order of their names.
  for (const char* pool : {"c", "b", "a"}) fixture.dedicate(pool, {"team"});
  for (int i = 0; i < 4; ++i) fixture.worker(4, "a");
  fixture.queue.configure_placement(
      {{WorkerPoolId("b"), {Strategy::pack}}, {WorkerPoolId("c"), {Strategy::fewest_active}}});
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("team")}), packed);
}

TEST(Placing, of_a_pool_ends_when_no_file_says_it_any_more) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4, "full");
  fixture.queue.configure_placement({{WorkerPoolId("full"), {Strategy::pack}}});
  fixture.queue.configure_placement({});
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("a"), .pool = WorkerPoolId("full")}), alike);
}

TEST(Placing, else_is_as_the_host_says_also_if_it_changes_its_mind) {
  Fixture fixture;
  for (int i = 0; i < 4; ++i) fixture.worker(4);
  Settings other;
  other.strategies = {Strategy::pack};
  fixture.queue.configure(other, fixture.now);
  EXPECT_EQ(workers_used(fixture, {.team = TeamId("a")}), packed);
}

}  // namespace
}  // namespace muster::queue::testing
