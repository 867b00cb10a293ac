// Providers, strategies and queues that answer nonsense do no harm.
#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fleet/model/sanitize.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

constexpr auto most = std::numeric_limits<std::int64_t>::max();
constexpr auto least = std::numeric_limits<std::int64_t>::min();
const std::string megabyte(1 << 20, 'x');

// -------------------------------------------------------------------------------------------------
// Values

TEST(Sensible, texts_are_cut_between_characters) {
  std::string text;
  while (text.size() < 5000) text += "ü€😀";
  const std::string cut = shortened(text);
  EXPECT_LT(cut.size(), 2010u);
  EXPECT_TRUE(json::parse("\"" + cut + "\"").has_value()) << "it is still UTF-8";
  EXPECT_EQ(shortened("short"), "short");
}

TEST(Sensible, times_stay_where_they_can_be_written) {
  EXPECT_EQ(clamp_time(Time::min()), Time{});
  EXPECT_LT(clamp_time(Time::max()), Time::max());
  EXPECT_EQ(clamp_time(Time(5h)), Time(5h));
}

TEST(Sensible, a_machine_has_a_name) {
  Instance instance;
  EXPECT_FALSE(has_valid_names(instance));
  instance.worker_group = WorkerGroup("r");
  instance.worker_id = WorkerId("i-1");
  EXPECT_TRUE(has_valid_names(instance));
  instance.worker_id = WorkerId("i\n1");
  EXPECT_FALSE(has_valid_names(instance));
  instance.worker_id = WorkerId(megabyte);
  EXPECT_FALSE(has_valid_names(instance));
}

// -------------------------------------------------------------------------------------------------
// Bids

class NonsenseBids : public testing::TestWithParam<Bid> {};

TEST_P(NonsenseBids, are_left_out_and_the_others_are_taken) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}, {.id = "lc-2", .zone = "b"}}});
  driver.cloud().spoil_bids = [](Bids& bids) { bids.bids[0] = GetParam(); };
  driver.demand("p/w", 2);
  EXPECT_EQ(driver.launch_config("lc-2")->totals.used(), 2);
  EXPECT_EQ(driver.select_requests.at(0).offers.size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(
    OfAllKinds, NonsenseBids,
    testing::Values(Bid{.launch_config_id = LaunchConfigId("lc-1"),
                        .instances = 1,
                        .price_per_capacity_hour = std::nan("")},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"),
                        .instances = 1,
                        .price_per_capacity_hour = -1},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"),
                        .instances = 1,
                        .price_per_capacity_hour = 1e300},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"),
                        .instances = 1,
                        .price_per_capacity_hour = std::numeric_limits<double>::infinity()},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"), .instances = -5},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"), .instances = 0},
                    Bid{.launch_config_id = LaunchConfigId("lc-1"), .instances = least},
                    Bid{.launch_config_id = LaunchConfigId("lc-unknown"), .instances = 1},
                    Bid{.launch_config_id = LaunchConfigId(""), .instances = 1},
                    Bid{.launch_config_id = LaunchConfigId(megabyte), .instances = 1}));

TEST(Nonsense, bids_beyond_all_limits_are_cut) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 5});
  driver.cloud().spoil_bids = [](Bids& bids) {
    bids.bids[0].instances = most;
    bids.bids[0].capacity_per_instance = least;
    bids.bids[0].reliability = std::nan("");
  };
  driver.demand("p/w", most);
  EXPECT_EQ(driver.cloud().launched(), 5u);
  EXPECT_EQ(driver.select_requests.at(0).offers.at(0).bid.reliability, 0);
}

TEST(Nonsense, problems_of_a_megabyte_are_cut_before_they_are_kept) {
  FleetDriver driver = simple_fleet();
  driver.cloud().spoil_bids = [](Bids& bids) {
    bids.bids.clear();
    for (int i = 0; i < 1000; ++i)
      bids.problems.push_back(Error::capacity(megabyte.substr(0, 5000)).in_zone(std::to_string(i)));
  };
  driver.demand("p/w", 1);
  EXPECT_LT(driver.pool("p/w").verdict.text.size(), 20'000u);
  EXPECT_LE(driver.fleet().holds().size(), 100u);
}

// -------------------------------------------------------------------------------------------------
// Capacities

class NonsenseCapacity : public testing::TestWithParam<std::int64_t> {};

TEST_P(NonsenseCapacity, of_an_instance_breaks_no_limit) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{.id = "lc-1", .capacity = GetParam()}}, .max_capacity = 3});
  driver.provider_up("cloud", {.max_capacity = 3});
  driver.demand("p/w", 2);
  driver.advance(1min);
  EXPECT_LE(driver.pool("p/w").totals.used(), 3);
  for (const Worker* worker : driver.workers(WorkerState::requested))
    EXPECT_GE(worker->capacity, 1);
}

INSTANTIATE_TEST_SUITE_P(OfAllKinds, NonsenseCapacity,
                         testing::Values(0, -1, least, most, std::int64_t{1} << 40,
                                         std::int64_t{1} << 32));

TEST(Nonsense, demand_and_size_beyond_all_measure_do_not_overflow) {
  for (const std::int64_t number : {most, least, std::int64_t{-1}}) {
    FleetDriver driver =
        simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 5});
    driver.provider_up("cloud", {.max_capacity = 4});
    driver.size = [&](const SizeRequest& request) {
      EXPECT_GE(request.pending, 0);
      return Result<Size>(Size{number, "so it is"});
    };
    driver.fleet().demand_changed({{WorkerPoolId("p/w"), {.pending = number, .claimed = number}}},
                                  driver.now());
    driver.settle();
    driver.advance(1min);
    EXPECT_LE(driver.cloud().launched(), 4u);
  }
}

TEST(Nonsense, reasons_of_a_megabyte_are_cut_before_they_are_kept) {
  FleetDriver driver = simple_fleet();
  driver.size = [](const SizeRequest&) { return Result<Size>(Size{1, megabyte}); };
  driver.select = [](const SelectRequest&) { return Result<Selection>(Selection{{}, megabyte}); };
  driver.demand("p/w", 1);
  for (const DecisionRow& row : driver.journal("p/w")) EXPECT_LT(row.reason.size(), 10'000u);
  EXPECT_LT(driver.pool("p/w").verdict.text.size(), 10'000u);
}

// -------------------------------------------------------------------------------------------------
// Machines

TEST(Nonsense, an_allocation_without_names_is_a_lost_answer) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskAllocation>(question); };
  driver.demand("p/w", 1);
  const Question question = driver.take_withheld().at(0);
  Launch launch{.idempotency_key =
                    std::get<AskAllocation>(question.ask).request.idempotency_keys.at(0)};
  launch.instance = Instance{};
  driver.answer(question, Result<Allocation>(Allocation{{launch, launch, launch}}));
  EXPECT_EQ(driver.workers(WorkerState::requested).at(0)->phase, LaunchPhase::uncertain);
}

TEST(Nonsense, a_listing_of_machines_without_names_adopts_nobody) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.cloud().spoil_listing = [](Listing& listing) {
    for (const std::string& id : {std::string(), megabyte, std::string("a\nb")}) {
      Instance nameless = listing.instances.at(0);
      nameless.worker_id = WorkerId(id);
      nameless.idempotency_key = IdempotencyKey("");
      listing.instances.push_back(nameless);
    }
  };
  driver.advance(10min);
  EXPECT_EQ(driver.pool("p/w").totals.workers, 1);
}

TEST(Nonsense, keys_that_look_almost_like_ours_are_nobodys) {
  FleetDriver driver = simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 1});
  driver.demand("p/w", 1);
  const std::string key = driver.cloud().instances.begin()->second.idempotency_key.str();
  int number = 100;
  for (const std::string& wrong :
       {std::string("-"), std::string("host-1-"), "x" + key, key + "9", key + "-",
        std::string("host-1-99999999999999999999999"), std::string("host-1--5"), megabyte})
    driver.cloud().add("cloud-" + std::to_string(++number), "p/w", "lc-1", wrong);
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().ids(), std::vector<std::string>{"cloud-1"});
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
}

TEST(Nonsense, capacities_of_strangers_are_cut) {
  for (const std::int64_t capacity : {std::int64_t{0}, least, most, std::int64_t{1} << 40}) {
    FleetDriver driver = simple_fleet();
    driver.cloud().add("cloud-77", "p/w", "lc-1").capacity = capacity;
    driver.advance(3min);
    EXPECT_LE(driver.pool("p/w").totals.used(), 100);
    EXPECT_GE(driver.pool("p/w").totals.used(), 0);
  }
}

TEST(Nonsense, interruptions_at_impossible_times_can_be_told) {
  for (const Time at : {Time::max(), Time::min(), Time{}}) {
    FleetDriver driver = simple_fleet();
    driver.demand("p/w", 1);
    driver.demand("p/w", 0);
    driver.register_all();
    driver.cloud().notices["cloud-1"] = {at, megabyte};
    driver.advance(30s);
    EXPECT_LT(driver.worker("cloud-1")->reason.size(), 3000u);
  }
}

TEST(Nonsense, errors_of_a_megabyte_are_cut_before_they_are_kept) {
  FleetDriver driver = simple_fleet();
  driver.cloud().refuses = [](const LaunchConfig&) {
    return Error::capacity(megabyte).in_zone(megabyte).with_code(megabyte);
  };
  driver.demand("p/w", 3);
  for (const PoolErrorRow& row : driver.errors()) EXPECT_LT(row.description.size(), 3000u);
  for (const bidding::Hold& hold : driver.fleet().holds()) EXPECT_LT(hold.in_words().size(), 6000u);
  for (const Worker* worker : driver.workers(WorkerState::stopped))
    EXPECT_LT(worker->reason.size(), 3000u);
}

TEST(Nonsense, an_answer_of_the_wrong_kind_harms_nobody) {
  FleetDriver driver = simple_fleet();
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  driver.advance(61s);
  ASSERT_FALSE(driver.withheld.empty());
  driver.answer(driver.take_withheld()[0], Result<Notices>(Notices{}));
  driver.advance(2min);
}

TEST(Nonsense, terminations_that_fail_for_machines_that_nobody_knows_harm_nobody) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.withhold = [](const Question& question) { return asks<AskTermination>(question); };
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.settle();
  Termination failed;
  failed.failures.push_back({WorkerGroup("r"), WorkerId("cloud-99"), Error::internal(megabyte)});
  failed.failures.push_back({WorkerGroup("r"), WorkerId("cloud-1"), Error::internal("protected")});
  driver.answer(driver.take_withheld().at(0), Result<Termination>(failed));
  EXPECT_EQ(driver.errors().back().description, "protected");
}

// -------------------------------------------------------------------------------------------------
// A bug in a decision about one pool

struct FaultyPool : testing::Test {
  bool bug = true;
  FleetDriver driver{Settings{.before_review = [this](const WorkerPoolId& pool) {
    if (bug && pool.str() == "p/bad") throw std::runtime_error("a bug of the test");
  }}};

  FaultyPool() {
    driver.provider_up();
    driver.configure({bad(), {.id = "p/good", .launch_configs = {{"lc-2"}}}});
  }
  static PoolSketch bad(std::int64_t most = 10) {
    return {.id = "p/bad", .launch_configs = {{"lc-1"}}, .max_capacity = most};
  }
};

TEST_F(FaultyPool, does_not_stop_the_decisions_about_others) {
  driver.demand({{"p/bad", 2}, {"p/good", 3}});
  driver.advance(10min);
  EXPECT_EQ(driver.pool("p/good").totals.workers, 3);
  EXPECT_EQ(driver.pool("p/bad").totals.workers, 0);
}

TEST_F(FaultyPool, says_so_once_and_in_its_verdict) {
  driver.demand({{"p/bad", 2}, {"p/good", 3}});
  driver.advance(10min);
  EXPECT_EQ(std::ranges::count(driver.events, "worker-pool-fault", &events::Event::kind), 1);
  const auto verdict = driver.fleet().verdict_of(driver.pool("p/bad"), driver.now());
  EXPECT_EQ(verdict.kind, verdict::Kind::blocked);
  EXPECT_EQ(verdict.obstacle->cause, verdict::cause::fault);
  EXPECT_THAT(verdict.text, testing::HasSubstr("a bug of the test"));
}

TEST_F(FaultyPool, is_tried_again_with_another_configuration) {
  bug = false;
  driver.demand("p/bad", 2);
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/bad").totals.workers, 0) << "nobody has changed anything";
  driver.configure({bad(20), {.id = "p/good", .launch_configs = {{"lc-2"}}}});
  driver.advance(1min);
  EXPECT_EQ(driver.pool("p/bad").totals.workers, 2) << driver.pool("p/bad").verdict.text;
}

}  // namespace
}  // namespace muster::fleet
