#include "plugins/provider/aws/interruptions.hpp"
#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

class AwsListing : public AwsTest {
 protected:
  Instance launch(int key) {
    return *provider().allocate(request(keys(key, key)), context)->launches[0].instance;
  }
  Listing list() { return provider().list({owner}, context).value(); }
  static WorkerRef ref(const Instance& instance) {
    return {instance.worker_group, instance.worker_id, instance.provider_data};
  }
};

TEST_F(AwsListing, shows_each_machine_with_all_that_the_host_gave_it) {
  const Instance launched = launch(1);
  const Listing listing = list();
  ASSERT_EQ(listing.instances.size(), 1u);
  EXPECT_EQ(codec::to_value(listing.instances[0]), codec::to_value(launched));
}

TEST_F(AwsListing, takes_pages_and_asks_each_region_once_for_each) {
  provider();
  (void)provider().allocate(request(keys(1, 25)), context);
  api->set_page_size(10);
  const std::size_t before = calls("DescribeInstances").size();
  EXPECT_EQ(list().instances.size(), 25u);
  EXPECT_EQ(calls("DescribeInstances").size() - before, 4u);  // three pages and the other region
  EXPECT_EQ(calls("DescribeInstances")[before].parameters.at("MaxResults").as_int64(), 1000);
}

TEST_F(AwsListing, a_region_that_fails_is_a_problem_and_hides_no_other) {
  launch(1);
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.region != "eu-west-1") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no route")};
  };
  const Listing listing = list();
  EXPECT_EQ(listing.instances.size(), 1u);
  ASSERT_EQ(listing.problems.size(), 1u);
  EXPECT_EQ(listing.problems[0].scope.region, "eu-west-1");
  api->fault = [](const Call&) -> std::optional<ExampleApi::Fault> {
    return ExampleApi::Fault{Error::transient("no route")};
  };
  EXPECT_FALSE(provider().list({owner}, context));
}

TEST_F(AwsListing, half_a_list_is_no_list) {
  (void)provider().allocate(request(keys(1, 25)), context);
  api->set_page_size(10);
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (text_of(call.parameters, "NextToken").empty()) return std::nullopt;
    return ExampleApi::Fault{Error::transient("cut off")};
  };
  const Listing listing = list();
  EXPECT_TRUE(listing.instances.empty());
  EXPECT_EQ(listing.problems.at(0).scope.region, "us-east-1");
}

TEST_F(AwsListing, a_machine_just_launched_and_not_listed_yet_is_not_lost) {
  api->set_hidden(true);
  const Instance launched = launch(1);
  ASSERT_EQ(list().instances.size(), 1u);
  EXPECT_EQ(list().instances[0].worker_id, launched.worker_id);
  context.advance(6min);
  EXPECT_TRUE(list().instances.empty()) << "after five minutes EC2's list is believed";
}

TEST_F(AwsListing, a_machine_that_ended_right_after_its_launch_is_not_kept) {
  const Instance launched = launch(1);
  api->change(launched.worker_id.str(), [](json::object& instance) {
    instance["State"] = json::object{{"Name", "terminated"}};
  });
  ASSERT_EQ(list().instances.size(), 1u);
  EXPECT_EQ(list().instances.size(), 0u) << "it was shown as stopped once";
}

TEST_F(AwsListing, a_machine_that_somebody_stopped_is_terminated) {
  const Instance launched = launch(1);
  api->change(launched.worker_id.str(), [](json::object& instance) {
    instance["State"] = json::object{{"Name", "stopped"}};
  });
  EXPECT_EQ(list().instances.at(0).state, InstanceState::stopped);
  EXPECT_EQ(calls("TerminateInstances").size(), 1u);
}

TEST_F(AwsListing, machines_of_others_are_not_shown) {
  launch(1);
  owner.provider_id = ProviderId("other");
  EXPECT_TRUE(list().instances.empty());
}

TEST_F(AwsListing, what_was_terminated_is_stopping_whatever_a_late_list_says) {
  const Instance launched = launch(1);
  EXPECT_TRUE(provider().terminate({owner, {ref(launched)}, ""}, context)->failures.empty());
  api->change(launched.worker_id.str(), [](json::object& instance) {
    instance["State"] = json::object{{"Name", "running"}};
  });
  EXPECT_EQ(list().instances.at(0).state, InstanceState::stopping);
}

TEST_F(AwsListing, missing_machines_are_terminated_and_hide_no_other) {
  const Instance first = launch(1), second = launch(2);
  context.advance(10min);
  WorkerRef gone{WorkerGroup("us-east-1"), WorkerId("i-0123456789abcdef0")};
  const auto ended = provider().terminate(
      {owner, {ref(first), gone, {WorkerGroup("nowhere"), WorkerId("nobody")}, ref(second)}, ""},
      context);
  ASSERT_TRUE(ended) << ended.error().message;
  EXPECT_TRUE(ended->failures.empty());
  for (const auto& [id, instance] : api->instances())
    EXPECT_EQ(text_of(instance.at("State").as_object(), "Name"), "terminated") << id;
}

TEST_F(AwsListing, a_machine_that_ec2_does_not_know_yet_is_not_taken_for_gone) {
  api->set_hidden(true);
  const Instance launched = launch(1);
  const auto early = provider().terminate({owner, {ref(launched)}, ""}, context);
  ASSERT_EQ(early->failures.size(), 1u);
  EXPECT_EQ(early->failures[0].error.error_class, ErrorClass::transient);
  restart();
  EXPECT_EQ(provider().terminate({owner, {ref(launched)}, ""}, context)->failures.size(), 1u);
  api->set_hidden(false);
  EXPECT_TRUE(provider().terminate({owner, {ref(launched)}, ""}, context)->failures.empty());
}

TEST_F(AwsListing, a_protected_machine_fails_alone) {
  std::vector<WorkerRef> workers;
  for (int key = 1; key <= 5; ++key) workers.push_back(ref(launch(key)));
  const std::string guarded = workers[2].worker_id.str();
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.action != "TerminateInstances" ||
        json::write(call.parameters).find(guarded) == std::string::npos)
      return std::nullopt;
    return ExampleApi::Fault{
        Error::config("The instance may not be terminated").with_code("OperationNotPermitted")};
  };
  const auto ended = provider().terminate({owner, workers, ""}, context);
  ASSERT_EQ(ended->failures.size(), 1u);
  EXPECT_EQ(ended->failures[0].worker_id.str(), guarded);
}

TEST_F(AwsListing, workers_of_other_hosts_are_left_alone) {
  const Instance launched = launch(1);
  Owner other = owner;
  other.host_id = "another";
  EXPECT_EQ(provider().terminate({other, {ref(launched)}, ""}, context)->failures.size(), 1u);
  EXPECT_TRUE(calls("TerminateInstances").empty());
}

TEST_F(AwsListing, placements_are_regions_and_zones_asked_for_once_an_hour) {
  EXPECT_EQ(provider().placements({}, context)->placements.size(), 4u);
  (void)provider().placements({}, context);
  EXPECT_EQ(calls("DescribeAvailabilityZones").size(), 2u);
  context.advance(61min);
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.region != "eu-west-1") return std::nullopt;
    return ExampleApi::Fault{Error::transient("no route")};
  };
  EXPECT_EQ(provider().placements({}, context)->placements.size(), 4u) << "the old answer counts";
  restart();
  EXPECT_EQ(provider().placements({}, context)->placements.size(), 2u) << "the others are shown";
  restart(R"({"regions": ["eu-west-1"]})");
  EXPECT_FALSE(provider().placements({}, context));
}

TEST_F(AwsListing, all_regions_are_those_of_the_account) {
  provider(R"({"regions": "all"})");
  EXPECT_EQ(provider().placements({}, context)->placements.size(), 4u);
  (void)provider().list({owner}, context);
  EXPECT_EQ(calls("DescribeRegions").size(), 1u);
}

TEST_F(AwsListing, interruptions_are_read_from_queues_and_deleted_once_delivered) {
  provider(R"({"regions": ["us-east-1"], "interruptionQueues": {"us-east-1": "https://q"}})");
  api->push_message("https://q", R"({"source": "aws.ec2", "region": "us-east-1",
      "detail-type": "EC2 Spot Instance Interruption Warning", "time": "2026-01-01T00:00:00Z",
      "detail": {"instance-id": "i-1", "instance-action": "terminate"}})");
  for (const char* odd : {"nonsense", "[]", "{}", R"({"source": "aws.ec2", "detail": {}})",
                          R"({"source": "aws.s3", "detail": {"instance-id": "i-2"}})"})
    api->push_message("https://q", odd);
  const auto first = provider().notices({owner}, context);
  ASSERT_EQ(first->notices.size(), 1u);
  EXPECT_EQ(first->notices[0].worker_id.str(), "i-1");
  EXPECT_EQ(format_time(first->notices[0].interruption.at), "2026-01-01T00:02:00.000Z");
  EXPECT_EQ(api->messages("https://q"), 6u) << "a crash now would lose nothing";
  EXPECT_EQ(provider().notices({owner}, context)->notices.size(), 1u);
  EXPECT_EQ(api->messages("https://q"), 0u);
  api->push_message("https://q", R"({"source": "aws.ec2", "region": "us-east-1",
      "detail-type": "EC2 Instance State-change Notification",
      "detail": {"instance-id": "i-1", "state": "terminated"}})");
  EXPECT_TRUE(provider().notices({owner}, context)->notices.empty());
}

TEST_F(AwsListing, without_queues_there_are_no_notices_and_no_calls) {
  EXPECT_TRUE(provider().notices({owner}, context)->notices.empty());
  EXPECT_TRUE(api->calls().empty());
}

}  // namespace
}  // namespace muster::aws
