// The life of a request: asked, held, heard of, ended.
#include <limits>

#include <gtest/gtest.h>

#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

constexpr auto largest = std::numeric_limits<std::int64_t>::max();
constexpr auto smallest = std::numeric_limits<std::int64_t>::min();

// -------------------------------------------------------------------------------------------------
// Hostile numbers

TEST(HostileNumbers, are_refused_as_resources) {
  for (const std::int64_t amount : {smallest, std::int64_t{-1}, std::int64_t{0}, largest})
    for (const char* name : {"active-task", "memory"})
      EXPECT_FALSE(Resources::from({{name, amount}})) << name << amount;
  EXPECT_FALSE(Resources::from({{"", 1}}));
  EXPECT_FALSE(Resources::from({{std::string(1000, 'x'), 1}}));
  EXPECT_FALSE(Resources::from({{"a\nb", 1}}));
  std::map<std::string, std::int64_t> huge;
  for (int i = 0; i < 100'000; ++i) huge[std::to_string(i)] = 1;
  EXPECT_FALSE(Resources::from(huge));
  EXPECT_TRUE(Resources::from({{"memory", largest_amount}}));
}

TEST(HostileNumbers, are_refused_in_requests) {
  Fixture scene;
  scene.worker(1000);
  const auto refused = [&](const Ask& ask) { return !scene.ask(ask).has_value(); };
  EXPECT_TRUE(refused({.team = TeamId("")}));
  EXPECT_TRUE(refused({.team = TeamId(std::string(1000, 'x'))}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .pool = WorkerPoolId(std::string(1000, 'x'))}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .tags = std::vector<std::string>(1000, "x")}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .tags = {""}}));
  for (const std::int64_t amount : {smallest, std::int64_t{-1}, std::int64_t{0}, largest})
    EXPECT_TRUE(refused({.team = TeamId("a"), .needs = {amount, {}}}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .priority = largest}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .priority = smallest}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .deadline = scene.now}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .deadline = Time::min()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .duration = 0ms}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .duration = std::chrono::milliseconds::max()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .heartbeat = 0ms}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .heartbeat = std::chrono::milliseconds::min()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .cache_key = std::string(1000, 'x')}));
  EXPECT_EQ(scene.queue.waiting(), 0);
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(HostileNumbers, of_the_largest_kind_are_counted_exactly) {
  Fixture scene;
  const auto worker = scene.worker({.has = {largest_amount, {{"memory", largest_amount}}}});
  const Ask most{.team = TeamId("a"), .needs = {largest_amount, {{"memory", largest_amount}}}};
  const auto first = *scene.ask(most), second = *scene.ask(most);
  EXPECT_EQ(scene.holds(first), worker);
  EXPECT_EQ(scene.holds(second), 0);
  scene.release(first);
  EXPECT_EQ(scene.holds(second), worker);
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(HostileNumbers, a_lease_is_not_extended_to_nonsense) {
  Fixture scene;
  scene.worker();
  const auto lease = scene.ask("a"), waits = scene.ask("a");
  EXPECT_FALSE(scene.queue.extend(lease, scene.now, scene.now));
  EXPECT_FALSE(scene.queue.extend(lease, Time::min(), scene.now));
  EXPECT_FALSE(scene.queue.extend(lease, Time::max(), scene.now));
  EXPECT_FALSE(scene.queue.extend(waits, scene.now + 1h, scene.now)) << "it holds nothing";
  EXPECT_FALSE(scene.queue.extend(12345, scene.now + 1h, scene.now));
  EXPECT_TRUE(scene.queue.extend(lease, scene.now + 1h, scene.now));
}

// -------------------------------------------------------------------------------------------------
// Tokens

TEST(Token, the_same_again_is_the_same_request) {
  Fixture scene;
  const Ask ask{.team = TeamId("a"), .token = "t"};
  const auto first = *scene.ask(ask);
  EXPECT_EQ(*scene.ask(ask), first);
  scene.worker(2);
  EXPECT_EQ(*scene.ask(ask), first) << "also when it holds its worker";
  EXPECT_EQ(scene.queue.workers()[0].used.active_task, 1);
  EXPECT_NE(*scene.ask(Ask{.team = TeamId("b"), .token = "t"}), first)
      << "another team's token is another's";
  scene.release(first);
  EXPECT_NE(*scene.ask(ask), first) << "that is over";
}

TEST(Token, for_something_else_is_refused) {
  Fixture scene;
  const auto first = *scene.ask(Ask{.team = TeamId("a"), .token = "t"});
  const auto other = scene.ask(Ask{.team = TeamId("a"), .needs = {2, {}}, .token = "t"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "conflict");
  EXPECT_NE(other.error().message.find(std::to_string(first)), std::string::npos);
}

// -------------------------------------------------------------------------------------------------
// The end

TEST(Release, twice_is_not_found_the_second_time_and_gives_back_once) {
  Fixture scene;
  scene.worker(2);
  const auto first = scene.ask("a"), second = scene.ask("a");
  scene.release(first);
  EXPECT_FALSE(scene.queue.release(first, scene.now));
  EXPECT_EQ(scene.queue.workers()[0].used.active_task, 1);
  EXPECT_GT(scene.holds(second), 0);
}

TEST(Release, of_one_that_waits_cancels_it) {
  Fixture scene;
  const auto first = scene.ask("a"), second = scene.ask("a");
  scene.release(first);
  EXPECT_EQ(scene.holds(second), 0);
  EXPECT_EQ(scene.queue.waiting(), 1);
  EXPECT_GT(scene.worker(), 0);
  EXPECT_GT(scene.holds(second), 0);
}

TEST(Client, that_is_dead_gives_its_lease_back) {
  Fixture scene;
  const auto worker = scene.worker();
  const auto dead = *scene.ask(Ask{.team = TeamId("a"), .heartbeat = 30s});
  const auto next = scene.ask("b");
  scene.now += 29s;
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.holds(dead), worker);
  ASSERT_TRUE(scene.queue.heartbeat(dead, scene.now));
  scene.now += 29s;
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.holds(dead), worker);
  scene.now += 1s;
  ASSERT_TRUE(scene.queue.heartbeat(next, scene.now));
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.holds(dead), -1);
  EXPECT_EQ(scene.holds(next), worker);
  const auto told = scene.queue.heartbeat(dead, scene.now);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, "gone");
  EXPECT_NE(told.error().message.find("no heartbeat from its client for 30 s"), std::string::npos);
}

TEST(Client, that_is_dead_waits_no_longer) {
  Fixture scene;
  const auto dead = scene.ask("a");
  EXPECT_LE(scene.queue.next_wake(), scene.now + 1min);
  scene.now += 1min;
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.holds(dead), -1);
  EXPECT_EQ(scene.queue.waiting(), 0);
}

TEST(Client, that_waits_for_an_answer_lives) {
  Fixture scene;
  const auto polling = scene.ask("a");
  for (int i = 0; i < 10; ++i) {
    scene.now += 50s;
    scene.queue.note_client_alive(polling, scene.now);
    scene.queue.expire(scene.now);
  }
  EXPECT_EQ(scene.holds(polling), 0);
}

TEST(Deadline, ends_what_waits_and_not_what_is_held) {
  Fixture scene;
  const auto worker = scene.worker();
  const Ask ask{.team = TeamId("a"), .deadline = scene.now + 90s};
  const auto held = *scene.ask(ask), waits = *scene.ask(ask);
  scene.wait(2min);
  EXPECT_EQ(scene.holds(held), worker);
  EXPECT_EQ(scene.holds(waits), -1);
  EXPECT_NE(scene.queue.find(waits)->reason.find("deadline"), std::string::npos);
}

TEST(Duration, ends_a_lease_unless_it_is_extended) {
  Fixture scene;
  const auto worker = scene.worker(2);
  const Ask ask{.team = TeamId("a"), .duration = 5min};
  const auto extended = *scene.ask(ask), over = *scene.ask(ask);
  scene.wait(4min);
  ASSERT_TRUE(scene.queue.extend(extended, scene.now + 5min, scene.now));
  scene.wait(2min);
  EXPECT_EQ(scene.holds(extended), worker);
  EXPECT_EQ(scene.holds(over), -1);
  scene.wait(4min);
  EXPECT_EQ(scene.holds(extended), -1);
}

TEST(Ended, is_remembered_for_a_while_and_not_beyond_measure) {
  Fixture scene({.ended_kept = 10min, .most_ended_kept = 5});
  std::vector<std::int64_t> dead;
  for (int i = 0; i < 8; ++i) dead.push_back(scene.ask("a"));
  scene.now += 1min;
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.queue.find(dead[0]), nullptr);
  EXPECT_NE(scene.queue.find(dead[7]), nullptr);
  scene.now += 10min;
  scene.queue.expire(scene.now);
  EXPECT_EQ(scene.queue.find(dead[7]), nullptr);
}

// -------------------------------------------------------------------------------------------------
// Workers

TEST(WorkerLeaves, its_leases_end_and_its_client_learns_why) {
  Fixture scene;
  const auto worker = scene.worker();
  const auto lease = scene.ask("a");
  ASSERT_TRUE(scene.queue.heartbeat(lease, scene.now)) << "it knows its worker";
  scene.queue.withdraw(worker, "the cloud took it", scene.now);
  EXPECT_EQ(scene.holds(lease), -1);
  EXPECT_EQ(scene.queue.find(lease)->reason, "its worker is gone: the cloud took it");
}

TEST(WorkerLeaves, whoever_does_not_know_it_yet_waits_again_in_the_old_place) {
  Fixture scene;
  const auto worker = scene.worker();
  const auto lease = scene.ask("a"), behind = scene.ask("a");
  scene.queue.withdraw(worker, "gone", scene.now);
  EXPECT_EQ(scene.holds(lease), 0);
  const auto next = scene.worker();
  EXPECT_EQ(scene.holds(lease), next);
  EXPECT_EQ(scene.holds(behind), 0);
}

TEST(WorkerDrains, gets_nothing_new_and_keeps_its_leases) {
  Fixture scene;
  const auto worker = scene.worker(2);
  const auto lease = scene.ask("a");
  scene.worker({.number = worker, .has = {2, {}}, .takes_work = false});
  const auto waits = scene.ask("a");
  EXPECT_EQ(scene.holds(lease), worker);
  EXPECT_EQ(scene.holds(waits), 0);
  scene.worker({.number = worker, .has = {2, {}}});
  EXPECT_EQ(scene.holds(waits), worker) << "it serves again";
}

TEST(WorkerChanges, what_it_has_and_is_never_given_more_than_that) {
  Fixture scene;
  const auto worker = scene.worker(4);
  std::vector<std::int64_t> leases;
  for (int i = 0; i < 4; ++i) leases.push_back(scene.ask("a"));
  scene.worker({.number = worker, .has = {2, {}}});
  scene.release(leases[0]);
  scene.release(leases[1]);
  const auto waits = scene.ask("a");
  EXPECT_EQ(scene.holds(waits), 0);
  scene.release(leases[2]);
  EXPECT_EQ(scene.holds(waits), worker);
  EXPECT_EQ(scene.queue.check(), "");
}

TEST(Demand, counts_each_waiting_request_once_and_not_what_a_team_may_not_hold) {
  Fixture scene;
  scene.dedicate("a", {"team"});
  scene.dedicate("b", {"team"});
  ASSERT_TRUE(scene.queue.set_team(TeamId("limited"), {.max_held = 2}, scene.now));
  for (int i = 0; i < 5; ++i) {
    scene.ask("team", 2);
    scene.ask("limited");
  }
  const auto demand = scene.queue.demand();
  ASSERT_EQ(demand.size(), 2U);
  EXPECT_EQ(demand[0].capacity, 10);
  EXPECT_EQ(demand[0].pools, (std::vector{WorkerPoolId("a"), WorkerPoolId("b")}));
  EXPECT_TRUE(demand[0].shared);
  EXPECT_EQ(demand[1].capacity, 2);
  EXPECT_TRUE(demand[1].pools.empty());
}

}  // namespace
}  // namespace muster::queue::testing
