// Providers whose lists lack or invent machines: no limit is exceeded in terms of the machines that
// the cloud really has, and no worker that speaks is taken for gone.
#include <algorithm>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// A pool that is full of busy workers, and has more to do. It may be asked for its list every two
// seconds.
class LyingLists : public testing::Test {
 protected:
  explicit LyingLists(std::int64_t workers = 20)
      : driver(simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = workers},
                            {.list_every = 2s})) {
    driver.demand("p/w", workers);
    driver.register_all();
    report_all();
    driver.demand("p/w", 100);
    driver.advance(1min);
    EXPECT_EQ(machines(), static_cast<std::size_t>(workers));
  }
  std::size_t machines() { return driver.cloud().instances.size(); }
  void report_all() {
    for (const std::string& id : driver.cloud().ids()) (void)driver.active(id, 1);
  }
  // Agents report every five minutes. Returns the most machines that there were.
  std::size_t pass(std::chrono::minutes time) {
    std::size_t most = 0;
    for (auto left = time; left > 0min; left -= 1min) {
      for (int i = 0; i < 6; ++i) {
        driver.advance(10s);
        most = std::max(most, machines());
      }
      if (left.count() % 5 == 0) report_all();
    }
    return most;
  }
  // Lists lack those for which it is true.
  void lacks(std::function<bool(const std::string&)> which) {
    driver.cloud().spoil_listing = [which](muster::Listing& listing) {
      std::erase_if(listing.instances,
                    [&](const Instance& instance) { return which(instance.worker_id.str()); });
    };
  }

  FleetDriver driver;
};

TEST_F(LyingLists, an_empty_list_makes_no_machine_more_however_long_it_lasts) {
  lacks([](const std::string&) { return true; });
  EXPECT_EQ(pass(180min), 20u);
  EXPECT_EQ(driver.cloud().launched(), 20u);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 20u) << "all of them report";
  EXPECT_TRUE(driver.cloud().terminate_requests.empty());
}

TEST_F(LyingLists, a_list_that_lacks_a_third_kills_nobody) {
  lacks([n = 0](const std::string&) mutable { return n++ % 3 == 0; });
  EXPECT_EQ(pass(60min), 20u);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 20u);
  EXPECT_TRUE(driver.cloud().terminate_requests.empty());
}

TEST_F(LyingLists, launches_wait_and_everything_says_why) {
  driver.demand("p/w", 0);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.advance(10s);
  ASSERT_EQ(machines(), 19u);
  lacks([](const std::string&) { return true; });
  driver.advance(10s);
  driver.demand("p/w", 5);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 20u) << "there is room for one, but not until it is known";
  const ProviderState& provider = driver.fleet().providers()[0];
  ASSERT_TRUE(provider.doubts.contains(""));
  EXPECT_THAT(provider.doubts.at(""), HasSubstr("lacks 19 of 19 workers"));
  const Pool& pool = driver.pool("p/w");
  ASSERT_TRUE(pool.verdict.obstacle);
  EXPECT_EQ(pool.verdict.obstacle->cause, verdict::cause::list_doubted);
  EXPECT_THAT(pool.verdict.text, HasSubstr("lacks 19 of 19 workers"));
  EXPECT_EQ(std::ranges::count(driver.events, "listing-doubted", &events::Event::kind), 1);

  driver.cloud().spoil_listing = {};
  driver.advance(2min);
  EXPECT_TRUE(provider.doubts.empty());
  EXPECT_EQ(driver.cloud().launched(), 21u);
  EXPECT_EQ(std::ranges::count(driver.events, "listing-believed", &events::Event::kind), 1);
}

TEST_F(LyingLists, a_silent_worker_that_vanished_alone_is_replaced_in_minutes) {
  driver.cloud().instances.erase("cloud-7");
  EXPECT_EQ(pass(8min), 20u) << "the new one";
  EXPECT_EQ(driver.cloud().launched(), 21u);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
  EXPECT_THAT(driver.worker("cloud-7")->reason, HasSubstr("lists lack it"));
}

TEST_F(LyingLists, when_all_are_really_gone_they_are_replaced_after_a_quarter_of_an_hour) {
  driver.cloud().instances.clear();
  EXPECT_EQ(pass(14min), 0u);
  EXPECT_EQ(pass(4min), 20u);
  EXPECT_EQ(driver.cloud().launched(), 40u);
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("many others were missing"));
}

// What is wrongly taken for gone is terminated, and counts until then.
TEST_F(LyingLists, silent_workers_that_the_list_lacks_count_until_they_are_terminated) {
  lacks([](const std::string& id) { return id == "cloud-7"; });
  driver.withhold = [](const Question& question) { return asks<AskTermination>(question); };
  driver.advance(20min);
  ASSERT_EQ(driver.withheld.size(), 1u);
  EXPECT_EQ(machines(), 20u) << "nothing is launched before it is known that it ends";
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopping);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 20);
  driver.withhold = {};
  driver.answer(driver.take_withheld()[0]);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 21u);
  EXPECT_EQ(machines(), 20u);
}

TEST_F(LyingLists, a_termination_that_fails_is_not_forgotten_because_the_list_lacks_the_worker) {
  lacks([](const std::string& id) { return id == "cloud-7"; });
  driver.withhold = [](const Question& question) { return asks<AskTermination>(question); };
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-7"), "test", driver.now()));
  driver.advance(10s);
  Termination failed;
  failed.failures.push_back({WorkerGroup("r"), WorkerId("cloud-7"), Error::transient("not now")});
  driver.answer(driver.take_withheld().at(0), Result<Termination>(failed));
  driver.withhold = {};
  driver.advance(30s);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopping);
  EXPECT_EQ(machines(), 20u);
  driver.advance(5min);
  EXPECT_FALSE(driver.cloud().instances.contains("cloud-7")) << "it was tried again";
}

// -------------------------------------------------------------------------------------------------
// Lists with too much

TEST_F(LyingLists, a_machine_that_is_listed_twice_is_one_and_the_living_one_counts) {
  driver.cloud().spoil_listing = [](muster::Listing& listing) {
    Instance twin = listing.instances.front();
    twin.state = InstanceState::stopped;
    listing.instances.push_back(twin);
    listing.instances.insert(listing.instances.begin(), twin);
  };
  EXPECT_EQ(pass(30min), 20u);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 20u);
  EXPECT_TRUE(driver.cloud().terminate_requests.empty());
}

TEST_F(LyingLists, machines_of_another_provider_of_this_host_are_left_alone) {
  driver.cloud().add("cloud-77", "p/unknown", "lc-1").tags = {{"muster-provider", "other"}};
  driver.advance(1min);
  EXPECT_TRUE(driver.cloud().instances.contains("cloud-77"));
}

TEST_F(LyingLists, a_machine_with_the_key_of_another_providers_worker_is_left_alone) {
  FleetDriver two = simple_fleet({.id = "p/w",
                                  .launch_configs = {{.id = "lc-a", .provider = "cloud"},
                                                     {.id = "lc-b", .provider = "other"}}});
  two.demand("p/w", 1);
  two.register_all();
  Instance shared = two.cloud("cloud").instances.at("cloud-1");
  shared.tags.clear();
  two.cloud("other").spoil_listing = [shared](muster::Listing& listing) {
    listing.instances.push_back(shared);
  };
  two.advance(5min);
  EXPECT_TRUE(two.cloud("other").terminate_requests.empty());
  EXPECT_EQ(two.worker("cloud-1")->state, WorkerState::running);
}

TEST_F(LyingLists, invented_machines_fill_neither_the_store_nor_the_log) {
  const std::size_t rows = driver.rows("workers");
  driver.cloud().spoil_listing = [n = 0](muster::Listing& listing) mutable {
    for (int i = 0; i < 500; ++i) {
      Instance ghost = listing.instances.front();
      ghost.worker_id = WorkerId("ghost-" + std::to_string(n++));
      ghost.idempotency_key = IdempotencyKey("a key that nobody used");
      if (i % 2) ghost.worker_pool_id = WorkerPoolId("p/unknown");
      listing.instances.push_back(ghost);
    }
  };
  driver.advance(10s);
  EXPECT_LE(driver.rows("workers"), rows + 6 * 20) << "of 1500 ghosts";
  EXPECT_LE(driver.cloud().terminate_requests.size(), 20u) << "in few calls";
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 20u);
}

TEST_F(LyingLists, a_stranger_is_told_once_as_long_as_it_is_listed) {
  driver.cloud().spoil_listing = [](muster::Listing& listing) {
    Instance ghost = listing.instances.front();
    ghost.worker_id = WorkerId("ghost");
    ghost.idempotency_key = IdempotencyKey("a key that nobody used");
    ghost.worker_pool_id = WorkerPoolId("p/unknown");
    listing.instances.push_back(ghost);
  };
  driver.advance(5min);
  EXPECT_EQ(std::ranges::count(driver.events, "instance-unknown", &events::Event::kind), 1);
}

TEST_F(LyingLists, a_machine_that_should_be_gone_and_is_listed_again_is_ended_and_costs_no_room) {
  const Instance old = driver.cloud().instances.at("cloud-1");
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.advance(1min);
  ASSERT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  driver.register_all();
  driver.cloud().spoil_listing = [old](muster::Listing& listing) {
    listing.instances.push_back(old);
  };
  pass(10min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 20u);
  EXPECT_EQ(machines(), 20u);
}

// -------------------------------------------------------------------------------------------------
// Launches without an answer

TEST(LyingListsOfLaunches, a_launch_that_is_not_listed_counts_until_it_can_no_longer_happen) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.cloud().allocation_lost = Error::transient("no answer");
  driver.cloud().spoil_listing = [](muster::Listing& listing) { listing.instances.clear(); };
  driver.demand("p/w", 3);
  driver.advance(4min);
  EXPECT_EQ(driver.cloud().instances.size(), 1u);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 1);
}

TEST(LyingListsOfLaunches, a_worker_that_nobody_knows_and_that_registers_may_be_a_lost_launch) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.cloud().allocation_lost = Error::transient("no answer");
  driver.cloud().spoil_listing = [](muster::Listing& listing) { listing.instances.clear(); };
  driver.demand("p/w", 3);
  driver.advance(1min);
  const WorkerName name{WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId("cloud-1")};
  ASSERT_FALSE(
      driver.fleet().register_worker(name, ProviderId("cloud"), driver.secret, driver.now()));
  driver.advance(20min);
  EXPECT_EQ(driver.cloud().instances.size(), 1u);
  driver.cloud().spoil_listing = {};
  driver.advance(2min);
  EXPECT_TRUE(driver.register_worker("cloud-1"));
}

}  // namespace
}  // namespace muster::fleet
