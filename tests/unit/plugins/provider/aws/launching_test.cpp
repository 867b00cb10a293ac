#include <set>

#include "plugins/provider/aws/quotas.hpp"
#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

class AwsLaunching : public AwsTest {};

TEST_F(AwsLaunching, one_call_launches_the_batch_with_all_that_workers_need) {
  const auto allocation = provider().allocate(request(keys(1, 3)), context);
  ASSERT_TRUE(allocation) << allocation.error().message;
  ASSERT_EQ(allocation->launches.size(), 3u);
  ASSERT_EQ(calls("RunInstances").size(), 1u);
  const json::object sent = calls("RunInstances")[0].parameters;
  EXPECT_EQ(number_of(sent, "MinCount"), 1);
  EXPECT_EQ(number_of(sent, "MaxCount"), 3);
  EXPECT_EQ(text_of(sent, "ClientToken").size(), 64u);
  EXPECT_EQ(text_of(sent, "InstanceType"), "m5.large");
  EXPECT_EQ(text_of(sent, "InstanceInitiatedShutdownBehavior"), "terminate");
  EXPECT_EQ(text_of(sent.at("MetadataOptions").as_object(), "HttpTokens"), "required");
  EXPECT_EQ(text_of(sent.at("Placement").as_object(), "AvailabilityZone"), "us-east-1a");
  EXPECT_EQ(text_of(sent.at("InstanceMarketOptions").as_object(), "MarketType"), "spot");
  EXPECT_FALSE(text_of(sent, "UserData").empty());
  std::set<std::string> tagged, ids;
  for_each_of(sent, "TagSpecifications", [&](const json::object& specification) {
    tagged.insert(text_of(specification, "ResourceType"));
  });
  EXPECT_EQ(tagged, (std::set<std::string>{"instance", "volume", "spot-instances-request"}));
  for (std::size_t i = 0; i < 3; ++i) {
    const Launch& launch = allocation->launches[i];
    ASSERT_TRUE(launch.instance);
    EXPECT_EQ(launch.instance->idempotency_key.str(), keys(1, 3)[i]);
    EXPECT_EQ(launch.instance->tags.at("muster-keys"), "host-7-:1-3");
    EXPECT_EQ(launch.instance->tags.at("team"), "build");
    EXPECT_EQ(launch.instance->tags.at("owner"), "x@y.z");
    EXPECT_EQ(launch.instance->capacity, 2);
    ids.insert(launch.instance->worker_id.str());
  }
  EXPECT_EQ(ids.size(), 3u);
}

TEST_F(AwsLaunching, the_same_keys_in_any_grouping_are_the_same_machines) {
  const auto first = provider().allocate(request(keys(1, 10)), context);
  for (const auto& again : {keys(4, 4), keys(1, 10), keys(8, 10), keys(2, 5)}) {
    const auto second = provider().allocate(request(again), context);
    ASSERT_EQ(second->launches.size(), again.size());
    for (const Launch& launch : second->launches)
      for (const Launch& before : first->launches)
        if (before.idempotency_key == launch.idempotency_key) {
          EXPECT_EQ(before.instance->worker_id, launch.instance->worker_id);
        }
  }
  EXPECT_EQ(api->instances().size(), 10u);
}

TEST_F(AwsLaunching, a_lost_answer_repeated_key_by_key_launches_nothing_twice) {
  int lost = 1;
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "RunInstances" || lost-- <= 0) return std::nullopt;
    return ExampleApi::Fault{Error::transient("cut off").with_code(no_answer_code), true};
  };
  const auto first = provider().allocate(request(keys(1, 5)), context);
  for (const Launch& launch : first->launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::transient);
  std::set<WorkerId> ids;
  for (int key = 5; key >= 1; --key) {
    AllocateRequest again = request(keys(key, key));
    again.repeated_keys = again.idempotency_keys;
    const auto answer = provider().allocate(again, context);
    ASSERT_TRUE(answer->launches[0].instance);
    ids.insert(answer->launches[0].instance->worker_id);
  }
  EXPECT_EQ(ids.size(), 5u);
  EXPECT_EQ(api->instances().size(), 5u);
  EXPECT_EQ(calls("RunInstances").size(), 2u) << "the first repetition settles all keys";
}

TEST_F(AwsLaunching, a_new_process_finds_what_an_earlier_one_launched) {
  const auto first = provider().allocate(request(keys(1, 5)), context);
  restart();
  AllocateRequest again = request(keys(3, 3));
  again.repeated_keys = again.idempotency_keys;
  const auto answer = provider().allocate(again, context);
  ASSERT_TRUE(answer->launches[0].instance) << answer->launches[0].error->message;
  EXPECT_EQ(answer->launches[0].instance->worker_id, first->launches[2].instance->worker_id);
  EXPECT_EQ(api->instances().size(), 5u);
}

TEST_F(AwsLaunching, a_new_process_launches_nothing_for_a_key_that_may_be_in_use) {
  api->set_hidden(true);  // EC2's list is late
  (void)provider().allocate(request(keys(1, 5)), context);
  restart();
  AllocateRequest again = request(keys(3, 4));
  again.repeated_keys = again.idempotency_keys;
  const auto unknown = provider().allocate(again, context);
  for (const Launch& launch : unknown->launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::transient);
  EXPECT_EQ(api->instances().size(), 5u);
  api->set_hidden(false);
  EXPECT_TRUE(provider().allocate(again, context)->launches[0].instance);
  EXPECT_EQ(api->instances().size(), 5u);
}

TEST_F(AwsLaunching, a_machine_that_was_terminated_is_not_launched_again) {
  const auto first = provider().allocate(request(keys(1, 1)), context);
  const Instance instance = *first->launches[0].instance;
  (void)provider().terminate(
      {owner, {{instance.worker_group, instance.worker_id, instance.provider_data}}, ""}, context);
  const auto again = provider().allocate(request(keys(1, 1)), context);
  EXPECT_EQ(again->launches[0].instance->worker_id, instance.worker_id);
  EXPECT_EQ(api->instances().size(), 1u);
}

TEST_F(AwsLaunching, partial_capacity_is_partial_success) {
  api->set_room(2);
  const auto allocation = provider().allocate(request(keys(1, 5)), context);
  ASSERT_TRUE(allocation);
  EXPECT_TRUE(allocation->launches[0].instance);
  EXPECT_TRUE(allocation->launches[1].instance);
  for (std::size_t i = 2; i < 5; ++i) {
    const Error& error = *allocation->launches[i].error;
    EXPECT_EQ(error.error_class, ErrorClass::capacity);
    EXPECT_EQ(error.scope.zone, "us-east-1a");
    EXPECT_EQ(error.scope.instance_type, "m5.large/spot");
  }
}

TEST_F(AwsLaunching, a_final_error_ends_all_batches_and_a_passing_one_only_its_own) {
  provider(R"({"regions": ["us-east-1"], "launchLimits": {"perCall": 2}})");
  int failures = 1;
  Error error = Error::capacity("none left");
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "RunInstances" || failures-- <= 0) return std::nullopt;
    return ExampleApi::Fault{error};
  };
  const auto all = provider().allocate(request(keys(1, 6)), context);
  for (const Launch& launch : all->launches) EXPECT_TRUE(launch.error);
  EXPECT_EQ(calls("RunInstances").size(), 1u);
  failures = 1;
  error = Error::transient("cut off");
  const auto some = provider().allocate(request(keys(11, 16)), context);
  EXPECT_TRUE(some->launches[0].error && some->launches[1].error);
  for (std::size_t i = 2; i < 6; ++i) EXPECT_TRUE(some->launches[i].instance);
}

TEST_F(AwsLaunching, a_thousand_launches_take_ten_calls) {
  for (int from = 1; from < 1000; from += 100)
    (void)provider().allocate(request(keys(from, from + 99)), context);
  EXPECT_EQ(api->instances().size(), 1000u);
  EXPECT_EQ(calls("RunInstances").size(), 10u);
}

TEST_F(AwsLaunching, a_superseded_host_is_refused) {
  (void)provider().allocate(request(keys(1, 1)), context);
  owner.epoch = 6;
  const auto refused = provider().allocate(request(keys(2, 2)), context);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("superseded"), std::string::npos);
  EXPECT_FALSE(provider().terminate({owner, {}, ""}, context));
  EXPECT_EQ(api->instances().size(), 1u);
}

TEST_F(AwsLaunching, a_quota_error_says_which_quota_how_much_and_where_to_raise_it) {
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "RunInstances") return std::nullopt;
    return ExampleApi::Fault{
        Error::quota("You have requested more vCPU capacity than your current vCPU limit of 32 "
                     "allows for the instance bucket")
            .in_region("us-east-1")
            .of_instance_type("m5.large/spot")
            .with_code("MaxSpotInstanceCountExceeded")};
  };
  const auto allocation = provider().allocate(request(keys(1, 1)), context);
  const std::string& message = allocation->launches[0].error->message;
  for (const char* part : {"Spot Instance Requests", "L-34B43A08", "us-east-1", "32 vCPUs",
                           "https://us-east-1.console.aws.amazon.com/servicequotas/"})
    EXPECT_NE(message.find(part), std::string::npos) << message;
}

// What the host needs to hold all types that count against the quota: a problem for each bid.
TEST_F(AwsLaunching, a_quota_that_is_used_up_gets_no_bid_of_its_other_types_either) {
  const char* section = R"({"launch": {"ImageId": "ami-1"}, "market": ["spot", "onDemand"],
      "instanceTypes": [{"type": "m5.large"}, {"type": "c5.xlarge"}, {"type": "g4dn.xlarge"}]})";
  BidRequest question{owner, WorkerPoolId("worker-manager/build"), 10, {}};
  for (std::size_t i = 0; i < 6; ++i)
    question.candidates.push_back({launch_config(section, i), 1, {}});
  ASSERT_EQ(provider().bid(question, context)->bids.size(), 6u);
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "RunInstances") return std::nullopt;
    return ExampleApi::Fault{Error::quota("vCPU limit of 32 allows")
                                 .in_region("us-east-1")
                                 .of_instance_type("m5.large/spot")
                                 .hold_for(600s)
                                 .with_code("MaxSpotInstanceCountExceeded")};
  };
  (void)provider().allocate(request(keys(1, 1)), context).value();
  const Bids held = provider().bid(question, context).value();
  EXPECT_EQ(held.bids.size(), 5u) << "the launch of m5.large was told, g4dn is of another family";
  ASSERT_EQ(held.problems.size(), 1u);
  EXPECT_EQ(held.problems[0].scope.instance_type, "c5.xlarge/spot");
  EXPECT_EQ(held.problems[0].scope.region, "us-east-1");
  EXPECT_EQ(held.problems[0].hold, 600s);
  EXPECT_NE(held.problems[0].message.find("L-34B43A08"), std::string::npos);
  // The host holds it from now on; once an operator has ended that, there are bids again.
  EXPECT_EQ(provider().bid(question, context)->bids.size(), 6u);
}

TEST(AwsQuotas, each_family_has_its_own) {
  const Quotas quotas;
  EXPECT_EQ(quotas.of("m5.large", false).code, "L-1216C47A");
  EXPECT_EQ(quotas.of("c7g.4xlarge", true).code, "L-34B43A08");
  EXPECT_EQ(quotas.of("g4dn.xlarge", false).code, "L-DB2E81BA");
  EXPECT_EQ(quotas.of("p3.2xlarge", true).code, "L-7212CCBC");
  EXPECT_EQ(quotas.of("inf2.xlarge", false).code, "L-1945791B");
  EXPECT_EQ(quotas.of("q9.large", false).code, "");
  EXPECT_NE(quotas.of("q9.large", false).name.find("q"), std::string::npos);
}

}  // namespace
}  // namespace muster::aws
