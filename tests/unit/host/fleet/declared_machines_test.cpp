// Workers that nobody launches, and the secrets with which workers renew their credentials.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

DeclaredWorker machine(const FleetDriver& driver, const std::string& id = "m-1") {
  return {.name = {WorkerPoolId("p/w"), WorkerGroup("rack"), WorkerId(id)},
          .provider_id = ProviderId("cloud"),
          .capacity = 2,
          .expires = driver.wall() + 30h,
          .provider_data = {{"staticSecret", "s"}}};
}

std::optional<Error> announce(FleetDriver& driver, const DeclaredWorker& worker) {
  const auto done = driver.fleet().declare_worker(worker, driver.now());
  driver.settle();
  return done ? std::nullopt : std::optional(done.error());
}

TEST(Announcing, in_a_pool_that_is_not_there_is_refused) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  worker.name.worker_pool_id = WorkerPoolId("p/other");
  EXPECT_EQ(announce(driver, worker)->error_class, ErrorClass::not_found);
}

TEST(Announcing, of_a_provider_that_the_pool_does_not_use_is_refused) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  worker.provider_id = ProviderId("other");
  EXPECT_THAT(announce(driver, worker)->message, HasSubstr("no launch configuration of other"));
}

TEST(Announcing, what_has_expired_is_refused) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  worker.expires = driver.wall();
  EXPECT_THAT(announce(driver, worker)->message, HasSubstr("must be in the future"));
}

TEST(Announcing, another_of_the_same_name_is_a_conflict) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  ASSERT_FALSE(announce(driver, worker));
  worker.capacity = 3;
  EXPECT_EQ(announce(driver, worker)->code, "conflict");
}

TEST(Announcing, the_same_again_changes_nothing) {
  FleetDriver driver = simple_fleet();
  const DeclaredWorker worker = machine(driver);
  ASSERT_FALSE(announce(driver, worker));
  const std::size_t told = driver.events.size();
  ASSERT_FALSE(announce(driver, worker));
  EXPECT_EQ(driver.events.size(), told);
  EXPECT_EQ(driver.rows("workers"), 1u);
}

TEST(Announcing, the_same_until_another_time_is_the_same_and_stays_until_the_first) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  const Time first = worker.expires;
  ASSERT_FALSE(announce(driver, worker));
  worker.expires += 5h;
  EXPECT_FALSE(announce(driver, worker));
  EXPECT_EQ(driver.worker("m-1")->expires, first);
}

TEST(Announcing, the_same_name_in_another_pool_is_another_worker) {
  FleetDriver driver = simple_fleet();
  driver.configure(
      {{.id = "p/w", .launch_configs = {{"lc-1"}}}, {.id = "p/v", .launch_configs = {{"lc-1"}}}});
  DeclaredWorker one = machine(driver), other = machine(driver);
  other.name.worker_pool_id = WorkerPoolId("p/v");
  other.capacity = 7;
  ASSERT_FALSE(announce(driver, one));
  ASSERT_FALSE(announce(driver, other));
  const auto both = [&] {
    const Worker* first = driver.fleet().find_worker(one.name);
    const Worker* second = driver.fleet().find_worker(other.name);
    return first && second && first->capacity == 2 && second->capacity == 7;
  };
  EXPECT_TRUE(both());
  EXPECT_EQ(driver.fleet().find_workers(WorkerGroup("rack"), WorkerId("m-1")).size(), 2u);
  driver.crash();
  driver.start_again();
  EXPECT_TRUE(both()) << "after a restart";
  ASSERT_TRUE(
      driver.fleet().register_worker(other.name, ProviderId("cloud"), driver.secret, driver.now()));
  EXPECT_EQ(driver.fleet().find_worker(other.name)->drain, Drain::none);
  EXPECT_EQ(driver.fleet().find_worker(one.name)->drain, Drain::absent) << "it is another";
  ASSERT_TRUE(driver.fleet().remove_worker(one.name, "gone", driver.now()));
  driver.settle();
  EXPECT_EQ(driver.fleet().find_worker(other.name)->state, WorkerState::running);
}

TEST(Announcing, a_worker_lives_on_without_being_listed_or_heard_of_and_is_no_capacity) {
  FleetDriver driver = unhurried_fleet();
  ASSERT_FALSE(announce(driver, machine(driver)));
  driver.advance(25h);
  ASSERT_EQ(driver.workers(WorkerState::running).size(), 1u);
  EXPECT_EQ(driver.pool("p/w").totals.running, 0);
  EXPECT_EQ(driver.pool("p/w").totals.absent, 2);
  EXPECT_TRUE(driver.errors().empty()) << "it never was there";
}

TEST(Announcing, nobody_ends_a_worker_for_want_of_work) {
  FleetDriver driver = simple_fleet();
  ASSERT_FALSE(announce(driver, machine(driver)));
  driver.advance(1h);
  const auto answer = driver.fleet().should_terminate(machine(driver).name, driver.now());
  EXPECT_FALSE(answer->terminate);
}

TEST(Announcing, a_worker_ends_when_it_was_announced_to) {
  FleetDriver driver = unhurried_fleet();
  ASSERT_FALSE(announce(driver, machine(driver)));
  driver.advance(31h);
  EXPECT_TRUE(driver.workers(WorkerState::running).empty());
}

TEST(Announcing, a_worker_that_was_removed_can_be_announced_again) {
  FleetDriver driver = simple_fleet();
  ASSERT_FALSE(announce(driver, machine(driver)));
  ASSERT_TRUE(driver.fleet().remove_worker(machine(driver).name, "", driver.now()));
  driver.settle();
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 1u);
  EXPECT_EQ(driver.pool("p/w").stopped.size(), 1u);
  DeclaredWorker other = machine(driver);
  other.capacity = 5;
  ASSERT_FALSE(announce(driver, other));
  EXPECT_EQ(driver.pool("p/w").totals.absent, 5);
  EXPECT_TRUE(driver.pool("p/w").stopped.empty());
}

TEST(Announcing, an_update_changes_what_was_announced_and_nothing_else) {
  FleetDriver driver = simple_fleet();
  DeclaredWorker worker = machine(driver);
  EXPECT_EQ(driver.fleet().update_declared_worker(worker, driver.now()).error().error_class,
            ErrorClass::not_found);
  ASSERT_FALSE(announce(driver, worker));
  worker.capacity = 7;
  ASSERT_TRUE(driver.fleet().update_declared_worker(worker, driver.now()));
  driver.settle();
  EXPECT_EQ(driver.pool("p/w").totals.absent, 7);
  driver.demand("p/w", 8);
  EXPECT_FALSE(driver.fleet().update_declared_worker(
      {.name = driver.name("cloud-1"), .provider_id = ProviderId("cloud")}, driver.now()));
}

TEST(Announcing, a_worker_and_its_secret_survive_a_restart) {
  FleetDriver driver = unhurried_fleet();
  const DeclaredWorker worker = machine(driver);
  ASSERT_FALSE(announce(driver, worker));
  ASSERT_TRUE(driver.fleet().register_worker(worker.name, ProviderId("cloud"), driver.secret,
                                             driver.now()));
  driver.settle();
  driver.crash();
  driver.start_again();
  driver.advance(25h);
  ASSERT_EQ(driver.workers(WorkerState::running).size(), 1u);
  EXPECT_TRUE(
      driver.fleet().reregister_worker(worker.name, driver.secret, sha256("next"), driver.now()));
}

// -------------------------------------------------------------------------------------------------
// Secrets

struct Renewal {
  FleetDriver driver = simple_fleet();
  WorkerName name;

  Renewal() {
    driver.demand("p/w", 1);
    name = driver.name("cloud-1");
    EXPECT_TRUE(enter("first"));
  }

  bool enter(const std::string& secret) {
    const auto done =
        driver.fleet().register_worker(name, ProviderId("cloud"), sha256(secret), driver.now(),
                                       {.registration_key = sha256("the worker's own key")});
    driver.settle();
    return done.has_value();
  }

  bool renew(const std::string& with, const std::string& next) {
    const auto done =
        driver.fleet().reregister_worker(name, sha256(with), sha256(next), driver.now());
    if (!done) {
      EXPECT_EQ(done.error().code, "wrongSecret");
    }
    driver.settle();
    return done.has_value();
  }
};

TEST(Secrets, a_wrong_one_and_none_renew_nothing) {
  Renewal renewal;
  EXPECT_FALSE(renewal.renew("other", "x"));
  EXPECT_FALSE(renewal.driver.fleet().reregister_worker(renewal.name, Sha256{}, sha256("x"),
                                                        renewal.driver.now()));
}

TEST(Secrets, the_one_before_is_good_until_the_new_one_is_used) {
  Renewal renewal;
  EXPECT_TRUE(renewal.renew("first", "second"));
  EXPECT_TRUE(renewal.renew("first", "third")) << "the answer with the second was lost";
  EXPECT_FALSE(renewal.renew("second", "x")) << "nobody was told it last";
  EXPECT_TRUE(renewal.renew("third", "fourth"));
  EXPECT_FALSE(renewal.renew("first", "x")) << "a newer one was used";
  EXPECT_TRUE(renewal.renew("third", "fifth"));
  EXPECT_TRUE(renewal.renew("fifth", "sixth"));
}

TEST(Secrets, a_registration_makes_all_earlier_ones_worthless) {
  Renewal renewal;
  EXPECT_TRUE(renewal.renew("first", "second"));
  ASSERT_TRUE(renewal.enter("again"));
  EXPECT_FALSE(renewal.renew("first", "x"));
  EXPECT_FALSE(renewal.renew("second", "x"));
  EXPECT_TRUE(renewal.renew("again", "x"));
}

}  // namespace
}  // namespace muster::fleet
