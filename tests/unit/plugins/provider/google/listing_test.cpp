#include "tests/unit/plugins/provider/google/fixture.hpp"

namespace muster::google {
namespace {

class GoogleListing : public GoogleTest {
 protected:
  std::vector<WorkerRef> workers() {
    std::vector<WorkerRef> made;
    for (const Instance& instance : provider().list({owner}, context).value().instances)
      made.push_back({instance.worker_group, instance.worker_id, instance.provider_data});
    return made;
  }
  std::string first_name() { return api->instances().begin()->first; }
};

TEST_F(GoogleListing, all_zones_are_one_question_in_pages_and_without_metadata) {
  (void)provider().allocate(request(1, 40), context);
  api->page_size = 15;
  const std::size_t before = api->calls().size();
  EXPECT_EQ(provider().list({owner}, context)->instances.size(), 40u);
  EXPECT_EQ(api->calls().size() - before, 3u);
  EXPECT_EQ(calls("instances.aggregatedList").back().query.at("fields").find("metadata"),
            std::string::npos);
}

TEST_F(GoogleListing, what_another_host_launched_is_not_ours) {
  (void)provider().allocate(request(1, 2), context);
  Owner other = owner;
  other.host_id = "Other";
  EXPECT_TRUE(provider().list({other}, context)->instances.empty());
  other = owner;
  other.epoch = 9;
  EXPECT_EQ(provider().list({other}, context)->instances.size(), 2u);
}

TEST_F(GoogleListing, a_zone_that_cannot_be_reached_is_a_problem_and_its_machines_are_not_gone) {
  (void)provider().allocate(request(1, 2), context);
  api->unreachable = {"us-central1-b", "asia-east1-a"};
  auto listing = provider().list({owner}, context);
  ASSERT_EQ(listing->problems.size(), 1u) << "only zones of ours concern us";
  EXPECT_EQ(listing->problems[0].scope.zone, "us-central1-b");
  EXPECT_EQ(listing->instances.size(), 2u);
  EXPECT_EQ(calls("instances.aggregatedList").back().query.at("returnPartialSuccess"), "true");
}

TEST_F(GoogleListing, a_list_that_fails_in_the_middle_is_no_list) {
  (void)provider().allocate(request(1, 20), context);
  api->page_size = 5;
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "instances.aggregatedList" || !call.query.contains("pageToken"))
      return std::nullopt;
    return ExampleApi::Fault{Error::transient("cut off")};
  };
  EXPECT_FALSE(provider().list({owner}, context));
}

TEST_F(GoogleListing, machines_without_our_labels_are_nobodys) {
  (void)provider().allocate(request(1, 2), context);
  api->change(first_name(), [](json::object& instance) {
    instance.at("labels").as_object().erase("muster-pool");
  });
  EXPECT_EQ(provider().list({owner}, context)->instances.size(), 1u);
}

TEST_F(GoogleListing, stopped_machines_are_deleted_because_their_disks_cost_money) {
  (void)provider().allocate(request(1, 2), context);
  api->change(first_name(), [](json::object& instance) { instance["status"] = "TERMINATED"; });
  const auto listing = provider().list({owner}, context);
  EXPECT_EQ(listing->instances[0].state, InstanceState::stopped);
  EXPECT_EQ(api->instances().size(), 1u);
}

TEST_F(GoogleListing, terminations_go_together_and_a_missing_machine_is_a_success) {
  (void)provider().allocate(request(1, 30), context);
  auto ending = workers();
  ending.push_back({WorkerGroup("us-central1-a"), WorkerId("99"), {}});
  ending.push_back({WorkerGroup("../../x"), WorkerId("1"), {}});
  ending.push_back({WorkerGroup("us-central1-a"), WorkerId("no-number"), {}});
  const auto termination = provider().terminate({owner, ending, "done"}, context);
  EXPECT_TRUE(termination->failures.empty());
  EXPECT_TRUE(api->instances().empty());
  EXPECT_TRUE(provider().terminate({owner, ending, "again"}, context)->failures.empty());
}

TEST_F(GoogleListing, a_machine_of_another_host_is_not_deleted) {
  (void)provider().allocate(request(1, 1), context);
  Owner other = owner;
  other.host_id = "Other";
  const auto termination = provider().terminate({other, workers(), "mine"}, context);
  ASSERT_EQ(termination->failures.size(), 1u);
  EXPECT_EQ(termination->failures[0].error.error_class, ErrorClass::invalid);
  EXPECT_EQ(api->instances().size(), 1u);
}

TEST_F(GoogleListing, a_machine_whose_launch_is_under_way_is_not_taken_for_gone) {
  api->operations_end = false;
  const auto launched = provider().allocate(request(1, 1), context);
  const Instance& instance = *launched->launches[0].instance;
  const WorkerRef worker{instance.worker_group, instance.worker_id, instance.provider_data};
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "instances.delete") return std::nullopt;
    return ExampleApi::Fault{Error::not_found("no such machine").with_code("notFound")};
  };
  EXPECT_EQ(provider().terminate({owner, {worker}, ""}, context)->failures.size(), 1u);
  api->end_operations();
  (void)provider().notices({owner}, context);
  EXPECT_TRUE(provider().terminate({owner, {worker}, ""}, context)->failures.empty());
}

TEST_F(GoogleListing, a_promise_of_which_nothing_is_heard_ends) {
  api->operations_end = false;
  (void)provider().allocate(request(1, 1), context);
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "zoneOperations.list") return std::nullopt;
    return ExampleApi::Fault{Error::auth("no permission")};
  };
  api->change(first_name(), [](json::object& instance) { instance.erase("labels"); });
  EXPECT_EQ(provider().list({owner}, context)->instances.size(), 1u) << "still promised";
  context.advance(20min);
  EXPECT_TRUE(provider().list({owner}, context)->instances.empty());
}

TEST_F(GoogleListing, what_was_deleted_is_promised_no_more) {
  api->operations_end = false;
  (void)provider().allocate(request(1, 1), context);
  EXPECT_TRUE(provider().terminate({owner, workers(), ""}, context)->failures.empty());
  EXPECT_TRUE(provider().list({owner}, context)->instances.empty());
}

TEST_F(GoogleListing, preemptions_come_from_operations_and_are_repeated) {
  (void)provider().allocate(request(1, 2), context);
  EXPECT_TRUE(provider().notices({owner}, context)->notices.empty());
  api->preempt(first_name(), context);
  context.advance(10s);
  for (int i = 0; i < 3; ++i) {
    const auto notices = provider().notices({owner}, context);
    ASSERT_EQ(notices->notices.size(), 1u);
    EXPECT_EQ(notices->notices[0].worker_group.str(), "us-central1-a");
    EXPECT_EQ(notices->notices[0].interruption.reason, "preempted by Google");
  }
  context.advance(1h);
  EXPECT_TRUE(provider().notices({owner}, context)->notices.empty());
}

TEST_F(GoogleListing, preemptions_that_are_not_known_do_not_hide_failed_launches) {
  api->fault = [](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "globalOperations.aggregatedList") return std::nullopt;
    return ExampleApi::Fault{Error::auth("no permission")};
  };
  EXPECT_TRUE(provider().notices({owner}, context));
}

TEST_F(GoogleListing, placements_are_the_zones_of_the_configuration_or_of_the_regions) {
  EXPECT_EQ(provider().placements({}, context)->placements.size(), 2u);
  EXPECT_TRUE(api->calls().empty());
  restart(R"({"project": "my-project", "regions": ["us-central1", "europe-west1"]})");
  const auto found = provider().placements({}, context);
  ASSERT_EQ(found->placements.size(), 4u);
  EXPECT_EQ(found->placements[0].facts.at("region"), "us-central1");
  EXPECT_EQ(found->placements[0].facts.at("availabilityZone"), "us-central1-a");
}

TEST_F(GoogleListing, the_doctor_says_what_is_wrong_and_what_to_do) {
  api->refused_permissions = {"compute.instances.delete", "iam.serviceAccounts.actAs"};
  api->limits = {{"PREEMPTIBLE_CPUS", 0}, {"N2_CPUS", 0}};
  const auto diagnosis =
      provider().diagnose({owner, {launch_config(nullptr, 0), launch_config(nullptr, 1)}}, context);
  std::map<std::string, CheckOutcome> outcomes;
  for (const auto& check : diagnosis->checks) {
    outcomes[check.subject] = check.outcome;
    EXPECT_FALSE(check.message.empty());
    if (check.outcome == CheckOutcome::failed) {
      EXPECT_FALSE(check.remedy.empty()) << check.subject;
    }
  }
  EXPECT_EQ(outcomes.at("compute.instances.delete"), CheckOutcome::failed);
  EXPECT_EQ(outcomes.at("compute.instances.create"), CheckOutcome::good);
  EXPECT_EQ(outcomes.at("iam.serviceAccounts.actAs"), CheckOutcome::unknown);
  EXPECT_EQ(outcomes.at("us-central1: quota N2_CPUS"), CheckOutcome::failed);
  EXPECT_EQ(outcomes.at("us-central1: quota PREEMPTIBLE_CPUS"), CheckOutcome::good);
  EXPECT_EQ(outcomes.at("image projects/debian-cloud/global/images/family/debian-12"),
            CheckOutcome::good);
  for (const Call& call : api->calls())
    EXPECT_FALSE(call.method.ends_with("nsert") || call.method == "instances.delete");
}

TEST_F(GoogleListing, the_doctor_stops_where_nothing_answers) {
  api->fault = [](const Call&) -> std::optional<ExampleApi::Fault> {
    return ExampleApi::Fault{Error::transient("no way").with_code(no_answer_code)};
  };
  const auto diagnosis = provider().diagnose({owner, {}}, context);
  ASSERT_EQ(diagnosis->checks.size(), 1u);
  EXPECT_EQ(diagnosis->checks[0].subject, "network");
}

}  // namespace
}  // namespace muster::google
