// What the providers say exists, against what the fleet believes: vanished machines, strangers,
// lies and silence.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

// So many workers that run and work.
FleetDriver settled_fleet(std::int64_t workers) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", workers);
  driver.demand("p/w", 0);
  driver.register_all();
  for (const std::string& id : driver.cloud().ids()) EXPECT_TRUE(driver.active(id, 1).has_value());
  driver.advance(2min);
  return driver;
}

TEST(Listing, one_call_lists_all_and_not_one_for_each_worker) {
  FleetDriver driver = settled_fleet(20);
  const int before = driver.cloud().listings;
  driver.advance(10min);
  EXPECT_LE(driver.cloud().listings - before, 11);
}

TEST(Listing, a_worker_that_vanished_needs_two_listings_and_silence_to_be_gone) {
  FleetDriver driver = settled_fleet(3);
  driver.cloud().instances.erase("cloud-1");
  driver.advance(3min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running) << "it spoke 5 minutes ago";
  driver.advance(3min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  EXPECT_THAT(driver.worker("cloud-1")->reason, HasSubstr("vanished"));
  ASSERT_FALSE(driver.errors().empty());
  EXPECT_EQ(driver.errors().back().title, "is gone");
}

TEST(Listing, a_worker_that_one_listing_forgot_lives_on) {
  FleetDriver driver = settled_fleet(3);
  int listings = 0;
  driver.cloud().spoil_listing = [&](muster::Listing& listing) {
    if (++listings % 2)
      std::erase_if(listing.instances,
                    [](const Instance& instance) { return instance.worker_id.str() == "cloud-1"; });
  };
  driver.advance(30min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
}

TEST(Listing, a_worker_that_was_heard_of_after_the_listing_began_is_there) {
  FleetDriver driver = settled_fleet(2);
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  for (int round = 0; round < 20; ++round) {
    driver.advance(61s);
    ASSERT_EQ(driver.withheld.size(), 1u);
    ASSERT_TRUE(driver.active("cloud-1", 1));
    driver.answer(driver.take_withheld()[0], Result<muster::Listing>(muster::Listing{}));
  }
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_EQ(driver.worker("cloud-2")->state, WorkerState::stopped) << "nobody heard of this one";
}

TEST(Listing, an_empty_listing_of_a_provider_with_ten_workers_is_not_believed_at_once) {
  FleetDriver driver = settled_fleet(10);
  int lies = 3;
  driver.cloud().spoil_listing = [&](muster::Listing& listing) {
    if (lies-- > 0) listing.instances.clear();
  };
  driver.advance(10min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 10u);
  EXPECT_TRUE(driver.errors().empty());
}

TEST(Listing, a_provider_that_insists_that_all_is_gone_is_believed_in_the_end) {
  FleetDriver driver = settled_fleet(10);
  driver.cloud().instances.clear();
  driver.advance(65s);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 10u);
  EXPECT_THAT(driver.fleet().providers()[0].doubts.at(""), HasSubstr("lacks 10 of 10 workers"));
  driver.advance(20min);
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 10u);
}

TEST(Listing, workers_that_were_told_to_end_make_no_listing_suspicious) {
  FleetDriver driver = settled_fleet(12);
  for (const std::string& id : driver.cloud().ids())
    ASSERT_TRUE(driver.fleet().remove_worker(driver.name(id), "test", driver.now()));
  driver.advance(10s);
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 12u);
  EXPECT_TRUE(driver.fleet().providers()[0].doubts.empty());
}

TEST(Listing, a_region_that_could_not_be_listed_lets_nobody_vanish) {
  FleetDriver driver = settled_fleet(3);
  driver.cloud().spoil_listing = [](muster::Listing& listing) {
    listing.instances.clear();
    listing.problems.push_back(Error::transient("no answer").in_zone("a"));
  };
  driver.advance(1h);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 3u);
}

TEST(Listing, an_instance_that_the_provider_stopped_is_gone_at_once) {
  FleetDriver driver = settled_fleet(2);
  driver.cloud().instances.at("cloud-1").state = InstanceState::stopped;
  driver.advance(70s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

TEST(Listing, an_instance_that_ends_before_it_registers_counts_against_its_launch_configuration) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  driver.cloud().instances.at("cloud-1").state = InstanceState::stopped;
  driver.advance(61s);
  EXPECT_EQ(driver.launch_config("lc-1")->health.last_hour(driver.wall()).failed, 1);
  EXPECT_EQ(driver.errors().back().title, "ended before it registered");
}

// -------------------------------------------------------------------------------------------------
// Strangers

TEST(Listing, an_instance_that_nobody_knows_is_adopted_if_its_pool_has_room) {
  FleetDriver driver = simple_fleet();
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.advance(61s);
  ASSERT_NE(driver.worker("cloud-77"), nullptr);
  EXPECT_EQ(driver.worker("cloud-77")->state, WorkerState::requested);
  EXPECT_TRUE(driver.register_worker("cloud-77").has_value());
  EXPECT_THAT(driver.journal("p/w", "lifecycle").back().reason, HasSubstr("adopted"));
}

TEST(Listing, an_adopted_worker_has_until_its_credentials_would_end_to_register) {
  FleetDriver driver =
      simple_fleet({.id = "p/w",
                    .launch_configs = {{"lc-1"}},
                    .lifecycle = {.registration_timeout = 10min, .reregistration_timeout = 3h}});
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.advance(2h);
  ASSERT_NE(driver.worker("cloud-77"), nullptr);
  EXPECT_EQ(driver.worker("cloud-77")->state, WorkerState::requested);
  driver.advance(2h);
  EXPECT_NE(driver.worker("cloud-77")->state, WorkerState::requested) << "it never came";
}

// The host gave it credentials before it forgot it: only that worker has them.
TEST(Listing, an_adopted_worker_runs_as_soon_as_it_reports_with_its_credentials) {
  FleetDriver driver = simple_fleet();
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.cloud().add("cloud-78", "p/w", "lc-1");
  driver.advance(61s);
  EXPECT_TRUE(driver.active("cloud-77", 1));
  EXPECT_EQ(driver.worker("cloud-77")->state, WorkerState::running);
  EXPECT_EQ(driver.worker("cloud-77")->busy, 1);
  const auto asked = driver.fleet().should_terminate(driver.name("cloud-78"), driver.now());
  ASSERT_TRUE(asked);
  EXPECT_FALSE(asked->terminate);
  EXPECT_EQ(driver.worker("cloud-78")->state, WorkerState::running);
  (void)driver.fleet().change_queue(driver.now());
  driver.fleet().input_ended();
  driver.settle();
  EXPECT_EQ(driver.fleet().queue().workers().size(), 2u) << "both can be leased";
  const auto renewed = driver.fleet().reregister_worker(driver.name("cloud-77"), driver.secret,
                                                        driver.secret, driver.now());
  ASSERT_FALSE(renewed) << "the host does not know its secret";
  EXPECT_EQ(renewed.error().code, "wrongSecret");
  EXPECT_TRUE(driver.register_worker("cloud-77").has_value()) << "so it registers again";
  EXPECT_FALSE(driver.register_worker("cloud-77").has_value()) << "once";
}

TEST(Listing, a_worker_that_was_launched_and_has_not_registered_does_not_run_by_a_report) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  const auto reported = driver.active("cloud-1", 1);
  ASSERT_FALSE(reported.has_value());
  EXPECT_NE(reported.error().code, "gone") << "it is not to end";
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
}

TEST(Listing, an_instance_that_nobody_knows_is_ended_if_its_pool_is_full) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.demand("p/w", 1);
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.advance(3min);
  EXPECT_EQ(driver.cloud().ids(), std::vector<std::string>{"cloud-1"});
  EXPECT_EQ(driver.worker("cloud-77")->state, WorkerState::stopped);
}

TEST(Listing, an_instance_of_an_unknown_pool_or_launch_configuration_is_ended) {
  FleetDriver driver = simple_fleet();
  driver.cloud().add("cloud-77", "p/unknown", "lc-1");
  driver.cloud().add("cloud-78", "p/w", "lc-unknown");
  driver.advance(61s);
  EXPECT_TRUE(driver.cloud().instances.empty());
  EXPECT_EQ(driver.worker("cloud-77"), nullptr);
}

TEST(Listing, before_the_first_configuration_no_stranger_is_ended) {
  FleetDriver driver;
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.provider_up();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().instances.size(), 1u) << "its pool may be configured in a moment";
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}}});
  driver.advance(61s);
  EXPECT_NE(driver.worker("cloud-77"), nullptr);
}

TEST(Listing, an_instance_of_another_muster_is_left_alone) {
  FleetDriver driver = simple_fleet();
  driver.cloud().add("cloud-77", "p/w", "lc-1").tags = {{"muster-host", "somebody else"}};
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().instances.size(), 1u);
  EXPECT_EQ(driver.worker("cloud-77"), nullptr);
}

TEST(Listing, an_instance_that_should_be_gone_and_is_not_is_ended_again) {
  FleetDriver driver = settled_fleet(1);
  const Instance zombie = driver.cloud().instances.at("cloud-1");
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.advance(1min);
  ASSERT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
  driver.cloud().instances["cloud-1"] = zombie;
  driver.advance(5min);
  EXPECT_TRUE(driver.cloud().instances.empty());
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

TEST(Listing, a_termination_that_fails_is_tried_again) {
  FleetDriver driver = settled_fleet(1);
  driver.cloud().down = Error::transient("down");
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.advance(5min);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopping);
  driver.cloud().down.reset();
  driver.advance(10min);
  EXPECT_TRUE(driver.cloud().instances.empty());
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopped);
}

TEST(Listing, terminating_names_the_worker_as_its_provider_knows_it) {
  FleetDriver driver = settled_fleet(1);
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "not needed", driver.now()));
  driver.settle();
  const TerminateRequest& request = driver.cloud().terminate_requests.at(0);
  EXPECT_EQ(request.workers.at(0).worker_id.str(), "cloud-1");
  EXPECT_EQ(request.workers.at(0).provider_data, (json::object{{"v", 1}}));
  EXPECT_EQ(request.reason, "not needed");
}

// -------------------------------------------------------------------------------------------------
// Silence

TEST(Listing, a_provider_that_is_down_for_an_hour_loses_no_worker_and_others_take_the_demand) {
  FleetDriver driver = simple_fleet({.id = "p/w",
                                     .launch_configs = {{.id = "lc-a", .provider = "cloud"},
                                                        {.id = "lc-b", .provider = "other"}}});
  driver.demand("p/w", 4);
  driver.demand("p/w", 0);
  driver.register_all();
  for (const std::string& id : driver.cloud().ids()) ASSERT_TRUE(driver.active(id, 1));
  driver.cloud("cloud").down = Error::transient("the region is down");
  driver.demand("p/w", 6);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud("other").launched(), 6u);
  driver.demand("p/w", 0);
  driver.register_all();
  driver.advance(59min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 10u) << "nobody of its four is judged";
  EXPECT_NE(driver.fleet().providers()[0].trouble, "");
  driver.cloud("cloud").down.reset();
  driver.advance(10min);
  EXPECT_EQ(driver.fleet().providers()[0].trouble, "");
  EXPECT_EQ(driver.cloud("cloud").instances.size(), 4u);
}

}  // namespace
}  // namespace muster::fleet
