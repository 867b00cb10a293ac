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
  Fixture scene;
  for (const char* pool : {"a", "b", "c", "empty"}) scene.dedicate(pool, {"somebody"});
  for (const std::string& pool : row.pools) scene.dedicate(pool, {"team"});
  std::map<std::int64_t, std::string> names;
  const auto add = [&](const std::string& name, const Offered& offered) {
    names[scene.worker(offered)] = name;
    Offered tagged = offered;
    tagged.tags = {"gpu", "linux"};
    names[scene.worker(tagged)] = name + "+gpu";
  };
  for (const char* pool : {"a", "b", "c", "open"}) add(pool, {.pool = WorkerPoolId(pool)});
  add("shared", {});
  names[scene.worker({.tags = {"arm"}})] = "shared+arm";
  add("other team's", {.team = TeamId("other")});
  if (row.own_worker) add("own", {.team = TeamId("team")});
  std::vector<std::string> got, order;
  for (int i = 0; i < 6; ++i) {
    const auto request = scene.ask(Ask{.team = TeamId("team"),
                                       .pool = WorkerPoolId(row.asked_pool),
                                       .tags = row.tags,
                                       .strategies = {Strategy::fewest_active}});
    if (const std::int64_t worker = scene.holds(*request); worker > 0) got.push_back(names[worker]);
  }
  // What is dedicated comes before what is shared; within both any order is right.
  const auto shared = [](const std::string& name) {
    return name.starts_with("open") || name.starts_with("shared");
  };
  EXPECT_TRUE(std::ranges::is_partitioned(got, [&](const auto& name) { return !shared(name); }));
  std::ranges::sort(got);
  EXPECT_EQ(got, row.expected);
  EXPECT_EQ(scene.queue.check(), "");
}

INSTANTIATE_TEST_SUITE_P(Table, Candidates, ::testing::ValuesIn(cases),
                         [](const auto& row) { return row.param.name; });

// -------------------------------------------------------------------------------------------------
// Attachments

TEST(WorkerPools, of_a_team_end_with_the_attachment_and_its_leases_do_not) {
  Fixture scene;
  scene.dedicate("a", {"team"});
  const auto worker = scene.worker(2, "a");
  const auto first = scene.ask("team");
  ASSERT_EQ(scene.holds(first), worker);
  ASSERT_TRUE(scene.queue.detach(WorkerPoolId("a"), {TeamId("team")}, scene.now));
  const auto second = scene.ask("team");
  EXPECT_EQ(scene.holds(first), worker);
  EXPECT_EQ(scene.holds(second), 0);
  ASSERT_TRUE(scene.queue.attach(WorkerPoolId("a"), {TeamId("team")}, false, scene.now));
  EXPECT_EQ(scene.holds(second), worker) << "whoever waits is served by a new attachment";
}

TEST(WorkerPools, are_destroyed_only_without_teams_and_workers) {
  Fixture scene;
  scene.dedicate("a", {"team"});
  const auto worker = scene.worker(1, "a");
  EXPECT_FALSE(scene.queue.destroy_pool(WorkerPoolId("a"), scene.now));
  ASSERT_TRUE(scene.queue.detach(WorkerPoolId("a"), {TeamId("team")}, scene.now));
  EXPECT_FALSE(scene.queue.destroy_pool(WorkerPoolId("a"), scene.now));
  scene.queue.withdraw(worker, "ended", scene.now);
  EXPECT_TRUE(scene.queue.destroy_pool(WorkerPoolId("a"), scene.now));
  EXPECT_FALSE(scene.queue.destroy_pool(WorkerPoolId("a"), scene.now)) << "it is not there";
}

TEST(WorkerPools, are_attached_exclusively_to_teams_without_any) {
  Fixture scene;
  scene.dedicate("a", {"team"});
  scene.dedicate("b", {});
  const auto refused =
      scene.queue.attach(WorkerPoolId("b"), {TeamId("new"), TeamId("team")}, true, scene.now);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "team team is attached to worker pool a already");
  EXPECT_TRUE(scene.queue.find_pool(WorkerPoolId("b"))->teams.empty()) << "all or none";
  EXPECT_TRUE(scene.queue.attach(WorkerPoolId("b"), {TeamId("new")}, true, scene.now));
  EXPECT_TRUE(scene.queue.attach(WorkerPoolId("b"), {TeamId("team")}, false, scene.now));
}

TEST(Tags, that_nobody_has_any_more_are_forgotten) {
  Fixture scene;
  const auto plain = scene.worker(2);
  const auto waits_for = [&](const std::string& tag) {
    return *scene.ask(Ask{.team = TeamId("team"), .tags = {tag}, .heartbeat = 24h});
  };
  const auto early = waits_for("tag 5000");
  Offered worker{.number = scene.next++, .has = {1, {}}};
  for (int i = 0; i < 6000; ++i) {
    worker.tags = {"tag " + std::to_string(i)};
    scene.worker(worker);
    if (scene.holds(early) > 0) scene.release(early);
    ASSERT_EQ(scene.queue.check(), "");
  }
  EXPECT_LT(scene.queue.groups(), 2000U);
  EXPECT_EQ(scene.holds(early), -1) << "it was served in between";
  EXPECT_EQ(scene.holds(waits_for("tag 5999")), worker.number);
  EXPECT_EQ(scene.holds(waits_for("tag 0")), 0);
  EXPECT_EQ(scene.holds(scene.ask("team")), plain);
}

TEST(WorkerPools, of_files_are_changed_in_the_file) {
  Fixture scene;
  scene.queue.configure_pools({{WorkerPoolId("a"), {"builds.toml", {TeamId("team")}}}}, scene.now);
  const auto worker = scene.worker(2, "a");
  EXPECT_EQ(scene.holds(scene.ask("team")), worker);
  for (const auto& refused :
       {scene.queue.attach(WorkerPoolId("a"), {TeamId("b")}, false, scene.now),
        scene.queue.detach(WorkerPoolId("a"), {TeamId("team")}, scene.now),
        scene.queue.set_pool(WorkerPoolId("a"), {}, scene.now),
        scene.queue.destroy_pool(WorkerPoolId("a"), scene.now)}) {
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("builds.toml"), std::string::npos);
  }
  const auto stranger = scene.ask("stranger");
  EXPECT_EQ(scene.holds(stranger), 0);
  scene.queue.configure_pools({}, scene.now);
  EXPECT_EQ(scene.holds(stranger), worker) << "it is shared now";
}

}  // namespace
}  // namespace muster::queue::testing
