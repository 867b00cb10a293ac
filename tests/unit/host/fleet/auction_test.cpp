// How much is needed, who offers what, what is taken, and what the journal says of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

const PoolSketch two_clouds{
    .id = "p/w",
    .launch_configs = {{.id = "lc-a", .provider = "cloud"}, {.id = "lc-b", .provider = "other"}}};

// -------------------------------------------------------------------------------------------------
// What goes wrong

TEST(Conversation, a_strategy_that_fails_leaves_a_verdict_and_is_asked_again) {
  FleetDriver driver = simple_fleet();
  driver.size = [](const SizeRequest&) { return Result<Size>(Error::internal("it has a bug")); };
  driver.demand("p/w", 3);
  EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("it has a bug"));
  EXPECT_EQ(driver.journal("p/w", "size").back().reason,
            "the strategy cannot say how much is needed: it has a bug");
  driver.size = {};
  driver.advance(16s);
  EXPECT_EQ(driver.cloud().launched(), 3u);
}

TEST(Conversation, a_strategy_that_cannot_choose_leaves_a_verdict_and_is_asked_again) {
  FleetDriver driver = simple_fleet();
  driver.select = [](const SelectRequest&) {
    return Result<Selection>(Error::transient("no answer"));
  };
  driver.demand("p/w", 3);
  EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("no answer"));
  EXPECT_EQ(driver.cloud().launched(), 0u);
  driver.select = {};
  driver.advance(16s);
  EXPECT_EQ(driver.cloud().launched(), 3u);
}

TEST(Conversation, a_provider_that_fails_to_bid_does_not_stop_the_others) {
  FleetDriver driver = simple_fleet(two_clouds);
  driver.cloud("cloud").bids_fail = Error::transient("reset");
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.cloud("cloud").launched(), 0u);
  EXPECT_EQ(driver.cloud("other").launched(), 2u);
}

TEST(Conversation, documents_that_a_provider_cannot_bid_on_close_it_to_no_other_pool) {
  FleetDriver driver;
  driver.configure({{.id = "p/bad", .launch_configs = {{"lc-bad"}}},
                    {.id = "p/good", .launch_configs = {{"lc-good"}}}});
  driver.provider_up();
  driver.cloud().bids_fail = Error::config("there is no such image");
  driver.demand("p/bad", 1);
  driver.cloud().bids_fail.reset();
  driver.demand("p/good", 1);
  driver.advance(1min);
  ASSERT_EQ(driver.cloud().launched(), 1u);
  EXPECT_EQ(driver.cloud().instances.begin()->second.worker_pool_id.str(), "p/good");
  EXPECT_THAT(driver.pool("p/bad").verdict.text, HasSubstr("there is no such image"));
}

TEST(Conversation, a_strategy_that_takes_no_bid_leaves_its_reason_as_verdict) {
  FleetDriver driver = simple_fleet();
  driver.select = [](const SelectRequest&) {
    return Result<Selection>(Selection{{}, "all too dear"});
  };
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("all too dear"));
}

TEST(Conversation, choices_that_no_bid_offered_are_not_taken) {
  FleetDriver driver = simple_fleet();
  driver.select = [](const SelectRequest& request) {
    const BidId real = request.offers.at(0).bid_id;
    return Result<Selection>(
        Selection{{{BidId("made up"), 5}, {real, 1'000'000}, {real, 7}, {real, -3}}, "confused"});
  };
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.cloud().launched(), 2u) << "no more than is wanted, and each bid once";
}

TEST(Conversation, a_pool_without_launch_configurations_says_so) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {}});
  driver.demand("p/w", 2);
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("no active launch configuration"));
}

TEST(Conversation, an_answer_that_nobody_waits_for_harms_nobody) {
  FleetDriver driver = simple_fleet();
  driver.fleet().answered({987654, Result<Size>(Size{50, "late"})}, driver.now());
  driver.settle();
  EXPECT_EQ(driver.cloud().launched(), 0u);
}

TEST(Conversation, a_pool_that_vanishes_while_its_bids_are_on_their_way_launches_nothing) {
  for (const auto kind : {0, 1, 2}) {
    FleetDriver driver = simple_fleet(two_clouds);
    driver.withhold = [&](const Question& question) {
      return (kind == 0 && asks<AskSize>(question)) || (kind == 1 && asks<AskBids>(question)) ||
             (kind == 2 && asks<AskSelection>(question));
    };
    driver.demand("p/w", 2);
    ASSERT_FALSE(driver.withheld.empty());
    driver.configure({});
    for (const Question& question : driver.take_withheld()) driver.answer(question);
    EXPECT_EQ(driver.cloud("cloud").launched() + driver.cloud("other").launched(), 0u);
    EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::blocked);
  }
}

TEST(Conversation, a_launch_configuration_that_is_paused_while_it_is_chosen_is_not_launched_from) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskSelection>(question); };
  driver.demand("p/w", 2);
  ASSERT_TRUE(driver.fleet().pause(WorkerPoolId("p/w"), LaunchConfigId("lc-1"), driver.wall() + 1h,
                                   "", driver.now()));
  driver.answer(driver.take_withheld().at(0));
  EXPECT_EQ(driver.cloud().launched(), 0u);
}

TEST(Conversation, a_provider_that_goes_down_while_it_is_chosen_gets_no_intents) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskSelection>(question); };
  driver.demand("p/w", 2);
  driver.provider_down();
  driver.answer(driver.take_withheld().at(0));
  EXPECT_EQ(driver.pool("p/w").totals, Totals{});
}

// -------------------------------------------------------------------------------------------------
// What goes right

TEST(Conversation, without_demand_nobody_is_asked_for_bids) {
  FleetDriver driver = simple_fleet();
  driver.advance(1h);
  EXPECT_TRUE(driver.cloud().bid_requests.empty());
  EXPECT_EQ(driver.pool("p/w").verdict.kind, verdict::Kind::placed);
}

TEST(Conversation, all_providers_of_a_pool_are_asked_at_the_same_time) {
  FleetDriver driver = simple_fleet(two_clouds);
  driver.withhold = [](const Question& question) { return asks<AskBids>(question); };
  driver.demand("p/w", 2);
  ASSERT_EQ(driver.withheld.size(), 2u);
  const auto questions = driver.take_withheld();
  driver.answer(questions[1]);
  EXPECT_TRUE(driver.select_requests.empty()) << "the other may bid less";
  driver.answer(questions[0]);
  ASSERT_EQ(driver.select_requests.size(), 1u);
  EXPECT_EQ(driver.select_requests[0].offers.size(), 2u);
}

// The driver checks before each allocate that its rows are durable.
TEST(Conversation, size_bids_select_intent_and_launch_follow_each_other) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand("p/w", 2);
  ASSERT_EQ(driver.withheld.size(), 1u);
  EXPECT_EQ(driver.size_requests.back().pending, 2);
  EXPECT_EQ(driver.cloud().bid_requests.back().capacity, 2);
  EXPECT_EQ(driver.select_requests.back().capacity, 2);
  EXPECT_EQ(driver.rows("workers"), 2u) << "durable before anybody is called";
  EXPECT_EQ(driver.workers(WorkerState::requested).size(), 2u);
  driver.answer(driver.take_withheld()[0]);
  EXPECT_EQ(driver.workers(WorkerState::requested)[0]->phase, LaunchPhase::launched);
}

TEST(Conversation, an_instance_carries_tags_that_name_host_pool_launch_configuration_and_epoch) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  const auto& tags = driver.cloud().allocate_requests.at(0).tags;
  EXPECT_EQ(tags.at("muster-host"), "host");
  EXPECT_EQ(tags.at("muster-pool"), "p/w");
  EXPECT_EQ(tags.at("muster-provider"), "cloud");
  EXPECT_EQ(tags.at("muster-launch-config"), "lc-1");
  EXPECT_EQ(tags.at("muster-epoch"), std::to_string(driver.fleet().epoch()));
}

TEST(Conversation, the_data_of_a_bid_comes_back_with_the_launch) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.cloud().allocate_requests.at(0).bid_data, json::value("bid of cloud"));
}

TEST(Conversation, a_registered_launch_is_not_launched_again_for_the_same_demand) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 3);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 3u);
  driver.demand("p/w", 0);
  driver.register_all();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 3u);
}

TEST(Conversation, new_demand_is_seen_at_once_and_not_by_the_poll) {
  FleetDriver driver = simple_fleet();
  const Time before = driver.wall();
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.wall(), before);
  EXPECT_EQ(driver.cloud().launched(), 1u);
}

TEST(Conversation, of_a_pool_to_which_nothing_happens_the_strategy_is_asked_as_its_history_grows) {
  FleetDriver driver = simple_fleet();
  driver.asked_for_size = 0;
  driver.advance(1h);
  EXPECT_GE(driver.asked_for_size, 10);
  EXPECT_LE(driver.asked_for_size, 13);
}

TEST(Conversation, a_strategy_that_failed_is_asked_again_though_nothing_happened) {
  FleetDriver driver = simple_fleet();
  driver.size = [](const SizeRequest&) -> Result<Size> { return Error::transient("not now"); };
  driver.advance(6min);  // its history has grown, so that it is asked
  driver.asked_for_size = 0;
  driver.advance(2min);
  EXPECT_GE(driver.asked_for_size, 6);
}

TEST(Conversation, the_strategy_of_the_pool_is_asked_and_else_the_default) {
  FleetDriver driver;
  std::vector<std::string> asked;
  driver.withhold = [&](const Question& question) {
    if (const auto* ask = std::get_if<AskSize>(&question.ask)) asked.push_back(ask->strategy);
    return false;
  };
  driver.configure({{.id = "p/a", .launch_configs = {}, .strategy = "cheapest"},
                    {.id = "p/b", .launch_configs = {}}});
  EXPECT_THAT(asked, testing::UnorderedElementsAre("cheapest", "classic"));
}

TEST(Conversation, weights_reach_the_provider_and_the_strategy) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{"lc-1"}, {.id = "lc-2", .initial_weight = 0.5}}});
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.cloud().bid_requests.at(0).candidates.at(1).weight, 0.5);
  EXPECT_EQ(driver.select_requests.at(0).offers.at(1).weight, 0.5);
}

TEST(Conversation, the_sources_note_shows_in_the_verdict) {
  FleetDriver driver = simple_fleet();
  driver.fleet().demand_changed({{WorkerPoolId("p/w"), {.pending = 0, .note = "queue is stale"}}},
                                driver.now());
  driver.settle();
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("queue is stale"));
}

// -------------------------------------------------------------------------------------------------
// Journal and history

TEST(Journal, every_size_and_selection_has_reason_digest_and_inputs) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 2);
  ASSERT_EQ(driver.journal("p/w", "select").size(), 1u);
  for (const DecisionRow& row : driver.journal("p/w")) {
    EXPECT_FALSE(row.reason.empty()) << row.kind;
    EXPECT_EQ(row.digest.size(), 16u) << row.kind;
    EXPECT_TRUE(row.document.contains("inputs")) << row.kind;
  }
  const DecisionRow size = driver.journal("p/w", "size").back();
  EXPECT_EQ(size.reason, "2 wait");
  EXPECT_EQ(size.document.at("inputs").at("pending"), 2);
  EXPECT_EQ(size.document.at("outputs").at("capacity"), 2);
  const DecisionRow select = driver.journal("p/w", "select").back();
  EXPECT_THAT(select.reason, HasSubstr("in order"));
  EXPECT_EQ(select.document.at("outputs").at("capacityLaunched"), 2);
  EXPECT_EQ(select.document.at("inputs").at("offers").at(0).at("arithmetic"), "no recent failures");
}

TEST(Journal, shows_what_the_strategy_was_told_and_not_what_came_later) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskSize>(question); };
  driver.demand("p/w", 2);
  const Question question = driver.take_withheld().at(0);
  driver.withhold = {};
  driver.demand("p/w", 9);
  driver.answer(question);
  int found = 0;
  for (const DecisionRow& row : driver.journal("p/w", "size"))
    found += row.reason == "2 wait" && row.document.at("inputs").at("pending") == 2;
  EXPECT_EQ(found, 1);
}

TEST(Journal, the_same_inputs_have_the_same_digest_and_others_another) {
  FleetDriver driver;
  driver.configure({{.id = "p/a", .launch_configs = {}}, {.id = "p/b", .launch_configs = {}}});
  driver.demand({{"p/a", 5}, {"p/b", 5}});
  EXPECT_EQ(driver.journal("p/a", "size").back().digest,
            driver.journal("p/b", "size").back().digest);
  driver.demand({{"p/a", 6}, {"p/b", 5}});
  EXPECT_NE(driver.journal("p/a", "size").back().digest,
            driver.journal("p/b", "size").back().digest);
}

TEST(Journal, a_decision_that_did_not_change_is_not_repeated) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.register_all();
  driver.demand("p/w", 0);
  driver.advance(1min);
  const std::size_t before = driver.rows("decisions");
  driver.advance(3h - 1min);
  EXPECT_LE(driver.rows("decisions"), before + 2);
}

TEST(Journal, a_pool_that_is_blocked_says_so_once_and_not_every_minute) {
  FleetDriver driver = simple_fleet();
  driver.provider_down();
  driver.demand("p/w", 4);
  driver.advance(1min);
  const std::size_t before = driver.rows("decisions");
  driver.advance(1h);
  EXPECT_EQ(driver.rows("decisions"), before);
}

TEST(Journal, a_strategy_that_takes_no_bid_is_written_down_once) {
  FleetDriver driver = simple_fleet();
  driver.select = [](const SelectRequest&) {
    return Result<Selection>(Selection{{}, "all too dear"});
  };
  driver.demand("p/w", 1);
  driver.advance(1h);
  EXPECT_EQ(driver.journal("p/w", "select").size(), 1u);
  EXPECT_EQ(driver.journal("p/w", "size").size(), 2u) << "before the demand and after";
}

TEST(Journal, is_kept_for_a_bounded_time) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}},
                                    {.journal_kept = std::chrono::hours(3)});
  driver.demand("p/w", 1);
  ASSERT_FALSE(driver.journal("p/w", "select").empty());
  driver.demand("p/w", 0);
  driver.advance(2h);
  EXPECT_FALSE(driver.journal("p/w", "select").empty());
  driver.advance(2h);
  EXPECT_TRUE(driver.journal("p/w", "select").empty());
}

TEST(History, of_the_last_hour_reaches_the_strategy) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 2);
  driver.advance(2h);
  const auto& history = driver.size_requests.back().history;
  ASSERT_EQ(history.size(), 12u);
  EXPECT_GE(history.front().at, driver.wall() - 1h - 1min);
  for (std::size_t i = 1; i < history.size(); ++i)
    EXPECT_GE(history[i].at - history[i - 1].at, 5min);
  EXPECT_EQ(history.back().pending, 2);
}

TEST(History, counts_launches_and_failures_between_its_points) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 3);
  driver.advance(10min);
  std::int64_t launched = 0;
  for (const HistoryPoint& point : driver.size_requests.back().history) launched += point.launched;
  EXPECT_EQ(launched, 3);
}

TEST(History, survives_a_restart_but_not_a_long_one) {
  FleetDriver driver = simple_fleet();
  driver.advance(1h);
  driver.crash();
  driver.start_again();
  EXPECT_GE(driver.size_requests.back().history.size(), 11u);
  driver.advance(3h);
  driver.crash();
  driver.jump_clock(24h);
  driver.start_again();
  EXPECT_EQ(driver.size_requests.back().history.size(), 1u) << "it was another day";
}

}  // namespace
}  // namespace muster::fleet
