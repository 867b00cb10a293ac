#include "tests/unit/plugins/provider/azure/fixture.hpp"

namespace muster::azure {
namespace {

class AzureListing : public AzureTest {
 protected:
  Termination terminate(const Instance& instance) {
    return provider()
        .terminate(
            {owner, {{instance.worker_group, instance.worker_id, instance.provider_data}}, "test"},
            context)
        .value();
  }
};

TEST_F(AzureListing, power_states_say_whether_a_machine_is_a_worker) {
  const Instance instance = launched();
  const std::string name = instance.worker_id.str();
  EXPECT_EQ(listed().at(0).state, InstanceState::pending);
  set_state(name, "Succeeded", "running");
  EXPECT_EQ(listed().at(0).state, InstanceState::running);
  set_state(name, "Succeeded", "deallocating");
  EXPECT_EQ(listed().at(0).state, InstanceState::stopping);
  EXPECT_TRUE(listed().at(0).interruption);
  set_state(name, "Failed", "running", "VMExtensionProvisioningError");
  EXPECT_EQ(listed().at(0).state, InstanceState::running);
  set_state(name, "Succeeded", "deallocated");
  EXPECT_EQ(listed().at(0).state, InstanceState::stopped);
  EXPECT_TRUE(api->names("virtualMachines").empty()) << "its disks would cost on";
}

TEST_F(AzureListing, without_the_subscriptions_view_lists_go_on) {
  const Instance instance = launched();
  set_state(instance.worker_id.str(), "Succeeded");
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.target.find("statusOnly") == std::string::npos) return std::nullopt;
    return ExampleApi::Fault{Error::auth("no").with_code("AuthorizationFailed")};
  };
  EXPECT_EQ(listed().at(0).state, InstanceState::running);
  (void)listed();
  EXPECT_EQ(api->calls("GET", "statusOnly").size(), 1u) << "it is not asked again at once";
}

TEST_F(AzureListing, ten_thousand_machines_are_pages_and_not_calls) {
  (void)provider().allocate(request(1, 30), context);
  api->set_page_size(10);
  const std::size_t before = api->call_count();
  EXPECT_EQ(listed().size(), 30u);
  // Three pages each of models and views; one list each of deployments, interfaces, addresses and
  // disks, in pages, too.
  EXPECT_LE(api->call_count() - before, 14u);
}

TEST_F(AzureListing, a_group_that_fails_hides_no_other_and_nothing_of_it_is_gone) {
  provider(R"({"subscription": "00000000-0000-0000-0000-000000000000", "resourceGroup": "muster",
               "resourceGroups": {"northeurope": "north"}, "zones": {"westeurope": ["1"]},
               "locations": ["westeurope", "northeurope"]})");
  (void)launched();
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.target.find("/north/") == std::string::npos) return std::nullopt;
    return ExampleApi::Fault{Error::transient("down")};
  };
  const auto listing = provider().list({owner}, context);
  EXPECT_EQ(listing->instances.size(), 1u);
  ASSERT_EQ(listing->problems.size(), 1u);
  EXPECT_EQ(listing->problems[0].scope.region, "northeurope");
  api->fault = [](const Call&) { return ExampleApi::Fault{Error::transient("down")}; };
  EXPECT_FALSE(provider().list({owner}, context));
}

TEST_F(AzureListing, others_machines_are_not_listed) {
  (void)launched();
  EXPECT_TRUE(provider().list({{"another", ProviderId("az"), 1}}, context)->instances.empty());
  api->add("muster", "virtualMachines", {{"name", "somebodys"}});
  EXPECT_EQ(listed().size(), 1u);
}

TEST_F(AzureListing, what_was_just_launched_is_listed_and_what_is_gone_is_not) {
  const Instance instance = launched();
  EXPECT_EQ(listed().size(), 1u);
  EXPECT_TRUE(terminate(instance).failures.empty());
  EXPECT_TRUE(listed().empty());
  EXPECT_TRUE(terminate(instance).failures.empty()) << "gone counts as terminated";
}

TEST_F(AzureListing, another_hosts_machine_is_not_terminated) {
  Instance instance = launched();
  instance.provider_data["host"] = "another";
  ASSERT_EQ(terminate(instance).failures.size(), 1u);
  EXPECT_EQ(api->names("virtualMachines").size(), 1u);
  instance.worker_id = WorkerId("../../disks/x");
  instance.provider_data["host"] = "host";
  EXPECT_TRUE(terminate(instance).failures.empty());
  EXPECT_TRUE(api->calls("DELETE", "").empty()) << "no name of a machine";
}

TEST_F(AzureListing, what_is_left_over_is_removed_after_its_grace) {
  const Names gone = names_of(owner, IdempotencyKey("host-7-99"));
  const Names others = names_of({"another", ProviderId("az"), 1}, IdempotencyKey("k"));
  api->add("muster", "networkInterfaces", {{"name", gone.network_interface(0) + "-ab12"}});
  api->add("muster", "publicIPAddresses", {{"name", gone.public_address(0)}});
  api->add("muster", "disks", {{"name", gone.system_disk()}});
  api->add("muster", "disks",
           {{"name", "tagged"},
            {"tags", json::object{{"muster-host", "host"},
                                  {"muster-provider", "az"},
                                  {"muster-keys", "host-7-98"}}}});
  api->add("muster", "disks", {{"name", others.system_disk()}});
  api->add("muster", "disks", {{"name", "somebodys"}});
  api->add("muster", "disks",
           {{"name", names_of(owner, IdempotencyKey("in-use")).system_disk()},
            {"managedBy", "/subscriptions/x"}});
  (void)launched();
  (void)listed();
  EXPECT_TRUE(api->calls("DELETE", "").empty()) << "a launch may be under way";
  context.advance(61s);
  (void)listed();
  EXPECT_EQ(api->calls("DELETE", "").size(), 4u);
  EXPECT_TRUE(api->names("publicIPAddresses").empty());
  EXPECT_EQ(api->names("networkInterfaces").size(), 1u) << "that of the machine";
  EXPECT_EQ(api->names("disks").size(), 4u) << "of the machine, in use, of others";
}

TEST_F(AzureListing, what_cannot_be_removed_yet_is_tried_again_also_by_a_new_process) {
  api->add("muster", "networkInterfaces",
           {{"name", names_of(owner, IdempotencyKey("k")).network_interface(0)}});
  api->fault = [&](const Call& call) -> std::optional<ExampleApi::Fault> {
    if (call.method != "DELETE") return std::nullopt;
    return ExampleApi::Fault{Error::transient("NicReservedForAnotherVm")};
  };
  (void)listed();
  context.advance(61s);
  (void)listed();
  EXPECT_EQ(api->names("networkInterfaces").size(), 1u);
  api->fault = nullptr;
  restart();
  (void)listed();
  context.advance(61s);
  (void)listed();
  EXPECT_TRUE(api->names("networkInterfaces").empty());
}

TEST_F(AzureListing, a_failed_machine_found_by_a_new_process_is_reported_and_removed) {
  const Instance instance = launched();
  restart();
  set_state(instance.worker_id.str(), "Failed", "", "AllocationFailed");
  EXPECT_EQ(listed().at(0).state, InstanceState::stopped);
  const auto notices = provider().notices({owner}, context);
  ASSERT_EQ(notices->failed_launches.size(), 1u);
  EXPECT_EQ(notices->failed_launches[0].error.code, "AllocationFailed");
  EXPECT_TRUE(api->names("virtualMachines").empty());
}

TEST_F(AzureListing, a_host_that_was_superseded_changes_nothing) {
  (void)launched();
  AllocateRequest old = request(2, 2);
  old.owner.epoch = 6;
  EXPECT_EQ(provider().allocate(old, context).error().error_class, ErrorClass::invalid);
}

}  // namespace
}  // namespace muster::azure
