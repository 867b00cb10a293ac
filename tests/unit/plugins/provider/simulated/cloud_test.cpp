#include <cmath>
#include <set>

#include "tests/unit/plugins/provider/simulated/fixture.hpp"

namespace muster::simulated {
namespace {

using namespace std::chrono_literals;
using testing::FakeContext;

TEST(SimulatedCloud, refuses_sections_and_says_where) {
  Cloud cloud(settings_with({}));
  const FakeContext context;
  const auto mistake = [&](const json::object& document) {
    const auto expansion =
        cloud.expand({WorkerPoolId("a/b"), launch_config().placement, document}, context);
    return expansion ? "accepted" : expansion.error().message;
  };
  EXPECT_EQ(mistake({{"simulated", 7}}), "simulated: expected an object, got the number 7");
  EXPECT_EQ(mistake({{"simulated", {{"image", 7}}}}),
            "simulated.image: expected a string, got the number 7");
  EXPECT_EQ(mistake({{"simulated", {{"instanceTypes", {"small", "larg"}}}}}),
            "simulated.instanceTypes[1]: there is no instance type \"larg\"; did you mean "
            "\"large\"?");
  EXPECT_EQ(mistake({{"workerManager", {{"capacityPerInstance", 0}}}}),
            "workerManager.capacityPerInstance: expected a whole number from 1");
}

TEST(SimulatedCloud, expands_to_a_document_for_each_type_without_pool_settings) {
  Cloud cloud(settings_with({}));
  const auto expansion = cloud.expand(
      {WorkerPoolId("a/b"),
       launch_config().placement,
       {{"simulated", {{"image", "i"}}}, {"owner", "somebody"}, {"workerConfig", {{"x", 1}}}}},
      FakeContext());
  ASSERT_TRUE(expansion);
  ASSERT_EQ(expansion->launch_documents.size(), 2u);
  EXPECT_EQ(
      encode(expansion->launch_documents[1]),
      R"({"document":{"simulated":{"instanceType":"large","image":"i"},"workerConfig":{"x":1}},)"
      R"("capacityPerInstance":4,"instanceType":"large"})");
}

TEST(SimulatedCloud, a_launch_configuration_that_cannot_work_is_a_config_error) {
  Cloud cloud(settings_with({}));
  for (const auto& config : {launch_config("eu-1z"), launch_config("eu-1a", "huge")}) {
    const auto allocation = cloud.allocate(allocate_request(config, 1, 1), FakeContext());
    ASSERT_FALSE(allocation);
    EXPECT_EQ(allocation.error().error_class, ErrorClass::config);
    EXPECT_EQ(allocation.error().scope.launch_config_id, config.launch_config_id.str());
  }
}

TEST(SimulatedCloud, a_machine_boots_runs_stops_and_is_gone_by_the_hosts_clock) {
  Cloud cloud(
      settings_with({{"boot", {{"minSeconds", 10}, {"maxSeconds", 10}}}, {"shutdownSeconds", 5}}));
  FakeContext context;
  const Instance machine = launch_one(cloud, context);
  const auto state = [&]() -> std::string {
    const auto listing = cloud.list({owner()}, context);
    if (listing->instances.empty()) return "gone";
    return std::string(json::write(codec::to_value(listing->instances[0].state)));
  };
  EXPECT_EQ(state(), "\"pending\"");
  context.advance(9999ms);
  EXPECT_EQ(state(), "\"pending\"");
  context.advance(1ms);
  EXPECT_EQ(state(), "\"running\"");
  ASSERT_TRUE(cloud.terminate({owner(), {{machine.worker_group, machine.worker_id}}}, context));
  EXPECT_EQ(state(), "\"stopping\"");
  context.advance(5s);
  EXPECT_EQ(state(), "gone");
}

TEST(SimulatedCloud, boot_times_spread_between_their_bounds_and_some_never_boot) {
  Cloud cloud(settings_with({{"boot", {{"minSeconds", 10}, {"maxSeconds", 20}, {"never", 0.25}}}}));
  FakeContext context;
  ASSERT_TRUE(cloud.allocate(allocate_request(launch_config(), 0, 400), context));
  const auto running = [&] {
    const auto listing = cloud.list({owner()}, context);
    return std::count_if(listing->instances.begin(), listing->instances.end(),
                         [](const auto& i) { return i.state == InstanceState::running; });
  };
  context.advance(9999ms);
  EXPECT_EQ(running(), 0);
  context.advance(5s);
  EXPECT_NEAR(static_cast<double>(running()), 150, 40);
  context.advance(24h);
  EXPECT_NEAR(static_cast<double>(running()), 300, 40);
}

TEST(SimulatedCloud, the_same_seed_and_calls_give_the_same_cloud) {
  const auto run = [](std::int64_t seed) {
    Cloud cloud(settings_with({{"seed", seed},
                               {"failures", {{{"probability", 0.3}}}},
                               {"interruptions", {{"perHour", 1}}}}));
    FakeContext context;
    std::string told;
    for (int i = 0; i < 20; ++i) {
      told += encode(*cloud.allocate(allocate_request(launch_config(), 10 * i, 5), context));
      told += encode(*cloud.bid({owner(), WorkerPoolId("a/b"), 5, {{launch_config()}}}, context));
      context.advance(7min);
      told += encode(*cloud.list({owner()}, context));
      told += encode(*cloud.notices({owner()}, context));
    }
    return told;
  };
  EXPECT_EQ(run(1), run(1));
  EXPECT_NE(run(1), run(2));
}

TEST(SimulatedCloud, prices_move_smoothly_within_their_bounds) {
  const Settings settings = settings_with({{"prices", {{"volatility", 0.5}}}});
  const InstanceType& type = settings.instance_types[0];
  FakeContext context;
  std::set<double> seen;
  double before = price_at(settings, "eu-1a", type, context.now());
  for (int minute = 0; minute < 24 * 60; ++minute) {
    context.advance(1min);
    const double price = price_at(settings, "eu-1a", type, context.now());
    EXPECT_GE(price, 0.5 * type.price_per_hour);
    EXPECT_LE(price, 1.5 * type.price_per_hour);
    EXPECT_LT(std::abs(price - before), 0.05 * type.price_per_hour);
    seen.insert(before = price);
  }
  EXPECT_GT(seen.size(), 500u);
  EXPECT_NE(price_at(settings, "eu-1a", type, context.now()),
            price_at(settings, "eu-1b", type, context.now()));
}

TEST(SimulatedCloud, a_full_zone_is_a_capacity_error_of_that_type_there) {
  Cloud cloud(settings_with({{"instanceTypes", {{{"name", "small"}, {"perZone", 2}}}}}));
  const FakeContext context;
  const auto allocation = cloud.allocate(allocate_request(launch_config(), 1, 3), context);
  ASSERT_TRUE(allocation);
  EXPECT_TRUE(allocation->launches[1].instance);
  ASSERT_TRUE(allocation->launches[2].error);
  const Error& error = *allocation->launches[2].error;
  EXPECT_EQ(error.error_class, ErrorClass::capacity);
  EXPECT_EQ(error.scope, (ErrorScope{"eu-1", "eu-1a", "small", {}}));
  EXPECT_EQ(error.code, "InsufficientInstanceCapacity");
  const auto bids = cloud.bid(
      {owner(), WorkerPoolId("a/b"), 5, {{launch_config()}, {launch_config("eu-1b")}}}, context);
  ASSERT_EQ(bids->bids.size(), 1u);
  EXPECT_EQ(bids->bids[0].launch_config_id, LaunchConfigId("lc-eu-1bsmall"));
  EXPECT_EQ(bids->bids[0].instances, 2);
  ASSERT_EQ(bids->problems.size(), 1u);
}

TEST(SimulatedCloud, quotas_hold_across_zones) {
  Cloud cloud(settings_with({{"quotas", {{{"region", "eu-1"}, {"instances", 3}}}}}));
  const FakeContext context;
  ASSERT_TRUE(cloud.allocate(allocate_request(launch_config("eu-1b"), 100, 2), context));
  const auto allocation = cloud.allocate(allocate_request(launch_config(), 1, 2), context);
  EXPECT_TRUE(allocation->launches[0].instance);
  EXPECT_EQ(allocation->launches[1].error->error_class, ErrorClass::quota);
  EXPECT_EQ(allocation->launches[1].error->message, "the quota of 3 instances in eu-1 is used up");
  EXPECT_TRUE(cloud.allocate(allocate_request(launch_config("us-1a"), 5, 1), context)
                  ->launches[0]
                  .instance);
}

TEST(SimulatedCloud, a_bid_covers_the_need_and_no_more) {
  Cloud cloud(settings_with({{"boot", {{"never", 0.5}}}}));
  const FakeContext context;
  const auto bids =
      cloud.bid({owner(), WorkerPoolId("a/b"), 9, {{launch_config("eu-1a", "large")}}}, context);
  ASSERT_EQ(bids->bids.size(), 1u);
  EXPECT_EQ(bids->bids[0].instances, 3);
  EXPECT_EQ(bids->bids[0].reliability, 0.5);
  EXPECT_TRUE(
      cloud.bid({owner(), WorkerPoolId("a/b"), 0, {{launch_config()}}}, context)->bids.empty());
}

TEST(SimulatedCloud, a_superseded_host_changes_nothing) {
  Cloud cloud(settings_with({}));
  const FakeContext context;
  const Instance machine = launch_one(cloud, context);
  AllocateRequest newer = allocate_request(launch_config(), 2, 1);
  newer.owner.epoch = 2;
  ASSERT_TRUE(cloud.allocate(newer, context));
  EXPECT_EQ(cloud.allocate(allocate_request(launch_config(), 3, 1), context).error().message,
            "epoch 1 of host host is superseded by epoch 2");
  EXPECT_FALSE(cloud.terminate({owner(1), {{machine.worker_group, machine.worker_id}}}, context));
  EXPECT_EQ(cloud.list({owner(1)}, context)->instances.size(), 2u);
}

TEST(SimulatedCloud, keys_are_remembered_for_a_day_after_the_machine_is_gone) {
  Cloud cloud(settings_with({}));
  FakeContext context;
  const Instance machine = launch_one(cloud, context);
  ASSERT_TRUE(cloud.terminate({owner(), {{machine.worker_group, machine.worker_id}}}, context));
  context.advance(23h);
  const auto again = cloud.allocate(allocate_request(launch_config(), 1, 1), context);
  EXPECT_EQ(again->launches[0].instance->state, InstanceState::stopped);
  EXPECT_EQ(again->launches[0].instance->worker_id, machine.worker_id);
  context.advance(2h);
  ASSERT_TRUE(cloud.allocate(allocate_request(launch_config(), 2, 1), context));
  EXPECT_EQ(cloud.state().machines.size(), 1u);
}

}  // namespace
}  // namespace muster::simulated
