// A host that dies after any write: no request is lost, none is granted twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "tests/support/signing_key.hpp"
#include "tests/unit/host/queue/fixture.hpp"

namespace muster::queue::testing {
namespace {

using ::testing::ElementsAre;

// What a host does: everything that a call changed is one batch.
struct Durable : Fixture {
  using Fixture::Fixture;
  store::MemoryStore store;
  std::vector<store::MemoryStore::Contents> after_each_write;

  void write() {
    const store::Batch batch = queue.take_changes(now);
    if (batch.empty()) return;
    ASSERT_TRUE(store.commit(batch));
    after_each_write.push_back(store.contents());
  }
};

std::unique_ptr<Queue> started_from(const store::MemoryStore::Contents& contents,
                                    const std::vector<WorkerOffer>& workers, Time now) {
  const store::MemoryStore store(contents);
  auto queue = std::make_unique<Queue>(Settings{}, 7);
  const auto loaded = queue->load(store, now);
  EXPECT_TRUE(loaded) << loaded.error().message;
  for (const WorkerOffer& worker : workers) queue->offer(worker, now);
  queue->settle_after_load(now);
  EXPECT_EQ(queue->check(), "");
  return queue;
}

TEST(Restart, after_every_write_loses_no_request_and_grants_none_twice) {
  Durable fixture;
  const std::vector<WorkerOffer> workers{{.number = 1001, .has = {2, {}}},
                                         {.number = 1002, .has = {1, {}}}};
  for (const WorkerOffer& worker : workers) fixture.worker(worker);
  ASSERT_TRUE(fixture.queue.set_team(TeamId("a"), {.weight = 2, .max_held = 2}, fixture.now));
  // What is known to the clients when each write was made: request → released.
  std::vector<std::map<std::int64_t, bool>> known;
  std::map<std::int64_t, bool> clients;
  const auto step = [&] {
    fixture.write();
    while (known.size() < fixture.after_each_write.size()) known.push_back(clients);
  };
  step();
  for (int i = 0; i < 6; ++i) {
    clients[*fixture.ask(NewRequest{.team = TeamId(i % 2 == 0 ? "a" : "b"),
                                    .needs = {1, {}},
                                    .token = "token" + std::to_string(i)})] = false;
    step();
    fixture.now += 1s;
  }
  for (auto& [request, released] : clients) {
    fixture.release(request);
    released = true;
    step();
  }
  ASSERT_GE(known.size(), 13U);
  for (std::size_t i = 0; i < known.size(); ++i) {
    const auto again = started_from(fixture.after_each_write[i], workers, fixture.now);
    std::int64_t there = 0, held = 0;
    for (const auto& [request, released] : known[i]) {
      const Request* found = again->find(request);
      ASSERT_EQ(found == nullptr, released) << "write " << i << ", request " << request;
      if (!found) continue;
      ++there;
      EXPECT_NE(found->state, RequestState::ended);
      held += found->state == RequestState::held ? 1 : 0;
    }
    EXPECT_LE(held, 3);
    EXPECT_EQ(again->waiting(), there - held);
  }
}

TEST(Restart, keeps_leases_with_their_workers_and_the_order_of_those_that_wait) {
  Durable fixture;
  const std::vector<WorkerOffer> workers{{.number = 1001, .has = {1, {}}},
                                         {.number = 1002, .has = {1, {}}}};
  for (const WorkerOffer& worker : workers) fixture.worker(worker);
  const auto one = fixture.ask("a"), two = fixture.ask("a"), three = fixture.ask("a");
  const auto urgent = *fixture.ask(NewRequest{.team = TeamId("a"), .priority = 1});
  fixture.write();
  const auto again = started_from(fixture.store.contents(), workers, fixture.now);
  const auto holds = [&](std::int64_t request) {
    const Request* found = again->find(request);
    return found->state == RequestState::held ? again->workers()[found->worker].number : 0;
  };
  EXPECT_EQ(holds(one), fixture.holds(one));
  EXPECT_EQ(holds(two), fixture.holds(two));
  ASSERT_TRUE(again->release(one, fixture.now));
  EXPECT_GT(holds(urgent), 0);
  EXPECT_EQ(holds(three), 0);
}

TEST(Restart, ends_leases_of_workers_that_are_gone) {
  Durable fixture;
  fixture.worker({.number = 1001});
  const auto lease = fixture.ask("a"), waits = fixture.ask("a");
  fixture.write();
  const auto again = started_from(fixture.store.contents(), {{.number = 1002}}, fixture.now);
  EXPECT_EQ(again->find(lease)->state, RequestState::ended);
  EXPECT_EQ(again->find(waits)->state, RequestState::held);
}

TEST(Restart, gives_every_client_time_to_be_heard_again) {
  Durable fixture;
  fixture.worker({.number = 1001});
  const auto lease = fixture.ask("a");
  fixture.write();
  const Time later = fixture.now + 10h;
  const auto again = started_from(fixture.store.contents(), {{.number = 1001}}, later);
  again->expire(later + 59s);
  EXPECT_EQ(again->find(lease)->state, RequestState::held);
  again->expire(later + 60s);
  EXPECT_EQ(again->find(lease)->state, RequestState::ended);
}

TEST(Restart, lets_nobody_begin_to_wait_anew) {
  Durable fixture;
  fixture.worker({.number = 1001, .has = {4, {}}});
  const auto lease = fixture.ask("holder");
  const auto big = fixture.ask("big", 4);
  fixture.wait(9min);
  fixture.write();
  const Time later = fixture.now + 2min;
  const auto again =
      started_from(fixture.store.contents(), {{.number = 1001, .has = {4, {}}}}, later);
  const auto small = *again->request({.team = TeamId("small")}, 99, later);
  EXPECT_EQ(again->find(small)->state, RequestState::waiting) << "the big one waited for longer";
  ASSERT_TRUE(again->release(lease, later));
  EXPECT_EQ(again->find(big)->state, RequestState::held);
}

TEST(Restart, keeps_teams_pools_and_what_was_used) {
  Durable fixture;
  fixture.dedicate("p", {"a", "b"});
  ASSERT_TRUE(fixture.queue.set_team(TeamId("a"), {.weight = 5, .max_held = 7}, fixture.now));
  fixture.worker({.number = 1001, .pool = WorkerPoolId("p")});
  fixture.ask("b");
  fixture.now += 2min;
  fixture.write();
  const auto again = started_from(fixture.store.contents(),
                                  {{.number = 1001, .pool = WorkerPoolId("p")}}, fixture.now);
  const TeamPool* pool = again->find_pool(WorkerPoolId("p"));
  ASSERT_TRUE(pool && pool->dedicated);
  EXPECT_EQ(pool->teams.size(), 2U);
  const auto& teams = again->teams();
  const auto a = std::ranges::find(teams, TeamId("a"), &Team::id);
  const auto b = std::ranges::find(teams, TeamId("b"), &Team::id);
  ASSERT_TRUE(a != teams.end() && b != teams.end());
  EXPECT_EQ(a->weight, 5);
  EXPECT_EQ(a->max_held, 7);
  EXPECT_NEAR(again->usage_of(*b, fixture.now), 59, 2);
  // A store that is written anew has the same.
  store::MemoryStore anew;
  ASSERT_TRUE(anew.commit(again->everything()));
  const auto third =
      started_from(anew.contents(), {{.number = 1001, .pool = WorkerPoolId("p")}}, fixture.now);
  EXPECT_EQ(third->find_pool(WorkerPoolId("p"))->teams.size(), 2U);
}

TEST(Restart, keeps_the_keys_of_pools) {
  Durable fixture;
  const std::string key = ssh::SigningKey::ed25519().line();
  const WorkerPoolId own("own"), of_file("of-file");
  ASSERT_TRUE(fixture.queue.set_pool(own, {{key}}, fixture.now));
  fixture.queue.configure_pools({{of_file, {"pools.toml", {TeamId("a")}, {}}}}, fixture.now);
  ASSERT_TRUE(fixture.queue.set_pool(of_file, {{key}}, fixture.now));
  fixture.write();
  const auto again = started_from(fixture.store.contents(), {}, fixture.now);
  store::MemoryStore anew;
  ASSERT_TRUE(anew.commit(again->everything()));
  const auto third = started_from(anew.contents(), {}, fixture.now);
  for (const Queue* queue : {again.get(), third.get()}) {
    EXPECT_THAT(queue->find_pool(own)->public_keys, ElementsAre(key));
    EXPECT_TRUE(queue->find_pool(own)->dedicated);
    EXPECT_THAT(queue->find_pool(of_file)->public_keys, ElementsAre(key));
    EXPECT_FALSE(queue->find_pool(of_file)->dedicated) << "that is for the file to say";
  }
}

TEST(Restart, keeps_what_a_token_means) {
  Durable fixture;
  const NewRequest ask{.team = TeamId("a"), .tags = {"y", "x"}, .token = "t"};
  const auto request = *fixture.ask(ask);
  fixture.write();
  const auto again = started_from(fixture.store.contents(), {}, fixture.now);
  EXPECT_EQ(*again->request(ask, 99, fixture.now), request);
}

TEST(Clock, that_is_set_back_or_ahead_ends_nobody) {
  Fixture fixture;
  fixture.worker();
  const auto lease = fixture.ask("a"), waits = fixture.ask("b");
  for (const auto jump : {24h * 400, -24h * 900}) {
    fixture.now += jump;
    fixture.queue.clock_was_set(fixture.now, jump);
    fixture.queue.expire(fixture.now + 59s);
    EXPECT_GT(fixture.holds(lease), 0);
    EXPECT_EQ(fixture.holds(waits), 0);
  }
  fixture.queue.expire(fixture.now + 60s);
  EXPECT_EQ(fixture.holds(lease), -1);
  EXPECT_EQ(fixture.queue.check(), "");
}

}  // namespace
}  // namespace muster::queue::testing
