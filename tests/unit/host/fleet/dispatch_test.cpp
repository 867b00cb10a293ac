// From an intent to an instance: nothing lost, nothing twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const auto allocations = [](const Question& question) { return asks<AskAllocation>(question); };

TEST(Launching, partial_success_keeps_what_was_launched_and_blames_the_rest) {
  FleetDriver driver = simple_fleet();
  int asked = 0;
  driver.cloud().refuses = [&](const LaunchConfig&) -> std::optional<Error> {
    if (++asked % 2) return std::nullopt;
    return Error::capacity("none left").in_zone("a").with_code("NoCapacity");
  };
  driver.demand("p/w", 4);
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 2u);
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 2u);
  ASSERT_EQ(driver.errors().size(), 2u);
  EXPECT_EQ(driver.errors()[0].kind, "creation-error");
  EXPECT_EQ(driver.errors()[0].launch_config_id.str(), "lc-1");
  EXPECT_EQ(driver.errors()[0].extra.at("code"), "NoCapacity");
  const auto counts = driver.launch_config("lc-1")->health.last_hour(driver.wall());
  EXPECT_EQ(counts.tried, 4);
  EXPECT_EQ(counts.failed, 2);
}

TEST(Launching, an_answer_that_leaves_a_key_out_is_a_lost_answer) {
  FleetDriver driver = simple_fleet();
  driver.withhold = allocations;
  driver.demand("p/w", 1);
  driver.answer(driver.take_withheld().at(0), Result<Allocation>(Allocation{}));
  EXPECT_EQ(driver.workers(WorkerState::requested).at(0)->phase, LaunchPhase::uncertain);
}

TEST(Launching, an_answer_with_neither_instance_nor_error_is_a_lost_answer) {
  FleetDriver driver = simple_fleet();
  driver.withhold = allocations;
  driver.demand("p/w", 1);
  const Question question = driver.take_withheld().at(0);
  const auto key = std::get<AskAllocation>(question.ask).request.idempotency_keys.at(0);
  driver.answer(question, Result<Allocation>(Allocation{{Launch{.idempotency_key = key}}}));
  EXPECT_EQ(driver.workers(WorkerState::requested).at(0)->phase, LaunchPhase::uncertain);
}

TEST(Launching, a_lost_answer_is_asked_again_with_the_same_key_and_the_same_bid) {
  FleetDriver driver = simple_fleet();
  driver.cloud().down = Error::transient("reset");
  driver.demand("p/w", 0);
  driver.cloud().down.reset();
  driver.withhold = allocations;
  driver.demand("p/w", 1);
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  driver.answer(driver.take_withheld().at(0), Result<Allocation>(Error::transient("reset")));
  driver.advance(6s);
  const auto& requests = driver.cloud().allocate_requests;
  ASSERT_EQ(requests.size(), 1u) << "the first never arrived";
  EXPECT_EQ(requests[0].idempotency_keys.at(0), driver.fleet().key_of(driver.fleet().workers()[0]));
  EXPECT_EQ(requests[0].bid_data, json::value("bid of cloud"));
  EXPECT_EQ(requests[0].repeated_keys, requests[0].idempotency_keys);
  EXPECT_EQ(driver.workers(WorkerState::requested).at(0)->phase, LaunchPhase::launched);
}

TEST(Launching, a_first_attempt_repeats_no_key) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  ASSERT_FALSE(driver.cloud().allocate_requests.empty());
  EXPECT_TRUE(driver.cloud().allocate_requests[0].repeated_keys.empty());
}

TEST(Launching, a_lost_answer_of_a_launch_that_happened_makes_one_instance) {
  FleetDriver driver = simple_fleet();
  driver.cloud().allocation_lost = Error::transient("no answer within 30 s");
  driver.demand("p/w", 1);
  driver.cloud().allocation_lost.reset();
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  ASSERT_EQ(driver.workers(WorkerState::requested).size(), 1u);
  EXPECT_EQ(driver.workers(WorkerState::requested)[0]->worker_id, "cloud-1");
}

TEST(Launching, a_lost_answer_is_found_by_listing_when_the_retries_are_lost_too) {
  FleetDriver driver = simple_fleet();
  driver.cloud().allocation_lost = Error::transient("no answer within 30 s");
  driver.demand("p/w", 1);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  ASSERT_NE(driver.worker("cloud-1"), nullptr);
  EXPECT_EQ(driver.worker("cloud-1")->phase, LaunchPhase::launched);
}

TEST(Launching, no_answer_and_no_listing_of_it_resolves_the_worker) {
  FleetDriver driver = simple_fleet();
  driver.withhold = allocations;
  driver.demand("p/w", 1);
  const auto number = driver.workers(WorkerState::requested).at(0)->number;
  driver.demand("p/w", 0);
  for (int i = 0; i < 40; ++i) {
    for (const Question& question : driver.take_withheld())
      driver.answer(question, Result<Allocation>(Error::transient("reset")));
    driver.advance(10s);
  }
  EXPECT_EQ(driver.by_number(number)->state, WorkerState::stopped);
  EXPECT_THAT(driver.by_number(number)->reason, HasSubstr("never launched"));
  EXPECT_EQ(driver.pool("p/w").totals, Totals{});
}

TEST(Launching, a_key_that_is_refused_when_it_is_tried_again_may_be_launched_by_the_first_call) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.withhold = allocations;
  driver.demand("p/w", 2);
  const Question first = driver.take_withheld().at(0);
  driver.answer(first, Result<Allocation>(Error::transient("no answer within 30 s")));
  for (int i = 0; i < 12; ++i) {
    for (const Question& again : driver.take_withheld()) {
      EXPECT_FALSE(std::get<AskAllocation>(again.ask).request.repeated_keys.empty())
          << "another machine is asked for";
      driver.answer(again, Result<Allocation>(Error::throttle("too many calls")));
    }
    driver.advance(10s);
    EXPECT_EQ(driver.pool("p/w").totals.used(), 1) << "it may still be launched";
  }
  // The first call takes effect after all.
  ASSERT_TRUE(driver.cloud().allocate(std::get<AskAllocation>(first.ask).request, driver.wall()));
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  ASSERT_NE(driver.worker("cloud-1"), nullptr);
  EXPECT_EQ(driver.worker("cloud-1")->phase, LaunchPhase::launched);
}

TEST(Launching, a_clock_that_is_set_ahead_gives_no_launch_up_that_may_take_effect) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.withhold = allocations;
  const auto pass = [&](std::chrono::seconds time) {
    for (auto passed = 0s; passed < time; passed += 5s) {
      for (const Question& question : driver.take_withheld())
        driver.answer(question, Result<Allocation>(Error::transient("no answer within 30 s")));
      driver.advance(5s);
    }
  };
  driver.demand("p/w", 1);
  pass(60s);
  const auto number = driver.workers(WorkerState::requested).at(0)->number;
  driver.jump_clock(3h);
  pass(120s);
  EXPECT_EQ(driver.by_number(number)->state, WorkerState::requested);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 1);
  driver.demand("p/w", 0);
  pass(900s);
  EXPECT_EQ(driver.by_number(number)->state, WorkerState::stopped) << "it is given up in the end";
}

TEST(Launching,
     a_lost_launch_stops_counting_as_on_its_way_after_two_minutes_but_not_against_limits) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 3});
  driver.withhold = allocations;
  driver.demand("p/w", 2);
  const Question question = driver.take_withheld().at(0);
  driver.withhold = [](const Question& each) {
    return asks<AskAllocation>(each) || asks<AskListing>(each);
  };
  driver.answer(question, Result<Allocation>(Error::transient("reset")));
  driver.advance(119s);
  EXPECT_EQ(driver.pool("p/w").totals.requested, 2);
  driver.advance(2s);
  EXPECT_EQ(driver.pool("p/w").totals.lost, 2);
  driver.advance(5min);
  EXPECT_EQ(driver.pool("p/w").totals.requested, 1) << "one more was launched for the demand";
  EXPECT_EQ(driver.pool("p/w").totals.used(), 3) << "and no second one";
}

TEST(Launching, a_late_answer_for_a_worker_that_was_given_up_ends_the_instance) {
  FleetDriver driver = simple_fleet();
  driver.withhold = allocations;
  driver.demand("p/w", 1);
  const Question question = driver.take_withheld().at(0);
  driver.demand("p/w", 0);
  driver.configure({});  // outdated before it registered
  EXPECT_EQ(driver.workers(WorkerState::stopping).size(), 1u);
  driver.answer(question);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  EXPECT_TRUE(driver.cloud().instances.empty());
  EXPECT_EQ(driver.workers(WorkerState::stopped).size(), 1u);
}

TEST(Launching, an_instance_that_is_another_workers_is_not_taken) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.withhold = allocations;
  driver.demand("p/w", 2);
  const Question question = driver.take_withheld().at(0);
  Launch launch{.idempotency_key =
                    std::get<AskAllocation>(question.ask).request.idempotency_keys.at(0)};
  launch.instance = driver.cloud().instances.at("cloud-1");
  driver.answer(question, Result<Allocation>(Allocation{{launch}}));
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 1u);
  EXPECT_THAT(driver.errors().back().description, HasSubstr("another worker's"));
}

TEST(Launching, a_second_instance_for_one_key_in_an_answer_is_ended) {
  FleetDriver driver = simple_fleet();
  driver.cloud().allocation_lost = Error::transient("lost");
  driver.demand("p/w", 1);
  driver.cloud().allocation_lost.reset();
  driver.withhold = allocations;
  driver.advance(5s);  // it is tried again, and a listing finds it meanwhile
  driver.advance(10s);
  ASSERT_NE(driver.worker("cloud-1"), nullptr);
  ASSERT_EQ(driver.withheld.size(), 1u);
  Instance second = driver.cloud().instances.at("cloud-1");
  second.worker_id = WorkerId("cloud-9");
  driver.cloud().instances["cloud-9"] = second;
  const Launch launch{.idempotency_key = second.idempotency_key, .instance = second};
  driver.answer(driver.take_withheld()[0], Result<Allocation>(Allocation{{launch}}));
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().ids(), std::vector<std::string>{"cloud-1"});
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
}

TEST(Launching, a_second_instance_for_one_key_in_a_listing_is_ended) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  Instance second = driver.cloud().instances.at("cloud-1");
  second.worker_id = WorkerId("cloud-9");
  driver.cloud().instances["cloud-9"] = second;
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().ids(), std::vector<std::string>{"cloud-1"});
  EXPECT_EQ(driver.errors().back().title, "was launched twice");
}

TEST(Launching, launches_that_wait_for_their_turn_are_given_up_when_the_provider_goes_down) {
  FleetDriver driver;
  driver.configure({{.id = "p/w",
                     .launch_configs = {{.id = "lc-1", .provider = "cloud"},
                                        {.id = "lc-2", .provider = "other"}}}});
  driver.provider_up("cloud", {.launches_per_second = 0.01, .launch_burst = 2});
  driver.demand("p/w", 10);
  ASSERT_EQ(driver.cloud("cloud").launched(), 2u);
  driver.provider_up("other");
  driver.provider_down("cloud");
  driver.advance(2min);
  EXPECT_EQ(driver.cloud("other").launched(), 8u) << "others take over the demand";
  driver.provider_up("cloud");
  driver.advance(2min);
  EXPECT_EQ(driver.cloud("cloud").launched(), 2u);
}

TEST(Launching, launches_that_wait_for_their_turn_are_given_up_when_what_they_need_is_held) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}}});
  driver.provider_up("cloud", {.launches_per_second = 1, .launch_burst = 1});
  driver.cloud().refuses = [](const LaunchConfig&) { return Error::auth("the key was revoked"); };
  driver.demand("p/w", 50);
  driver.advance(1min);
  EXPECT_EQ(driver.cloud().allocate_requests.size(), 1u) << "the other 49 would fail as well";
  EXPECT_EQ(driver.pool("p/w").totals, Totals{});
}

TEST(Launching, a_removed_worker_that_nobody_was_asked_for_is_never_asked_for) {
  FleetDriver driver;
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}}});
  driver.provider_up("cloud", {.launches_per_second = 0.001, .launch_burst = 1});
  driver.demand("p/w", 5);
  driver.configure({});
  driver.advance(1h);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  EXPECT_TRUE(driver.cloud().instances.empty());
}

TEST(Launching, numbers_and_keys_are_never_used_again) {
  FleetDriver driver = simple_fleet();
  std::set<std::string> keys;
  for (int round = 0; round < 5; ++round) {
    driver.demand("p/w", 3 * (round + 1));
    driver.advance(1min);
    driver.crash();
    driver.start_again();
    driver.advance(1min);
  }
  std::size_t asked = 0;
  for (const auto& request : driver.cloud().allocate_requests)
    for (const auto& key : request.idempotency_keys) {
      keys.insert(key.str().substr(key.str().rfind('-')));
      ++asked;
    }
  EXPECT_EQ(keys.size(), asked);
  EXPECT_GE(asked, 15u);
}

}  // namespace
}  // namespace muster::fleet
