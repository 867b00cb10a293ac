// Outdated workers that work: they keep their credentials until their tasks are done, or their time
// is over.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PoolSketch with_image(const std::string& image, const Lifecycle& lifecycle) {
  return {.id = "p/w",
          .launch_configs = {{.id = "lc-" + image, .document = {{"image", image}}}},
          .lifecycle = lifecycle};
}

// Its worker, cloud-1, has registered and does not say whether it works; then it is outdated.
struct Outdated {
  explicit Outdated(const Lifecycle& lifecycle, int busy = -1)
      : driver(simple_fleet(with_image("one", lifecycle))) {
    driver.demand("p/w", 1);
    driver.demand("p/w", 0);
    driver.register_all();
    if (busy >= 0) {
      EXPECT_TRUE(driver.active("cloud-1", busy).has_value());
    }
    driver.configure({with_image("two", lifecycle)});
    EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::outdated);
  }

  Result<Registered> renew() {
    auto renewed = driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                    driver.secret, driver.now());
    driver.settle();
    return renewed;
  }

  FleetDriver driver;
};

const Lifecycle short_leases{.reregistration_timeout = 1h, .finish_tasks = 3h};

TEST(FinishingWork, is_refused_to_an_idle_worker) {
  Outdated outdated(short_leases, 0);
  const auto refused = outdated.renew();
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, "gone");
}

TEST(FinishingWork, is_refused_to_everyone_if_the_pool_gives_no_time_for_it) {
  Outdated outdated({.finish_tasks = 0s}, 1);
  EXPECT_EQ(outdated.renew().error().code, "gone");
}

TEST(FinishingWork, a_worker_that_works_renews_and_is_told_why_it_is_to_end) {
  Outdated outdated(short_leases, 1);
  const auto renewed = outdated.renew();
  ASSERT_TRUE(renewed.has_value());
  EXPECT_EQ(renewed->credentials_expire, outdated.driver.wall() + 1h);
  ASSERT_TRUE(renewed->outdated.has_value());
  EXPECT_THAT(*renewed->outdated, HasSubstr("`image` of its launch configuration has changed"));
  EXPECT_EQ(outdated.driver.worker("cloud-1")->drain, Drain::outdated) << "it takes no new work";
}

TEST(FinishingWork, a_worker_that_does_not_say_whether_it_works_renews_too) {
  Outdated outdated(short_leases);
  EXPECT_TRUE(outdated.renew().has_value());
  EXPECT_TRUE(outdated.driver.fleet()
                  .should_terminate(outdated.driver.name("cloud-1"), outdated.driver.now())
                  ->terminate)
      << "asked between two tasks";
}

TEST(FinishingWork, ends_when_the_work_is_done) {
  Outdated outdated(short_leases, 1);
  ASSERT_TRUE(outdated.renew().has_value());
  ASSERT_TRUE(outdated.driver.active("cloud-1", 0));
  EXPECT_EQ(outdated.renew().error().code, "gone");
}

TEST(FinishingWork, ends_when_its_time_is_over_and_the_credentials_with_it) {
  Outdated outdated(short_leases, 1);
  const Time end = outdated.driver.wall() + 3h;
  for (int renewals = 0; renewals < 5; ++renewals) {
    outdated.driver.advance(30min);
    ASSERT_TRUE(outdated.driver.active("cloud-1", 1));
    ASSERT_TRUE(outdated.renew().has_value()) << renewals;
  }
  EXPECT_EQ(outdated.driver.worker("cloud-1")->credentials_expire, end);
  outdated.driver.advance(30min);
  EXPECT_EQ(outdated.renew().error().code, "gone");
  outdated.driver.advance(16min);
  EXPECT_EQ(outdated.driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_TRUE(outdated.driver.errors().empty());
}

TEST(FinishingWork, does_not_take_away_credentials_that_last_longer) {
  Outdated outdated({.reregistration_timeout = 10h, .finish_tasks = 2h}, 1);
  const Time before = outdated.driver.worker("cloud-1")->credentials_expire;
  outdated.driver.advance(1h);
  const auto renewed = outdated.renew();
  ASSERT_TRUE(renewed.has_value());
  EXPECT_EQ(renewed->credentials_expire, before);
}

TEST(FinishingWork, its_time_counts_on_over_a_restart) {
  Outdated outdated(short_leases, 1);
  outdated.driver.advance(30min);
  ASSERT_TRUE(outdated.renew().has_value());
  outdated.driver.crash();
  outdated.driver.start_again();
  ASSERT_TRUE(outdated.renew().has_value());
  outdated.driver.advance(3h);
  EXPECT_FALSE(outdated.renew().has_value());
}

TEST(FinishingWork, of_a_worker_whose_configuration_came_back_is_ordinary_work) {
  Outdated outdated(short_leases, 1);
  outdated.driver.configure({with_image("one", short_leases)});
  const auto renewed = outdated.renew();
  ASSERT_TRUE(renewed.has_value());
  EXPECT_FALSE(renewed->outdated.has_value());
}

TEST(FinishingWork, is_for_declared_machines_too_which_are_set_aside_afterwards) {
  FleetDriver driver = simple_fleet(with_image("one", short_leases));
  const WorkerName name{WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId("m-1")};
  ASSERT_TRUE(driver.fleet().declare_worker(
      {.name = name, .provider_id = ProviderId("cloud"), .expires = driver.wall() + 100h},
      driver.now()));
  const auto renew = [&] {
    auto renewed =
        driver.fleet().reregister_worker(name, driver.secret, driver.secret, driver.now());
    driver.settle();
    return renewed;
  };
  ASSERT_TRUE(
      driver.fleet().register_worker(name, ProviderId("cloud"), driver.secret, driver.now()));
  driver.configure({with_image("two", short_leases)});
  ASSERT_TRUE(renew().has_value());
  ASSERT_TRUE(driver.fleet().worker_active(name, 0, driver.now()));
  EXPECT_FALSE(renew().has_value());
  EXPECT_EQ(driver.worker("m-1")->drain, Drain::nonconformant);
}

TEST(FinishingWork, counts_against_the_budget_of_cycling) {
  const Lifecycle slow{.cycling_budget = {.workers = 1}};
  FleetDriver driver = simple_fleet(with_image("one", slow));
  driver.demand("p/w", 2);
  driver.demand("p/w", 0);
  driver.register_all();
  for (const char* id : {"cloud-1", "cloud-2"}) ASSERT_TRUE(driver.active(id, 1));
  driver.configure({with_image("two", slow)});
  ASSERT_TRUE(driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret,
                                               driver.now()));
  driver.advance(5min);
  EXPECT_EQ(driver.pool("p/w").outdated_draining, 1);
}

// -------------------------------------------------------------------------------------------------
// By an operator

struct Drained {
  explicit Drained(int busy) : driver(simple_fleet(with_image("one", short_leases))) {
    driver.demand("p/w", 1);
    driver.demand("p/w", 0);
    driver.register_all();
    EXPECT_TRUE(driver.active("cloud-1", busy).has_value());
    EXPECT_TRUE(drain("cloud-1").has_value());
  }
  Result<void> drain(const std::string& id) {
    auto done = driver.fleet().drain(driver.name(id), "drained by ops", driver.now());
    driver.settle();
    return done;
  }

  FleetDriver driver;
};

TEST(Draining, is_refused_for_a_worker_that_is_not_there_or_comes_back) {
  Drained drained(1);
  EXPECT_EQ(drained.drain("cloud-9").error().error_class, ErrorClass::not_found);
  const WorkerName name{WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId("m-1")};
  ASSERT_TRUE(drained.driver.fleet().declare_worker(
      {.name = name, .provider_id = ProviderId("cloud"), .expires = drained.driver.wall() + 100h},
      drained.driver.now()));
  EXPECT_THAT(drained.drain("m-1").error().message, HasSubstr("quarantine it instead"));
}

TEST(Draining, lets_a_worker_finish_and_ends_it_when_it_is_idle) {
  Drained drained(1);
  EXPECT_EQ(drained.driver.worker("cloud-1")->drain, Drain::removed);
  const auto renewed = drained.driver.fleet().reregister_worker(
      drained.driver.name("cloud-1"), drained.driver.secret, drained.driver.secret,
      drained.driver.now());
  ASSERT_TRUE(renewed.has_value());
  EXPECT_THAT(renewed->outdated.value_or(""), HasSubstr("drained by ops")) << "it is told";
  drained.driver.advance(10min);
  ASSERT_EQ(drained.driver.worker("cloud-1")->state, WorkerState::running);
  ASSERT_TRUE(drained.driver.active("cloud-1", 0));
  drained.driver.advance(10min);
  EXPECT_NE(drained.driver.worker("cloud-1")->state, WorkerState::running);
}

TEST(Draining, goes_on_over_a_restart_and_again_changes_nothing) {
  Drained drained(1);
  ASSERT_TRUE(drained.drain("cloud-1"));
  drained.driver.crash();
  drained.driver.start_again();
  EXPECT_EQ(drained.driver.worker("cloud-1")->drain, Drain::removed);
}

TEST(Draining, of_a_worker_that_never_renews_ends_with_its_credentials_and_is_no_error) {
  Drained drained(1);
  drained.driver.advance(3h);
  EXPECT_NE(drained.driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_THAT(drained.driver.worker("cloud-1")->reason, HasSubstr("drained by ops"));
}

}  // namespace
}  // namespace muster::fleet
