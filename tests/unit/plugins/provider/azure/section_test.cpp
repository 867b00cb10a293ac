#include "tests/unit/plugins/provider/azure/fixture.hpp"

namespace muster::azure {
namespace {

class AzureSectionTest : public AzureTest {
 protected:
  std::string refusal(const json::object& section) {
    const auto expansion = expand(section, zone);
    return expansion ? "" : expansion.error().message;
  }
  // The example with one member of `launch` more.
  static json::object with(const char* member, json::value value) {
    json::object section = example_section();
    cloud::lay_over(cloud::table_in(section, "launch"), {{member, std::move(value)}});
    return section;
  }
};

TEST_F(AzureSectionTest, what_azure_does_not_know_is_found_with_its_path) {
  struct Wrong {
    const char* member;
    const char* value;
    const char* expected;
  };
  for (const Wrong& wrong : std::initializer_list<Wrong>{
           {"storageProfil", "{}", "azure.launch"},
           {"storageProfile", R"({"osDisk": {"diskSizeGB": "80"}})",
            "azure.launch.storageProfile.osDisk.diskSizeGB"},
           {"storageProfile", R"({"osDisk": {"caching": "ReadMostly"}})",
            "azure.launch.storageProfile.osDisk.caching"},
           {"properties", R"({"evictionPolicy": "Sometimes"})",
            "azure.launch.properties.evictionPolicy"},
           {"networkProfile",
            R"({"networkInterfaceConfigurations": [{"properties": {"subnet": "x"}}]})",
            "azure.launch.networkProfile.networkInterfaceConfigurations.0.properties"}}) {
    const std::string message = refusal(with(wrong.member, json::parse(wrong.value).value()));
    EXPECT_TRUE(message.starts_with(wrong.expected)) << wrong.member << ": " << message;
  }
}

TEST_F(AzureSectionTest, what_muster_sets_is_refused_and_the_message_says_what_to_write) {
  const auto says = [&](const char* member, const char* value, const char* words) {
    const std::string message = refusal(with(member, json::parse(value).value()));
    EXPECT_NE(message.find(words), std::string::npos) << member << ": " << message;
  };
  says("hardwareProfile", R"({"vmSize": "Standard_D2s_v5"})", "use azure.vmSizes");
  says("priority", R"("Spot")", "use azure.market");
  says("billingProfile", R"({"maxPrice": 1})", "use azure.maxPrice");
  says("tags", R"({"a": "b"})", "use azure.tags");
  says("location", R"("westeurope")", "locations");
  says("zones", R"(["1"])", "zones");
  says("osProfile", R"({"customData": "eA=="})", "use azure.userData");
  says("osProfile", R"({"adminPassword": "x"})", "nobody knows");
  says("networkProfile", R"({"networkInterfaces": [{"id": "/x"}]})",
       "use networkInterfaceConfigurations");
  says("storageProfile", R"({"osDisk": {"deleteOption": "Detach"}})", "Delete");
  json::object tagged = example_section();
  tagged["tags"] = json::object{{"Muster-Host", "x"}};
  EXPECT_EQ(refusal(tagged), "azure.tags.Muster-Host: muster sets it; remove it");
  tagged["tags"] = json::object{{"root-url", "x"}};
  EXPECT_EQ(refusal(tagged), "azure.tags.root-url: muster sets it; remove it");
}

TEST_F(AzureSectionTest, sizes_and_markets_are_launch_configurations_of_their_own) {
  const auto expansion = expand(example_section(), zone).value();
  std::vector<std::string> types;
  for (const LaunchDocument& made : expansion.launch_documents) types.push_back(made.instance_type);
  EXPECT_EQ(types, (std::vector<std::string>{"Standard_D2s_v5/spot", "Standard_D2s_v5",
                                             "Standard_F4s_v2/spot", "Standard_F4s_v2"}));
  EXPECT_EQ(expansion.launch_documents[0].capacity_per_instance, 2);
}

TEST_F(AzureSectionTest, properties_may_stand_beside_their_siblings) {
  json::object nested = example_section();
  const json::object flat = nested.at("launch").as_object();
  nested["launch"] = json::object{{"properties", flat}};
  EXPECT_EQ(expand(nested, zone)->launch_documents[0].document,
            expand(example_section(), zone)->launch_documents[0].document);
}

TEST_F(AzureSectionTest, nothing_is_launched_without_an_image_or_a_subnet) {
  for (const char* member : {"storageProfile", "networkProfile"}) {
    json::object section = example_section();
    section.at("launch").as_object().erase(member);
    EXPECT_TRUE(expand(section, zone)->launch_documents.empty()) << member;
  }
}

json::object template_section() {
  return object(R"({"armDeployment": {
      "template": {"parameters": {"vmName": {}, "tags": {}, "customData": {}, "vmSize": {}}},
      "parameters": {"location": {"value": "westeurope"}, "vmSize": {"value": "Standard_B2s"},
                     "priority": {"value": "Spot"}}}})");
}

TEST_F(AzureSectionTest, a_template_of_taskcluster_says_size_market_and_location) {
  const auto expansion = expand(template_section(), zone).value();
  ASSERT_EQ(expansion.launch_documents.size(), 1u);
  EXPECT_EQ(expansion.launch_documents[0].instance_type, "Standard_B2s/spot");
  const Placement elsewhere{{{"region", "northeurope"}}};
  EXPECT_TRUE(expand(template_section(), elsewhere)->launch_documents.empty());
}

TEST_F(AzureSectionTest, a_template_that_cannot_work_is_refused) {
  json::object section = template_section();
  json::object& deployment = section.at("armDeployment").as_object();
  deployment["mode"] = "Complete";
  EXPECT_NE(refusal(section).find("azure.armDeployment.mode"), std::string::npos);
  deployment.erase("mode");
  cloud::table_in(deployment, "parameters")["vmName"] = json::object{{"value", "x"}};
  EXPECT_NE(refusal(section).find("muster sets it"), std::string::npos);
  cloud::table_in(deployment, "parameters").erase("vmName");
  cloud::table_in(cloud::table_in(deployment, "template"), "parameters").erase("tags");
  EXPECT_NE(refusal(section).find("lacks \"tags\""), std::string::npos);
  deployment.erase("template");
  EXPECT_NE(refusal(section).find("one of template and templateLink"), std::string::npos);
  deployment["templateLink"] = json::object{{"id", "/subscriptions/1/templates/x"}};
  EXPECT_EQ(refusal(section), "");
  cloud::table_in(deployment, "parameters").erase("vmSize");
  EXPECT_TRUE(refusal(section).starts_with("azure.vmSizes: is missing"));
}

}  // namespace
}  // namespace muster::azure
