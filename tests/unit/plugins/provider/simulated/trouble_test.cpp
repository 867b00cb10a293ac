#include "tests/unit/plugins/provider/simulated/fixture.hpp"

namespace muster::simulated {
namespace {

using namespace std::chrono_literals;
using testing::FakeContext;

json::object failing(const json::object& rule) {
  return {{"failures", json::array{rule}}};
}

std::string outcomes(Cloud& cloud, const Context& context, int first, int count,
                     const LaunchConfig& config = launch_config()) {
  const auto allocation = cloud.allocate(allocate_request(config, first, count), context);
  if (!allocation) return allocation.error().message;
  std::string text;
  for (const Launch& launch : allocation->launches) text += launch.instance ? '+' : '-';
  return text;
}

TEST(SimulatedTrouble, a_scripted_failure_hits_exactly_the_launches_it_names) {
  Cloud cloud(settings_with(failing({{"after", 2}, {"times", 3}, {"class", "quota"}})));
  const FakeContext context;
  EXPECT_EQ(outcomes(cloud, context, 0, 4), "++--");
  EXPECT_EQ(outcomes(cloud, context, 10, 4), "-+++");
}

TEST(SimulatedTrouble, an_error_is_what_the_rule_says) {
  Cloud cloud(settings_with(failing({{"class", "throttle"},
                                     {"message", "slow down"},
                                     {"code", "RequestLimitExceeded"},
                                     {"region", "eu-1"},
                                     {"holdSeconds", 60}})));
  const auto allocation = cloud.allocate(allocate_request(launch_config(), 1, 1), FakeContext());
  EXPECT_EQ(*allocation->launches[0].error, Error::throttle("slow down")
                                                .in_region("eu-1")
                                                .hold_for(60s)
                                                .with_code("RequestLimitExceeded"));
}

TEST(SimulatedTrouble, a_rule_with_a_place_spares_other_places) {
  Cloud cloud(settings_with(failing({{"zone", "eu-1b"}})));
  const FakeContext context;
  EXPECT_EQ(outcomes(cloud, context, 0, 2), "++");
  EXPECT_EQ(outcomes(cloud, context, 5, 2, launch_config("eu-1b")), "--");
}

TEST(SimulatedTrouble, a_rule_with_a_time_acts_only_then) {
  Cloud cloud(settings_with(failing({{"fromSeconds", 10}, {"untilSeconds", 20}})));
  FakeContext context;
  EXPECT_EQ(outcomes(cloud, context, 0, 1), "+");
  context.advance(10s);
  EXPECT_EQ(outcomes(cloud, context, 1, 1), "-");
  context.advance(11s);
  EXPECT_EQ(outcomes(cloud, context, 2, 1), "+");
}

TEST(SimulatedTrouble, a_probability_is_met_over_many_launches) {
  Cloud cloud(settings_with(failing({{"probability", 0.2}})));
  const std::string text = outcomes(cloud, FakeContext(), 0, 900);
  EXPECT_NEAR(static_cast<double>(std::count(text.begin(), text.end(), '-')), 180, 40);
}

TEST(SimulatedTrouble, a_lost_answer_leaves_a_machine_that_the_key_finds_again) {
  Cloud cloud(
      settings_with(failing({{"class", "transient"}, {"times", 1}, {"afterEffect", true}})));
  const FakeContext context;
  EXPECT_EQ(outcomes(cloud, context, 1, 1), "-");
  EXPECT_EQ(cloud.list({owner()}, context)->instances.size(), 1u);
  EXPECT_EQ(outcomes(cloud, context, 1, 1), "+");
  EXPECT_EQ(cloud.list({owner()}, context)->instances.size(), 1u);
}

TEST(SimulatedTrouble, a_region_that_cannot_be_listed_is_named_and_the_others_are_shown) {
  Cloud cloud(
      settings_with(failing({{"method", "list"}, {"region", "us-1"}, {"class", "transient"}})));
  const FakeContext context;
  launch_one(cloud, context);
  ASSERT_EQ(outcomes(cloud, context, 7, 1, launch_config("us-1a")), "+");
  const auto listing = cloud.list({owner()}, context);
  ASSERT_TRUE(listing);
  EXPECT_EQ(listing->instances.size(), 1u);
  ASSERT_EQ(listing->problems.size(), 1u);
  EXPECT_EQ(listing->problems[0].scope.region, "us-1");
}

TEST(SimulatedTrouble, a_whole_method_can_fail) {
  Cloud cloud(settings_with(failing({{"method", "placements"}, {"class", "auth"}, {"times", 1}})));
  const FakeContext context;
  EXPECT_EQ(cloud.placements({}, context).error().error_class, ErrorClass::auth);
  EXPECT_TRUE(cloud.placements({}, context));
}

TEST(SimulatedTrouble, termination_can_fail_for_one_worker) {
  Cloud cloud(settings_with(failing({{"method", "terminate"}, {"zone", "eu-1a"}, {"times", 1}})));
  const FakeContext context;
  const Instance machine = launch_one(cloud, context);
  const TerminateRequest request{owner(), {{machine.worker_group, machine.worker_id}}};
  EXPECT_EQ(cloud.terminate(request, context)->failures.size(), 1u);
  EXPECT_TRUE(cloud.terminate(request, context)->failures.empty());
}

TEST(SimulatedTrouble, a_slow_call_takes_its_time_and_gives_up_when_cancelled) {
  FakeContext context;
  std::vector<std::chrono::milliseconds> waits;
  bool cancel = false;
  Cloud cloud(settings_with({{"slow", {{{"method", "bid"}, {"seconds", 1.5}}}}}),
              [&](std::chrono::milliseconds time, const Context&) {
                waits.push_back(time);
                if (cancel) context.cancel();
              });
  EXPECT_TRUE(cloud.list({owner()}, context));
  EXPECT_TRUE(cloud.bid({owner(), WorkerPoolId("a/b"), 1, {}}, context));
  EXPECT_EQ(waits, (std::vector{1500ms}));
  cancel = true;
  EXPECT_EQ(cloud.bid({owner(), WorkerPoolId("a/b"), 1, {}}, context).error().error_class,
            ErrorClass::cancelled);
}

TEST(SimulatedTrouble, a_scripted_interruption_is_announced_and_happens) {
  Cloud cloud(settings_with(
      {{"interruptions", {{"launches", {2}}, {"afterSeconds", 300}, {"noticeSeconds", 120}}}}));
  FakeContext context;
  launch_one(cloud, context, 1);
  const Instance doomed = launch_one(cloud, context, 2);
  context.advance(179s);
  EXPECT_TRUE(cloud.notices({owner()}, context)->notices.empty());
  context.advance(1s);
  const auto notices = cloud.notices({owner()}, context)->notices;
  ASSERT_EQ(notices.size(), 1u);
  EXPECT_EQ(notices[0].worker_id, doomed.worker_id);
  EXPECT_EQ(notices[0].interruption.at, context.now() + 120s);
  EXPECT_TRUE(cloud.notices({owner(1, "other")}, context)->notices.empty());
  context.advance(120s);
  EXPECT_EQ(cloud.list({owner()}, context)->instances.size(), 1u);
  EXPECT_TRUE(cloud.notices({owner()}, context)->notices.empty());
}

TEST(SimulatedTrouble, interruptions_by_chance_come_about_as_often_as_configured) {
  Cloud cloud(settings_with({{"interruptions", {{"perHour", 0.5}}}}));
  FakeContext context;
  ASSERT_TRUE(cloud.allocate(allocate_request(launch_config(), 0, 800), context));
  context.advance(1h);
  EXPECT_NEAR(static_cast<double>(cloud.list({owner()}, context)->instances.size()), 800 * 0.6065,
              60);
}

TEST(SimulatedIdentity, refuses_what_proves_nothing_and_says_why) {
  Cloud cloud(settings_with({{"secret", "s"}}));
  const FakeContext context;
  const Instance machine = launch_one(cloud, context);
  const auto refusal = [&](const WorkerPoolId& pool, const WorkerId& worker,
                           const json::object& proof) {
    const auto identity = cloud.identify({pool, machine.worker_group, worker, proof}, context);
    return identity ? "accepted" : identity.error().message;
  };
  const WorkerPoolId pool = machine.worker_pool_id;
  const WorkerId id = machine.worker_id, nobody("nobody");
  const auto token = [&](const WorkerPoolId& p, const WorkerId& w) {
    return json::object{{"token", proof_token("s", p, machine.worker_group, w)}};
  };
  EXPECT_EQ(refusal(pool, id, {}), "the proof has no text \"token\"");
  EXPECT_EQ(refusal(pool, id, token(pool, nobody)),
            "the token is not that of " + id.str() + " in eu-1 of worker-manager/build");
  EXPECT_EQ(refusal(pool, nobody, token(pool, nobody)), "there is no machine nobody");
  const WorkerPoolId other("worker-manager/other");
  EXPECT_EQ(refusal(other, id, token(other, id)), id.str() + " is in eu-1 of worker-manager/build");
  EXPECT_EQ(refusal(pool, id, token(pool, id)), "accepted");
  Cloud open(settings_with({{"secret", ""}}));
  EXPECT_EQ(
      open.identify({pool, machine.worker_group, id, token(pool, id)}, context).error().error_class,
      ErrorClass::auth);
}

TEST(SimulatedIdentity, the_token_is_an_hmac_that_anybody_can_compute) {
  EXPECT_EQ(proof_token("key", WorkerPoolId("a/b"), WorkerGroup("g"), WorkerId("w")),
            "d693db39d41694dc29417a9cd138083eafe2ca7fc45b6d163eb6559ae5786c99");
}

}  // namespace
}  // namespace muster::simulated
