// The life of a request: asked, held, heard of, ended.
#include <functional>
#include <limits>

#include <gmock/gmock.h>

#include "host/store/memory_store.hpp"
#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

using ::testing::HasSubstr;

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
  Fixture fixture;
  fixture.worker(1000);
  const auto refused = [&](const NewRequest& ask) { return !fixture.ask(ask).has_value(); };
  EXPECT_TRUE(refused({.team = TeamId("")}));
  EXPECT_TRUE(refused({.team = TeamId(std::string(1000, 'x'))}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .pool = WorkerPoolId(std::string(1000, 'x'))}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .tags = std::vector<std::string>(1000, "x")}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .tags = {""}}));
  for (const std::int64_t amount : {smallest, std::int64_t{-1}, std::int64_t{0}, largest})
    EXPECT_TRUE(refused({.team = TeamId("a"), .needs = {amount, {}}}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .priority = largest}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .priority = smallest}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .deadline = fixture.now}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .deadline = Time::min()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .duration = 0ms}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .duration = std::chrono::milliseconds::max()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .heartbeat = 0ms}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .heartbeat = std::chrono::milliseconds::min()}));
  EXPECT_TRUE(refused({.team = TeamId("a"), .cache_key = std::string(1000, 'x')}));
  EXPECT_EQ(fixture.queue.waiting(), 0);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(HostileNumbers, of_the_largest_kind_are_counted_exactly) {
  Fixture fixture;
  const auto worker = fixture.worker({.has = {largest_amount, {{"memory", largest_amount}}}});
  const NewRequest most{.team = TeamId("a"),
                        .needs = {largest_amount, {{"memory", largest_amount}}}};
  const auto first = *fixture.ask(most), second = *fixture.ask(most);
  EXPECT_EQ(fixture.holds(first), worker);
  EXPECT_EQ(fixture.holds(second), 0);
  fixture.release(first);
  EXPECT_EQ(fixture.holds(second), worker);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(HostileNumbers, a_lease_is_not_extended_to_nonsense) {
  Fixture fixture;
  fixture.worker();
  const auto lease = fixture.ask("a"), waits = fixture.ask("a");
  EXPECT_FALSE(fixture.queue.extend(lease, fixture.now, fixture.now));
  EXPECT_FALSE(fixture.queue.extend(lease, Time::min(), fixture.now));
  EXPECT_FALSE(fixture.queue.extend(lease, Time::max(), fixture.now));
  EXPECT_FALSE(fixture.queue.extend(waits, fixture.now + 1h, fixture.now)) << "it holds nothing";
  EXPECT_FALSE(fixture.queue.extend(12345, fixture.now + 1h, fixture.now));
  EXPECT_TRUE(fixture.queue.extend(lease, fixture.now + 1h, fixture.now));
}

// -------------------------------------------------------------------------------------------------
// Tokens

TEST(Token, the_same_again_is_the_same_request) {
  Fixture fixture;
  const NewRequest ask{.team = TeamId("a"), .token = "t"};
  const auto first = *fixture.ask(ask);
  EXPECT_EQ(*fixture.ask(ask), first);
  fixture.worker(2);
  EXPECT_EQ(*fixture.ask(ask), first) << "also when it holds its worker";
  EXPECT_EQ(fixture.queue.workers()[0].used.active_task, 1);
  EXPECT_NE(*fixture.ask(NewRequest{.team = TeamId("b"), .token = "t"}), first)
      << "another team's token is another's";
  fixture.release(first);
  EXPECT_NE(*fixture.ask(ask), first) << "that is over";
}

TEST(Token, for_something_else_is_refused) {
  Fixture fixture;
  const auto first = *fixture.ask(NewRequest{.team = TeamId("a"), .token = "t"});
  const auto other = fixture.ask(NewRequest{.team = TeamId("a"), .needs = {2, {}}, .token = "t"});
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "conflict");
  EXPECT_NE(other.error().message.find(std::to_string(first)), std::string::npos);
}

// -------------------------------------------------------------------------------------------------
// The end

TEST(Release, twice_is_not_found_the_second_time_and_gives_back_once) {
  Fixture fixture;
  fixture.worker(2);
  const auto first = fixture.ask("a"), second = fixture.ask("a");
  fixture.release(first);
  EXPECT_FALSE(fixture.queue.release(first, fixture.now));
  EXPECT_EQ(fixture.queue.workers()[0].used.active_task, 1);
  EXPECT_GT(fixture.holds(second), 0);
}

TEST(Release, of_one_that_waits_cancels_it) {
  Fixture fixture;
  const auto first = fixture.ask("a"), second = fixture.ask("a");
  fixture.release(first);
  EXPECT_EQ(fixture.holds(second), 0);
  EXPECT_EQ(fixture.queue.waiting(), 1);
  EXPECT_GT(fixture.worker(), 0);
  EXPECT_GT(fixture.holds(second), 0);
}

TEST(Client, that_is_dead_gives_its_lease_back) {
  Fixture fixture;
  const auto worker = fixture.worker();
  const auto dead = *fixture.ask(NewRequest{.team = TeamId("a"), .heartbeat = 30s});
  const auto next = fixture.ask("b");
  fixture.now += 29s;
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.holds(dead), worker);
  ASSERT_TRUE(fixture.queue.heartbeat(dead, fixture.now));
  fixture.now += 29s;
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.holds(dead), worker);
  fixture.now += 1s;
  ASSERT_TRUE(fixture.queue.heartbeat(next, fixture.now));
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.holds(dead), -1);
  EXPECT_EQ(fixture.holds(next), worker);
  const auto told = fixture.queue.heartbeat(dead, fixture.now);
  ASSERT_FALSE(told);
  EXPECT_EQ(told.error().code, "gone");
  EXPECT_NE(told.error().message.find("no heartbeat from its client for 30 s"), std::string::npos);
}

TEST(Client, that_is_dead_waits_no_longer) {
  Fixture fixture;
  const auto dead = fixture.ask("a");
  EXPECT_LE(fixture.queue.next_wake(), fixture.now + 1min);
  fixture.now += 1min;
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.holds(dead), -1);
  EXPECT_EQ(fixture.queue.waiting(), 0);
}

TEST(Client, that_waits_for_an_answer_lives) {
  Fixture fixture;
  const auto polling = fixture.ask("a");
  for (int i = 0; i < 10; ++i) {
    fixture.now += 50s;
    fixture.queue.note_client_alive(polling, fixture.now);
    fixture.queue.expire(fixture.now);
  }
  EXPECT_EQ(fixture.holds(polling), 0);
}

TEST(Deadline, ends_what_waits_and_not_what_is_held) {
  Fixture fixture;
  const auto worker = fixture.worker();
  const NewRequest ask{.team = TeamId("a"), .deadline = fixture.now + 90s};
  const auto held = *fixture.ask(ask), waits = *fixture.ask(ask);
  fixture.wait(2min);
  EXPECT_EQ(fixture.holds(held), worker);
  EXPECT_EQ(fixture.holds(waits), -1);
  EXPECT_NE(fixture.queue.find(waits)->reason.find("deadline"), std::string::npos);
}

TEST(Duration, ends_a_lease_unless_it_is_extended) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  const NewRequest ask{.team = TeamId("a"), .duration = 5min};
  const auto extended = *fixture.ask(ask), over = *fixture.ask(ask);
  fixture.wait(4min);
  ASSERT_TRUE(fixture.queue.extend(extended, fixture.now + 5min, fixture.now));
  fixture.wait(2min);
  EXPECT_EQ(fixture.holds(extended), worker);
  EXPECT_EQ(fixture.holds(over), -1);
  fixture.wait(4min);
  EXPECT_EQ(fixture.holds(extended), -1);
}

TEST(Ended, is_remembered_for_a_while_and_not_beyond_measure) {
  Fixture fixture({.ended_kept = 10min, .most_ended_kept = 5});
  std::vector<std::int64_t> dead;
  for (int i = 0; i < 8; ++i) dead.push_back(fixture.ask("a"));
  fixture.now += 1min;
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.queue.find(dead[0]), nullptr);
  EXPECT_NE(fixture.queue.find(dead[7]), nullptr);
  fixture.now += 10min;
  fixture.queue.expire(fixture.now);
  EXPECT_EQ(fixture.queue.find(dead[7]), nullptr);
}

// -------------------------------------------------------------------------------------------------
// Workers

TEST(WorkerLeaves, its_leases_end_and_its_client_learns_why) {
  Fixture fixture;
  const auto worker = fixture.worker();
  const auto lease = fixture.ask("a");
  ASSERT_TRUE(fixture.queue.heartbeat(lease, fixture.now)) << "it knows its worker";
  fixture.queue.withdraw(worker, "the cloud took it", fixture.now);
  EXPECT_EQ(fixture.holds(lease), -1);
  EXPECT_EQ(fixture.queue.find(lease)->reason, "its worker is gone: the cloud took it");
}

TEST(WorkerLeaves, whoever_does_not_know_it_yet_waits_again_in_the_old_place) {
  Fixture fixture;
  const auto worker = fixture.worker();
  const auto lease = fixture.ask("a"), behind = fixture.ask("a");
  fixture.queue.withdraw(worker, "gone", fixture.now);
  EXPECT_EQ(fixture.holds(lease), 0);
  const auto next = fixture.worker();
  EXPECT_EQ(fixture.holds(lease), next);
  EXPECT_EQ(fixture.holds(behind), 0);
}

TEST(WorkerDrains, gets_nothing_new_and_keeps_its_leases) {
  Fixture fixture;
  const auto worker = fixture.worker(2);
  const auto lease = fixture.ask("a");
  fixture.worker({.number = worker, .has = {2, {}}, .takes_work = false});
  const auto waits = fixture.ask("a");
  EXPECT_EQ(fixture.holds(lease), worker);
  EXPECT_EQ(fixture.holds(waits), 0);
  fixture.worker({.number = worker, .has = {2, {}}});
  EXPECT_EQ(fixture.holds(waits), worker) << "it serves again";
}

TEST(WorkerChanges, what_it_has_and_is_never_given_more_than_that) {
  Fixture fixture;
  const auto worker = fixture.worker(4);
  std::vector<std::int64_t> leases;
  for (int i = 0; i < 4; ++i) leases.push_back(fixture.ask("a"));
  fixture.worker({.number = worker, .has = {2, {}}});
  fixture.release(leases[0]);
  fixture.release(leases[1]);
  const auto waits = fixture.ask("a");
  EXPECT_EQ(fixture.holds(waits), 0);
  fixture.release(leases[2]);
  EXPECT_EQ(fixture.holds(waits), worker);
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Demand, counts_each_waiting_request_once_and_not_what_a_team_may_not_hold) {
  Fixture fixture;
  fixture.dedicate("a", {"team"});
  fixture.dedicate("b", {"team"});
  ASSERT_TRUE(fixture.queue.set_team(TeamId("limited"), {.max_held = 2}, fixture.now));
  for (int i = 0; i < 5; ++i) {
    fixture.ask("team", 2);
    fixture.ask("limited");
  }
  const auto demand = fixture.queue.demand();
  ASSERT_EQ(demand.size(), 2U);
  EXPECT_EQ(demand[0].capacity, 10);
  EXPECT_EQ(demand[0].pools, (std::vector{WorkerPoolId("a"), WorkerPoolId("b")}));
  EXPECT_TRUE(demand[0].shared);
  EXPECT_EQ(demand[1].capacity, 2);
  EXPECT_TRUE(demand[1].pools.empty());
}

// -------------------------------------------------------------------------------------------------
// Bounds

std::int64_t admitted(Fixture& fixture, int requests, const std::function<NewRequest(int)>& ask) {
  std::int64_t count = 0;
  for (int i = 0; i < requests; ++i) count += fixture.ask(ask(i)) ? 1 : 0;
  return count;
}

Settings with(const std::function<void(Settings&)>& change) {
  Settings settings;
  change(settings);
  return settings;
}

TEST(Bounds, a_team_without_a_limit_of_its_own_has_that_of_the_host) {
  Fixture fixture(with([](Settings& settings) { settings.most_waiting_of_team = 3; }));
  EXPECT_EQ(admitted(fixture, 10, [](int) { return NewRequest{.team = TeamId("loud")}; }), 3);
  const auto refused = fixture.ask(NewRequest{.team = TeamId("loud")});
  EXPECT_EQ(refused.error().error_class, ErrorClass::throttle);
  EXPECT_THAT(refused.error().message, HasSubstr("queue.mostWaitingOfTeam"));
  EXPECT_TRUE(fixture.ask(NewRequest{.team = TeamId("quiet")}));
  ASSERT_TRUE(fixture.queue.set_team(TeamId("loud"), {1, 0, 5}, fixture.now));
  EXPECT_EQ(admitted(fixture, 10, [](int) { return NewRequest{.team = TeamId("loud")}; }), 2);
}

TEST(Bounds, a_client_has_so_many_requests_whatever_their_teams_and_an_end_makes_room) {
  Fixture fixture(with([](Settings& settings) { settings.most_of_client = 4; }));
  std::vector<std::int64_t> numbers;
  const auto ask = [](int i) {
    return NewRequest{.team = TeamId("team" + std::to_string(i % 3)), .client = "ci"};
  };
  for (int i = 0; i < 10; ++i)
    if (const auto number = fixture.ask(ask(i))) numbers.push_back(*number);
  ASSERT_EQ(numbers.size(), 4u);
  EXPECT_THAT(fixture.ask(ask(0)).error().message, HasSubstr("queue.mostOfClient"));
  EXPECT_TRUE(fixture.ask(NewRequest{.team = TeamId("team0"), .client = "other"}));
  fixture.release(numbers[0]);
  EXPECT_EQ(admitted(fixture, 5, ask), 1);
  fixture.worker(2);  // who holds a worker still counts
  EXPECT_FALSE(fixture.ask(ask(0)));
  EXPECT_EQ(fixture.queue.check(), "");
}

TEST(Bounds, names_that_a_client_makes_up_are_few_and_nothing_is_kept_of_those_refused) {
  Fixture fixture(with([](Settings& settings) { settings.most_names_of_client = 5; }));
  const auto ask = [](int i) {
    return NewRequest{
        .team = TeamId("main"), .pool = WorkerPoolId("p/" + std::to_string(i)), .client = "ci"};
  };
  EXPECT_EQ(admitted(fixture, 50, ask), 4);  // and the team
  EXPECT_EQ(fixture.queue.pools().size(), 4u);
  NewRequest other = ask(99);
  other.client = "other";
  EXPECT_TRUE(fixture.ask(other));
  NewRequest real = ask(100);
  real.pool_exists = true;
  EXPECT_TRUE(fixture.ask(real));
  EXPECT_TRUE(fixture.ask(ask(0)));
  NewRequest again = ask(0);
  again.team = TeamId("new");
  EXPECT_FALSE(fixture.ask(again));
  EXPECT_EQ(fixture.queue.teams().size(), 1u);
}

TEST(Bounds, there_are_so_many_teams) {
  Fixture fixture(with([](Settings& settings) { settings.most_teams = 3; }));
  const auto ask = [](int i) { return NewRequest{.team = TeamId("team" + std::to_string(i))}; };
  EXPECT_EQ(admitted(fixture, 10, ask), 3);
  EXPECT_FALSE(fixture.queue.set_team(TeamId("one more"), {}, fixture.now));
  EXPECT_EQ(fixture.queue.teams().size(), 3u);
}

TEST(Bounds, count_again_what_a_restart_finds) {
  const Settings settings = with([](Settings& each) { each.most_of_client = 2; });
  Fixture fixture(settings);
  const auto ask = [](int) { return NewRequest{.team = TeamId("a"), .client = "ci"}; };
  EXPECT_EQ(admitted(fixture, 5, ask), 2);
  store::MemoryStore store;
  ASSERT_TRUE(store.commit(fixture.queue.everything()));
  Fixture next(settings);
  next.next = fixture.next;
  ASSERT_TRUE(next.queue.load(store, next.now));
  next.queue.settle_after_load(next.now);
  EXPECT_EQ(admitted(next, 5, ask), 0);
}

}  // namespace
}  // namespace muster::queue::testing
