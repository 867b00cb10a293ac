// Which workers a team may use: the table of the proposal for worker pools, row by row.
#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

struct Case {
  std::string name;
  std::vector<std::string> pools = {};  // of the team
  bool own_worker = false;              // the team has one
  std::string asked_pool = {};
  std::vector<std::string> tags = {};
  // The workers that its requests get, one after the other, until nothing is left.
  std::vector<std::string> expected = {};
};

// The workers: one in each of the dedicated pools a, b and c, none in the pool "empty"; two shared
// ones, of which one is in the pool "open"; one of the team itself, if it has one; one of each kind
// with the tag "gpu"; and a shared one with the tag "arm".
const std::vector<Case> cases{
    {.name = "without_anything_of_its_own_it_uses_the_shared_ones", .expected = {"open", "shared"}},
    {.name = "its_pool_first_then_the_shared_ones",
     .pools = {"a"},
     .expected = {"a", "open", "shared"}},
    {.name = "several_pools_are_one_set",
     .pools = {"a", "b"},
     .expected = {"a", "b", "open", "shared"}},
    {.name = "its_own_workers_and_no_others", .own_worker = true, .expected = {"own"}},
    {.name = "pools_take_the_place_of_its_own_workers",
     .pools = {"a"},
     .own_worker = true,
     .expected = {"a", "open", "shared"}},
    {.name = "tags_choose_among_the_candidates",
     .pools = {"a"},
     .tags = {"gpu"},
     .expected = {"a+gpu", "open+gpu", "shared+gpu"}},
    {.name = "tags_choose_among_the_shared_ones",
     .tags = {"gpu"},
     .expected = {"open+gpu", "shared+gpu"}},
    {.name = "tags_choose_among_its_own",
     .own_worker = true,
     .tags = {"gpu"},
     .expected = {"own+gpu"}},
    {.name = "tags_choose_among_several_pools",
     .pools = {"a", "b"},
     .tags = {"gpu"},
     .expected = {"a+gpu", "b+gpu", "open+gpu", "shared+gpu"}},
    {.name = "tags_choose_among_its_pools_whatever_it_owns",
     .pools = {"a"},
     .own_worker = true,
     .tags = {"gpu"},
     .expected = {"a+gpu", "open+gpu", "shared+gpu"}},
    {.name = "the_shared_ones_if_its_pool_has_nobody",
     .pools = {"empty"},
     .expected = {"open", "shared"}},
    {.name = "the_pool_that_has_somebody_then_the_shared_ones",
     .pools = {"a", "empty"},
     .expected = {"a", "open", "shared"}},
    {.name = "the_shared_ones_if_its_pool_has_nobody_whatever_it_owns",
     .pools = {"empty"},
     .own_worker = true,
     .expected = {"open", "shared"}},
    {.name = "the_shared_ones_if_nobody_of_its_pool_has_the_tag",
     .pools = {"a"},
     .tags = {"arm"},
     .expected = {"shared+arm"}},
    {.name = "nobody_if_none_of_its_own_has_the_tag",
     .own_worker = true,
     .tags = {"arm"},
     .expected = {}},
    {.name = "a_tag_that_only_a_shared_one_has", .tags = {"arm"}, .expected = {"shared+arm"}},
    {.name = "a_pool_that_it_names_and_that_has_nobody",
     .pools = {"a", "empty"},
     .asked_pool = "empty",
     .expected = {}},
    {.name = "tags_in_a_pool_that_it_names",
     .pools = {"a", "b"},
     .asked_pool = "b",
     .tags = {"gpu"},
     .expected = {"b+gpu"}},
    {.name = "an_unknown_tag_finds_nobody", .tags = {"gpu", "arm"}, .expected = {}},
    {.name = "a_pool_that_it_names_and_is_attached_to",
     .pools = {"a", "b"},
     .asked_pool = "b",
     .expected = {"b"}},
    {.name = "a_pool_that_it_names_and_is_not_attached_to",
     .pools = {"a"},
     .asked_pool = "c",
     .expected = {}},
    {.name = "a_dedicated_pool_serves_no_stranger", .asked_pool = "a", .expected = {}},
    {.name = "a_shared_pool_that_it_names", .asked_pool = "open", .expected = {"open"}},
    {.name = "a_shared_pool_that_it_names_as_a_fallback",
     .pools = {"a"},
     .asked_pool = "open",
     .expected = {"open"}},
    {.name = "a_shared_pool_is_not_for_a_team_with_workers_of_its_own",
     .own_worker = true,
     .asked_pool = "open",
     .expected = {}},
};

class Candidates : public ::testing::TestWithParam<Case> {};

TEST_P(Candidates, are_those_of_the_table) {
  const Case& row = GetParam();
  Fixture fixture;
  for (const char* pool : {"a", "b", "c", "empty"}) fixture.dedicate(pool, {"somebody"});
  for (const std::string& pool : row.pools) fixture.dedicate(pool, {"team"});
  std::map<std::int64_t, std::string> names;
  const auto add = [&](const std::string& name, const WorkerOffer& offered) {
    names[fixture.worker(offered)] = name;
    WorkerOffer tagged = offered;
    tagged.tags = {"gpu", "linux"};
    names[fixture.worker(tagged)] = name + "+gpu";
  };
  for (const char* pool : {"a", "b", "c", "open"}) add(pool, {.pool = WorkerPoolId(pool)});
  add("shared", {});
  names[fixture.worker({.tags = {"arm"}})] = "shared+arm";
  add("other team's", {.team = TeamId("other")});
  if (row.own_worker) add("own", {.team = TeamId("team")});
  std::vector<std::string> got, order;
  for (int i = 0; i < 6; ++i) {
    const auto request = fixture.ask(NewRequest{.team = TeamId("team"),
                                                .pool = WorkerPoolId(row.asked_pool),
                                                .tags = row.tags,
                                                .strategies = {Strategy::fewest_active}});
    if (const std::int64_t worker = fixture.holds(*request); worker > 0)
      got.push_back(names[worker]);
  }
  // What is dedicated comes before what is shared; within both any order is right.
  const auto shared = [](const std::string& name) {
    return name.starts_with("open") || name.starts_with("shared");
  };
  EXPECT_TRUE(std::ranges::is_partitioned(got, [&](const auto& name) { return !shared(name); }));
  std::ranges::sort(got);
  EXPECT_EQ(got, row.expected);
  EXPECT_EQ(fixture.queue.check(), "");
}

INSTANTIATE_TEST_SUITE_P(Table, Candidates, ::testing::ValuesIn(cases),
                         [](const auto& row) { return row.param.name; });

// -------------------------------------------------------------------------------------------------
// Attachments

TEST(WorkerPools, of_a_team_end_with_the_attachment_and_its_leases_do_not) {
  Fixture fixture;
  fixture.dedicate("a", {"team"});
  const auto worker = fixture.worker(2, "a");
  const auto first = fixture.ask("team");
  ASSERT_EQ(fixture.holds(first), worker);
  ASSERT_TRUE(fixture.queue.detach(WorkerPoolId("a"), {TeamId("team")}, fixture.now));
  const auto second = fixture.ask("team");
  EXPECT_EQ(fixture.holds(first), worker);
  EXPECT_EQ(fixture.holds(second), 0);
  ASSERT_TRUE(fixture.queue.attach(WorkerPoolId("a"), {TeamId("team")}, false, fixture.now));
  EXPECT_EQ(fixture.holds(second), worker) << "a new attachment serves waiting requests";
}

TEST(WorkerPools, are_destroyed_only_without_teams_and_workers) {
  Fixture fixture;
  fixture.dedicate("a", {"team"});
  const auto worker = fixture.worker(1, "a");
  EXPECT_FALSE(fixture.queue.destroy_pool(WorkerPoolId("a"), fixture.now));
  ASSERT_TRUE(fixture.queue.detach(WorkerPoolId("a"), {TeamId("team")}, fixture.now));
  EXPECT_FALSE(fixture.queue.destroy_pool(WorkerPoolId("a"), fixture.now));
  fixture.queue.withdraw(worker, "ended", fixture.now);
  EXPECT_TRUE(fixture.queue.destroy_pool(WorkerPoolId("a"), fixture.now));
  EXPECT_FALSE(fixture.queue.destroy_pool(WorkerPoolId("a"), fixture.now)) << "it is not there";
}

TEST(WorkerPools, are_attached_exclusively_to_teams_without_any) {
  Fixture fixture;
  fixture.dedicate("a", {"team"});
  fixture.dedicate("b", {});
  const auto refused =
      fixture.queue.attach(WorkerPoolId("b"), {TeamId("new"), TeamId("team")}, true, fixture.now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "team team is attached to worker pool a already");
  EXPECT_TRUE(fixture.queue.find_pool(WorkerPoolId("b"))->teams.empty()) << "all or none";
  EXPECT_TRUE(fixture.queue.attach(WorkerPoolId("b"), {TeamId("new")}, true, fixture.now));
  EXPECT_TRUE(fixture.queue.attach(WorkerPoolId("b"), {TeamId("team")}, false, fixture.now));
}

TEST(Tags, that_nobody_has_any_more_are_forgotten) {
  Fixture fixture;
  const auto plain = fixture.worker(2);
  const auto waits_for = [&](const std::string& tag) {
    return *fixture.ask(NewRequest{.team = TeamId("team"), .tags = {tag}, .heartbeat = 24h});
  };
  const auto early = waits_for("tag 5000");
  WorkerOffer worker{.number = fixture.next++, .has = {1, {}}};
  for (int i = 0; i < 6000; ++i) {
    worker.tags = {"tag " + std::to_string(i)};
    fixture.worker(worker);
    if (fixture.holds(early) > 0) fixture.release(early);
    ASSERT_EQ(fixture.queue.check(), "");
  }
  EXPECT_LT(fixture.queue.groups(), 2000U);
  EXPECT_EQ(fixture.holds(early), -1) << "it was served in between";
  EXPECT_EQ(fixture.holds(waits_for("tag 5999")), worker.number);
  EXPECT_EQ(fixture.holds(waits_for("tag 0")), 0);
  EXPECT_EQ(fixture.holds(fixture.ask("team")), plain);
}

TEST(WorkerPools, of_files_are_changed_in_the_file) {
  Fixture fixture;
  fixture.queue.configure_pools({{WorkerPoolId("a"), {"builds.toml", {TeamId("team")}}}},
                                fixture.now);
  const auto worker = fixture.worker(2, "a");
  EXPECT_EQ(fixture.holds(fixture.ask("team")), worker);
  for (const auto& refused :
       {fixture.queue.attach(WorkerPoolId("a"), {TeamId("b")}, false, fixture.now),
        fixture.queue.detach(WorkerPoolId("a"), {TeamId("team")}, fixture.now),
        fixture.queue.set_pool(WorkerPoolId("a"), {}, fixture.now),
        fixture.queue.destroy_pool(WorkerPoolId("a"), fixture.now)}) {
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("builds.toml"), std::string::npos);
  }
  const auto stranger = fixture.ask("stranger");
  EXPECT_EQ(fixture.holds(stranger), 0);
  fixture.queue.configure_pools({}, fixture.now);
  EXPECT_EQ(fixture.holds(stranger), worker) << "it is shared now";
}

}  // namespace
}  // namespace muster::queue::testing
