#include <set>

#include "lib/hawk/hawk.hpp"
#include "tests/unit/plugins/provider/azure/fixture.hpp"

namespace muster::azure {
namespace {

class AzureLaunching : public AzureTest {
 protected:
  std::size_t puts() const { return api->calls("PUT", "").size(); }

  // Of the example's machines: 0 and 1 are Spot and Regular of the same size, 3 is another one.
  BidRequest bids_for(std::initializer_list<std::size_t> indexes) {
    BidRequest made{owner, WorkerPoolId("worker-manager/build"), 2, {}};
    for (const std::size_t index : indexes)
      made.candidates.push_back({launch_config(example_section(), index)});
    return made;
  }
};

TEST_F(AzureLaunching, a_launch_is_a_put_by_name_with_all_that_workers_need) {
  const auto allocation = provider().allocate(request(1, 1), context);
  ASSERT_TRUE(allocation) << allocation.error().message;
  const Call call = api->calls("PUT", "/virtualMachines/").at(0);
  const Instance& instance = *allocation->launches[0].instance;
  const std::string name = instance.worker_id.str();
  EXPECT_TRUE(call.only_if_new);
  EXPECT_NE(call.target.find("/resourceGroups/muster/providers/Microsoft.Compute/virtualMachines/" +
                             name + "?api-version=2024-07-01"),
            std::string::npos);
  const json::object& body = *call.body;
  EXPECT_EQ(text_of(body, "location"), "westeurope");
  EXPECT_EQ(json::write(body.at("zones")), R"(["1"])");
  const json::object& properties = body.at("properties").as_object();
  EXPECT_EQ(text_of(properties, "priority"), "Spot");
  EXPECT_EQ(text_of(properties, "evictionPolicy"), "Delete");
  EXPECT_EQ(json::write(properties.at("billingProfile")), R"({"maxPrice":0.5})");
  EXPECT_EQ(json::write(properties.at("hardwareProfile")), R"({"vmSize":"Standard_D2s_v5"})");
  const json::object& disk = properties.at("storageProfile").at("osDisk").as_object();
  EXPECT_EQ(text_of(disk, "deleteOption"), "Delete");
  EXPECT_EQ(text_of(disk, "name"), "disk-" + name.substr(3) + "-os");
  const json::object& nic = properties.at("networkProfile")
                                .at("networkInterfaceConfigurations")
                                .as_array()[0]
                                .as_object();
  EXPECT_EQ(text_of(nic, "name"), "nic-" + name.substr(3));
  EXPECT_EQ(text_of(nic.at("properties").as_object(), "deleteOption"), "Delete");
  const json::object& system = properties.at("osProfile").as_object();
  EXPECT_LE(text_of(system, "computerName").size(), 15u);
  const json::object registration =
      object(hawk::from_base64(text_of(system, "customData")).value());
  EXPECT_EQ(text_of(registration, "rootUrl"), "https://muster.example");
  EXPECT_EQ(text_of(registration, "workerGroup"), "westeurope");
  const json::object& tags = body.at("tags").as_object();
  EXPECT_EQ(text_of(tags, "worker-pool-id"), "worker-manager/build");
  EXPECT_EQ(text_of(tags, "muster-keys"), "host-7-1");
  EXPECT_EQ(text_of(tags, "team"), "build");
  EXPECT_EQ(text_of(tags, "owner"), "x@y.z");
  EXPECT_EQ(instance.worker_group.str(), "westeurope");
  EXPECT_FALSE(text_of(instance.provider_data, "vmId").empty());
  EXPECT_EQ(json::write(instance.provider_data).find("assword"), std::string::npos);
}

TEST_F(AzureLaunching, the_same_key_is_the_same_machine_and_is_sent_once) {
  const auto first = provider().allocate(request(1, 5), context);
  const auto second = provider().allocate(request(3, 7), context);
  EXPECT_EQ(first->launches[2].instance->worker_id, second->launches[0].instance->worker_id);
  EXPECT_EQ(puts(), 7u);
  EXPECT_EQ(api->names("virtualMachines").size(), 7u);
}

TEST_F(AzureLaunching, a_lost_answer_repeated_is_the_same_machine) {
  int lost = 1;
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "PUT" || lost-- <= 0) return std::nullopt;
    return ExampleApi::Fault{Error::transient("cut off").with_code(no_answer_code), true};
  };
  const auto first = provider().allocate(request(1, 1), context);
  EXPECT_EQ(first->launches[0].error->error_class, ErrorClass::transient);
  AllocateRequest again = request(1, 1);
  again.repeated_keys = again.idempotency_keys;
  const auto second = provider().allocate(again, context);
  ASSERT_TRUE(second->launches[0].instance) << second->launches[0].error->message;
  EXPECT_EQ(api->names("virtualMachines"),
            std::vector<std::string>{second->launches[0].instance->worker_id.str()});
}

TEST_F(AzureLaunching, a_new_process_finds_what_an_earlier_one_launched_and_launches_no_other) {
  const Instance before = launched();
  restart();
  AllocateRequest again = request(1, 2);
  again.repeated_keys = again.idempotency_keys;
  const auto answer = provider().allocate(again, context);
  EXPECT_EQ(answer->launches[0].instance->worker_id, before.worker_id);
  EXPECT_EQ(answer->launches[1].error->error_class, ErrorClass::transient);
  EXPECT_EQ(puts(), 1u);
}

TEST_F(AzureLaunching, a_machine_that_was_terminated_is_not_launched_again) {
  const Instance before = launched();
  (void)provider().terminate(
      {owner, {{before.worker_group, before.worker_id, before.provider_data}}, ""}, context);
  EXPECT_EQ(launched().worker_id, before.worker_id);
  EXPECT_EQ(puts(), 1u);
}

TEST_F(AzureLaunching, somebody_elses_machine_of_that_name_is_left_alone) {
  api->add("muster", "virtualMachines",
           {{"name", names_of(owner, IdempotencyKey("host-7-1")).machine()}});
  const auto answer = provider().allocate(request(1, 1), context);
  EXPECT_EQ(answer->launches[0].error->error_class, ErrorClass::config);
}

TEST_F(AzureLaunching, an_error_that_would_come_again_ends_what_was_not_sent) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "PUT") return std::nullopt;
    return ExampleApi::Fault{Error::quota("used up").with_code("QuotaExceeded")};
  };
  const auto answer = provider().allocate(request(1, 500), context);
  for (const Launch& launch : answer->launches)
    EXPECT_EQ(launch.error->error_class, ErrorClass::quota);
  EXPECT_LE(puts(), 32u);
}

TEST_F(AzureLaunching, a_shortage_of_spot_machines_closes_the_regular_ones_of_the_size_too) {
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "PUT") return std::nullopt;
    Error error = Error::capacity("none left").with_code("AllocationFailed").hold_for(3600s);
    error.scope = call.about;
    error.scope.launch_config_id.reset();
    return ExampleApi::Fault{error};
  };
  (void)provider().allocate(request(1, 1), context);
  api->fault = nullptr;
  const BidRequest bids = bids_for({0, 1, 3});
  const auto made = provider().bid(bids, context);
  EXPECT_EQ(made->bids.size(), 2u) << "the launch was told, and the last is of another size";
  ASSERT_EQ(made->problems.size(), 1u);
  EXPECT_EQ(made->problems[0].scope.instance_type, "Standard_D2s_v5");
  EXPECT_EQ(made->problems[0].hold, 3600s);
  EXPECT_EQ(provider().bid(bids, context)->bids.size(), 3u) << "an operator has ended the holds";
}

TEST_F(AzureLaunching, what_asks_long_after_a_shortage_tries_for_itself) {
  api->fail_later("AllocationFailed");
  (void)launched();
  context.advance(6s);
  ASSERT_EQ(provider().notices({owner}, context)->failed_launches.size(), 1u);
  context.advance(1min);
  EXPECT_EQ(provider().bid(bids_for({0, 1}), context)->bids.size(), 2u);
}

// The host has no bids made for what it holds: the first ones come when the hold was ended.
TEST_F(AzureLaunching, a_hold_by_a_notice_that_is_ended_leads_to_a_new_launch) {
  int key = 0;
  for (const char* code : {"AllocationFailed", "SkuNotAvailable", "OSProvisioningTimedOut"}) {
    restart();
    api->fail_later(code);
    (void)launched(++key);
    context.advance(6s);
    ASSERT_EQ(provider().notices({owner}, context)->failed_launches.size(), 1u) << code;
    (void)listed();
    const auto bids = provider().bid(bids_for({0}), context);
    EXPECT_EQ(bids->bids.size(), 1u) << code;
    EXPECT_TRUE(bids->problems.empty()) << code;
    api->fail_later("");
    (void)launched(++key);
    context.advance(6s);
    EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty()) << code;
  }
}

// The host heeds no notice of a worker that a list has ended: the bid is what it learns from.
TEST_F(AzureLaunching, a_failure_that_a_list_shows_first_is_told_by_one_bid) {
  api->fail_later("AllocationFailed");
  (void)provider().allocate(request(1, 2), context);
  context.advance(6s);
  EXPECT_EQ(listed().at(0).state, InstanceState::stopped);
  EXPECT_EQ(provider().notices({owner}, context)->failed_launches.size(), 2u);
  const auto told = provider().bid(bids_for({0, 1}), context);
  EXPECT_TRUE(told->bids.empty());
  ASSERT_EQ(told->problems.size(), 2u);
  EXPECT_EQ(told->problems[0].scope.instance_type, "Standard_D2s_v5/spot");
  EXPECT_EQ(provider().bid(bids_for({0, 1}), context)->bids.size(), 2u);
  (void)launched(3);
  context.advance(6s);
  (void)listed();
  EXPECT_EQ(provider().bid(bids_for({0}), context)->problems.size(), 1u) << "a new failure";
}

TEST_F(AzureLaunching, a_launch_that_was_on_its_way_when_another_failed_says_nothing_new) {
  const std::string slow = launched(1).worker_id.str();
  context.advance(1s);
  api->fail_later("AllocationFailed");
  (void)launched(2);
  context.advance(6s);
  ASSERT_EQ(provider().notices({owner}, context)->failed_launches.size(), 1u);
  context.advance(1s);
  set_state(slow, "Failed", "", "AllocationFailed");
  (void)listed();
  EXPECT_TRUE(provider().bid(bids_for({0}), context)->problems.empty());
}

TEST_F(AzureLaunching, a_failure_after_the_answer_reaches_the_host_once_with_its_reason) {
  api->fail_later("ZonalAllocationFailed");
  const Instance instance = launched();
  EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty()) << "not due yet";
  context.advance(6s);
  const auto notices = provider().notices({owner}, context);
  ASSERT_EQ(notices->failed_launches.size(), 1u);
  EXPECT_EQ(notices->failed_launches[0].idempotency_key.str(), "host-7-1");
  const Error& error = notices->failed_launches[0].error;
  EXPECT_EQ(error.error_class, ErrorClass::capacity);
  EXPECT_EQ(error.scope.zone, "westeurope-1");
  EXPECT_TRUE(provider().notices({owner}, context)->failed_launches.empty());
  EXPECT_EQ(listed().at(0).state, InstanceState::stopped);
  EXPECT_TRUE(api->names("virtualMachines").empty()) << "the machine that failed is deleted";
  EXPECT_TRUE(api->names("disks").empty());
}

TEST_F(AzureLaunching, many_launches_are_followed_by_one_list) {
  api->fail_later("AllocationFailed");
  (void)provider().allocate(request(1, 50), context);
  context.advance(6s);
  const std::size_t before = api->calls("GET", "/virtualMachines?").size();
  EXPECT_EQ(provider().notices({owner}, context)->failed_launches.size(), 50u);
  EXPECT_EQ(api->calls("GET", "/virtualMachines?").size(), before + 1);
}

TEST_F(AzureLaunching, a_template_gets_its_parameters_and_shows_as_pending) {
  const json::object section = object(R"({"vmSizes": [{"size": "Standard_B2s"}], "armDeployment": {
      "template": {"parameters": {"vmName": {}, "tags": {}, "customData": {}, "location": {}}}}})");
  const auto answer = provider().allocate(request(1, 1, section), context);
  ASSERT_TRUE(answer->launches[0].instance) << answer->launches[0].error->message;
  const Call call = api->calls("PUT", "/deployments/deploy-").at(0);
  const json::object& parameters = call.body->at("properties").at("parameters").as_object();
  EXPECT_EQ(parameters.size(), 4u) << "only what the template declares";
  EXPECT_EQ(text_of(parameters.at("vmName").as_object(), "value"),
            answer->launches[0].instance->worker_id.str());
  restart();
  ASSERT_EQ(listed().size(), 1u) << "found by its deployment";
  EXPECT_EQ(listed()[0].state, InstanceState::pending);
  EXPECT_EQ(listed()[0].idempotency_key.str(), "host-7-1");
  api->change("deployments", api->names("deployments").at(0), [](json::object& document) {
    const json::object reason{{"error", json::object{{"code", "SkuNotAvailable"}}}};
    const json::object inner{{"code", "Conflict"}, {"message", json::write(reason)}};
    document["properties"] = json::object{
        {"provisioningState", "Failed"},
        {"error", json::object{{"code", "DeploymentFailed"}, {"details", json::array{inner}}}}};
  });
  EXPECT_TRUE(listed().empty());
  const auto notices = provider().notices({owner}, context);
  ASSERT_EQ(notices->failed_launches.size(), 1u);
  EXPECT_EQ(notices->failed_launches[0].error.code, "SkuNotAvailable");
  EXPECT_TRUE(api->names("deployments").empty());
}

// There is no machine that a list could show as stopped: the host heeds the notice.
TEST_F(AzureLaunching, a_deployment_that_failed_without_a_machine_is_told_by_its_notice_alone) {
  const json::object section = object(R"({"vmSizes": [{"size": "Standard_B2s"}], "armDeployment": {
      "template": {"parameters": {"vmName": {}, "tags": {}, "customData": {}}}}})");
  (void)provider().allocate(request(1, 1, section), context);
  api->change("deployments", api->names("deployments").at(0), [](json::object& document) {
    document["properties"] = json::object{{"provisioningState", "Failed"},
                                          {"error", json::object{{"code", "ImageNotFound"}}}};
  });
  EXPECT_FALSE(provider().list({owner}, context)->instances.empty()) << "it was just launched";
  ASSERT_EQ(provider().notices({owner}, context)->failed_launches.size(), 1u);
  const BidRequest bids{owner, WorkerPoolId("worker-manager/build"), 1, {{launch_config(section)}}};
  EXPECT_TRUE(provider().bid(bids, context)->problems.empty());
}

}  // namespace
}  // namespace muster::azure
