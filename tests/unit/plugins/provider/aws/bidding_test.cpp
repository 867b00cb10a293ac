#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

class AwsBidding : public AwsTest {
 protected:
  Bids bid(const LaunchConfig& launch_config, std::int64_t capacity = 10) {
    const auto bids = provider().bid(
        {owner, launch_config.worker_pool_id, capacity, {{launch_config, 1.0, {}}}}, context);
    EXPECT_TRUE(bids) << bids.error().message;
    return bids.value();
  }
  static json::object price(const char* zone, const char* type, const char* dollars, Time at) {
    return {{"AvailabilityZone", zone},
            {"InstanceType", type},
            {"SpotPrice", dollars},
            {"Timestamp", format_time(at)}};
  }
};

TEST_F(AwsBidding, a_spot_bid_is_the_price_of_a_task_and_an_hour) {
  const Bids bids = bid(launch_config());
  ASSERT_EQ(bids.bids.size(), 1u);
  EXPECT_DOUBLE_EQ(bids.bids[0].price_per_capacity_hour, 0.031 / 2);
  EXPECT_EQ(bids.bids[0].instances, 5);
  EXPECT_EQ(bids.bids[0].capacity_per_instance, 2);
  EXPECT_LT(bids.bids[0].reliability, 0.95);
}

TEST_F(AwsBidding, an_on_demand_bid_is_by_the_table_and_then_by_list_prices) {
  const LaunchConfig on_demand_config = launch_config(nullptr, 1);
  EXPECT_DOUBLE_EQ(bid(on_demand_config).bids[0].price_per_capacity_hour, 0.096 / 2);
  EXPECT_GT(bid(on_demand_config).bids[0].reliability, 0.95);
  restart(R"({"regions": ["us-east-1"], "priceTable": {"m5.large": 0.5, "us-east-1/m5.large": 0.4,
              "us-east-1a/onDemand/m5.large": 0.3}})");
  EXPECT_DOUBLE_EQ(bid(on_demand_config).bids[0].price_per_capacity_hour, 0.3 / 2);
  EXPECT_TRUE(calls("DescribeSpotPriceHistory").empty());
}

TEST_F(AwsBidding, a_candidate_without_a_bid_has_a_problem_that_says_why) {
  LaunchConfig unknown = launch_config(R"({"launch": {"ImageId": "a"},
      "instanceTypes": [{"type": "q9.large"}]})");
  Bids bids = bid(unknown);
  EXPECT_TRUE(bids.bids.empty());
  ASSERT_EQ(bids.problems.size(), 1u);
  EXPECT_NE(bids.problems[0].message.find("priceTable"), std::string::npos);
  EXPECT_EQ(bids.problems[0].scope.launch_config_id, unknown.launch_config_id.str());
  const LaunchConfig cheap = launch_config(R"({"launch": {"ImageId": "a"}, "maxPrice": 0.01,
      "instanceTypes": [{"type": "m5.large"}], "market": ["spot"]})");
  bids = bid(cheap);
  ASSERT_EQ(bids.problems.size(), 1u);
  EXPECT_EQ(bids.problems[0].error_class, ErrorClass::capacity);
  EXPECT_NE(bids.problems[0].message.find("$0.031"), std::string::npos) << bids.problems[0].message;
  EXPECT_NE(bids.problems[0].message.find("$0.01"), std::string::npos);
}

TEST_F(AwsBidding, a_launch_document_of_another_shape_is_a_problem) {
  LaunchConfig strange = launch_config();
  strange.document = {{"aws", 7}};
  EXPECT_EQ(bid(strange).problems.at(0).error_class, ErrorClass::config);
}

TEST_F(AwsBidding, prices_are_shared_by_all_pools_and_asked_for_every_five_minutes) {
  const LaunchConfig config = launch_config();
  for (int i = 0; i < 100; ++i) (void)bid(config);
  EXPECT_EQ(calls("DescribeSpotPriceHistory").size(), 1u);
  context.advance(4min);
  (void)bid(config);
  EXPECT_EQ(calls("DescribeSpotPriceHistory").size(), 1u);
  context.advance(1min);
  (void)bid(config);
  EXPECT_EQ(calls("DescribeSpotPriceHistory").size(), 2u);
}

TEST_F(AwsBidding, one_question_for_the_region_has_the_types_of_all_pools) {
  const LaunchConfig first = launch_config();  // expanding notes c5.large, too
  (void)bid(first);
  (void)bid(launch_config(nullptr, 2));
  ASSERT_EQ(calls("DescribeSpotPriceHistory").size(), 1u);
  EXPECT_EQ(calls("DescribeSpotPriceHistory")[0].parameters.at("InstanceTypes").as_array().size(),
            2u);
}

TEST_F(AwsBidding, old_prices_are_used_while_aws_does_not_answer_but_not_for_ever) {
  const LaunchConfig config = launch_config();
  (void)bid(config);
  api->fault = [](const Call&) -> std::optional<ExampleApi::Fault> {
    return ExampleApi::Fault{Error::throttle("too fast").in_region("us-east-1")};
  };
  context.advance(10min);
  EXPECT_EQ(bid(config).bids.size(), 1u);
  (void)bid(config);
  EXPECT_EQ(calls("DescribeSpotPriceHistory").size(), 2u) << "an error is not asked about at once";
  context.advance(1h);
  const Bids late = bid(config);
  EXPECT_TRUE(late.bids.empty());
  EXPECT_EQ(late.problems.at(0).error_class, ErrorClass::throttle);
  EXPECT_EQ(late.problems.at(0).scope.region, "us-east-1");
}

TEST_F(AwsBidding, the_highest_price_of_the_last_half_hour_counts) {
  class History final : public Api {
   public:
    json::array entries;
    Result<json::object> call(const Call&, const Context&) override {
      return json::object{{"SpotPriceHistory", entries}};
    }
  } history;
  const Time now = context.now();
  history.entries = {price("us-east-1a", "m5.large", "0.9", now - 3h),  // no longer counted
                     price("us-east-1a", "m5.large", "0.05", now - 40min),
                     price("us-east-1a", "m5.large", "0.07", now - 20min),
                     price("us-east-1a", "m5.large", "0.03", now - 1min),
                     price("us-east-1b", "m5.large", "0.08", now - 1min),
                     price("us-east-1c", "m5.large", "0.11", now - 2h),
                     price("us-east-1c", "m5.large", "nonsense", now)};
  const auto settings = read_settings(object(R"({"regions": ["us-east-1"]})"));
  Prices prices(*settings, history);
  const auto in = [&](const char* zone) {
    return prices.of({.region = "us-east-1",
                      .zone = zone,
                      .instance_type = "m5.large",
                      .market = spot,
                      .spot = true},
                     context);
  };
  EXPECT_DOUBLE_EQ(in("us-east-1a")->per_hour, 0.07);
  EXPECT_DOUBLE_EQ(in("us-east-1b")->per_hour, 0.08);
  EXPECT_DOUBLE_EQ(in("us-east-1c")->per_hour, 0.11);
  EXPECT_FALSE(in("us-east-1d"));
}

TEST_F(AwsBidding, list_prices_grow_with_the_size) {
  const ListPrices prices;
  EXPECT_DOUBLE_EQ(*prices.of("m5.large"), 0.096);
  EXPECT_DOUBLE_EQ(*prices.of("m5.4xlarge"), 0.768);
  EXPECT_DOUBLE_EQ(*prices.of("m5.metal"), 4.608);
  EXPECT_DOUBLE_EQ(*prices.of("c6g.metal"), 2.176) << "of 64 processors, not of 96";
  EXPECT_DOUBLE_EQ(*prices.of("g5.12xlarge"), 5.672) << "its sizes are not in proportion";
  EXPECT_DOUBLE_EQ(*prices.of("t3.micro"), 0.0104);
  for (const char* type :
       {"m5", "m5.", "m5.huge", "q9.large", "m5.0xlarge", "t3.metal", "g5.9xlarge", ""})
    EXPECT_FALSE(prices.of(type)) << type;
}

TEST_F(AwsBidding, failed_launches_of_the_last_hour_lower_the_reliability) {
  const LaunchConfig config = launch_config();
  const double before = bid(config).bids[0].reliability;
  api->set_room(0);
  (void)provider().allocate(request(keys(1, 10)), context);
  const double after = bid(config).bids[0].reliability;
  EXPECT_LT(after, before / 2);
  context.advance(2h);
  EXPECT_DOUBLE_EQ(bid(config).bids[0].reliability, before);
}

TEST_F(AwsBidding, spot_machines_that_aws_took_back_lower_the_reliability) {
  BidRequest question{owner, WorkerPoolId("worker-manager/build"), 1, {}};
  question.candidates.push_back({launch_config(), 1, {}});
  const auto reliability = [&] {
    return provider().bid(question, context)->bids.at(0).reliability;
  };
  const double usual = reliability();
  (void)provider().allocate(request(keys(1, 6)), context).value();
  (void)provider().list({owner}, context).value();
  int taken = 0;
  for (const auto& [id, instance] : api->instances())
    if (taken++ < 4)
      api->change(id, [](json::object& machine) {
        machine["State"] = json::object{{"Name", "terminated"}};
        machine["StateReason"] = json::object{{"Code", "Server.SpotInstanceTermination"}};
      });
  context.advance(6min);
  (void)provider().list({owner}, context).value();
  EXPECT_LT(reliability(), usual * 0.7);
  EXPECT_GT(reliability(), usual * 0.3) << "two of six stayed";
  for (const auto& [id, instance] : api->instances())
    api->change(id, [](json::object& machine) { machine.erase("StateReason"); });  // an hour later
  context.advance(70min);
  EXPECT_NEAR(reliability(), usual, 0.01);
}

TEST_F(AwsBidding, nobody_is_asked_about_interruptions_without_spot_machines_or_too_often) {
  BidRequest question{owner, WorkerPoolId("worker-manager/build"), 1, {}};
  question.candidates.push_back({launch_config(nullptr, 1), 1, {}});
  (void)provider().bid(question, context).value();
  EXPECT_TRUE(calls("DescribeInstances").empty());
  question.candidates.push_back({launch_config(), 1, {}});
  for (int i = 0; i < 5; ++i) (void)provider().bid(question, context).value();
  EXPECT_EQ(calls("DescribeInstances").size(), 1u);
}

}  // namespace
}  // namespace muster::aws
