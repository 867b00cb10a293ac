// Pools of Taskcluster's providers google and azure. What they become is expanded by the plugins
// themselves.
#include "plugins/provider/azure/section.hpp"
#include "plugins/provider/google/section.hpp"
#include "tests/unit/cli/import/fixture.hpp"

namespace muster::importing {
namespace {

using ::testing::HasSubstr;

std::vector<LaunchDocument> documents_of(const Result<Expansion>& expansion) {
  EXPECT_TRUE(expansion) << expansion.error().message;
  return expansion ? expansion->launch_documents : std::vector<LaunchDocument>();
}

class GoogleImport : public ImportTest {
 protected:
  static std::string machine(const std::string& zone, const std::string& type,
                             const std::string& scheduling, const std::string& more = "") {
    return R"({"region": "us-central1", "zone": ")" + zone + R"(", "machineType": "zones/)" + zone +
           "/machineTypes/" + type +
           R"(", "disks": [{"boot": true, "type": "PERSISTENT", "initializeParams": {"sourceImage": "projects/p/global/images/i", "diskType": "zones/)" +
           zone +
           R"(/diskTypes/pd-ssd"}}], "networkInterfaces": [{"accessConfigs": [{"type": "ONE_TO_ONE_NAT"}]}], "scheduling": {)" +
           scheduling + R"(}, "workerConfig": {"a": 1})" + more + "}";
  }
  static std::vector<LaunchDocument> launched(const Converted& made, const std::string& zone) {
    const rules::Facts facts{{"region", "us-central1"}, {google_cloud.zone_fact, zone}};
    google::Settings settings;
    settings.worker_service_account = "worker@p.iam.gserviceaccount.com";
    const cloud::SectionReader reader(google::section_rules(settings), google::section_schema());
    return documents_of(reader.expand({WorkerPoolId("worker-manager/build"),
                                       {{facts.begin(), facts.end()}},
                                       evaluated(made, facts)}));
  }
};

TEST_F(GoogleImport, every_launch_configuration_comes_to_what_taskcluster_sends) {
  const std::string spot =
      R"("provisioningModel": "SPOT", "automaticRestart": false, "onHostMaintenance": "TERMINATE")";
  const Converted made = converted(machine("us-central1-a", "n2-standard-4", spot) + ", " +
                                   machine("us-central1-b", "n2-standard-4", spot) + ", " +
                                   machine("us-central1-b", "c2-standard-4", spot));
  EXPECT_EQ(losses(), "");
  EXPECT_EQ(report.carried, 3u);
  const auto documents = launched(made, "us-central1-b");
  ASSERT_EQ(documents.size(), 2u) << made.text;
  for (const LaunchDocument& each : documents) {
    const json::object& section = each.document.at("google").as_object();
    EXPECT_EQ(section.at("market"), json::value("SPOT"));
    EXPECT_EQ(
        section.at("launch"),
        json::value(object(R"({"disks": [{"boot": true, "type": "PERSISTENT", "initializeParams":
                {"sourceImage": "projects/p/global/images/i", "diskType": "zones/us-central1-b/diskTypes/pd-ssd"}}],
                "networkInterfaces": [{"accessConfigs": [{"type": "ONE_TO_ONE_NAT"}]}],
                "scheduling": {"onHostMaintenance": "TERMINATE"}})")));
    EXPECT_EQ(each.document.at("workerConfig"), json::value(object(R"({"a": 1})")));
  }
  EXPECT_EQ(documents[1].document.at("google").at("machineType"), json::value("c2-standard-4"));
  EXPECT_EQ(launched(made, "us-central1-a").size(), 1u);
  EXPECT_EQ(launched(made, "us-central1-c").size(), 0u) << made.text;
}

TEST_F(GoogleImport, preemptible_machines_are_spot_and_labels_are_carried) {
  const Converted made =
      converted(machine("us-central1-a", "n2-standard-4", R"("preemptible": true)",
                        R"(, "labels": {"team": "build"}, "serviceAccounts": [])"));
  const auto documents = launched(made, "us-central1-a");
  ASSERT_EQ(documents.size(), 1u);
  EXPECT_EQ(documents[0].document.at("google").at("market"), json::value("SPOT"));
  EXPECT_EQ(documents[0].document.at("google").at("labels").at("team"), json::value("build"));
  EXPECT_THAT(losses(), HasSubstr("|serviceAccounts|"));
}

class AzureImport : public ImportTest {
 protected:
  static std::vector<LaunchDocument> launched(const Converted& made, const std::string& region) {
    const rules::Facts facts{{"region", region}};
    return documents_of(azure::AzureSection().expand({WorkerPoolId("worker-manager/build"),
                                                      {{facts.begin(), facts.end()}},
                                                      evaluated(made, facts)}));
  }
};

TEST_F(AzureImport, a_machine_comes_to_the_put_of_a_machine) {
  const auto machine = [](const std::string& location, const std::string& size,
                          const std::string& more) {
    return R"({"location": ")" + location + R"(", "subnetId": "/subscriptions/s/subnets/)" +
           location + R"(", "hardwareProfile": {"vmSize": ")" + size +
           R"("}, "storageProfile": {"imageReference": {"id": "/images/1"}, "osDisk": {"createOption": "FromImage", "diskSizeGB": 64}},
               "priority": "Spot", "evictionPolicy": "Delete", "billingProfile": {"maxPrice": 0.4}, "tags": {"team": "build"}, "workerConfig": {})" +
           more + "}";
  };
  const Converted made =
      converted(machine("eastus", "Standard_F8s_v2",
                        R"(, "workerManager": {"publicIp": true, "keepDeployment": true})") +
                ", " + machine("West US 2", "Standard_F8s_v2", ""));
  EXPECT_EQ(report.carried, 2u);
  EXPECT_THAT(losses(), HasSubstr("|workerManager.keepDeployment|"));
  const auto documents = launched(made, "westus2");
  ASSERT_EQ(documents.size(), 1u) << made.text;
  const json::object& section = documents[0].document.at("azure").as_object();
  EXPECT_EQ(section.at("vmSize"), json::value("Standard_F8s_v2"));
  EXPECT_EQ(section.at("market"), json::value("Spot"));
  EXPECT_EQ(section.at("maxPrice"), json::value(0.4));
  EXPECT_EQ(section.at("tags").at("team"), json::value("build"));
  const json::value& properties = section.at("launch").at("properties");
  EXPECT_EQ(properties.at("storageProfile").at("osDisk").at("diskSizeGB"), json::value(64));
  EXPECT_EQ(properties.at("evictionPolicy"), json::value("Delete"));
  const json::value& address = properties.at("networkProfile")
                                   .at("networkInterfaceConfigurations")
                                   .at(0)
                                   .at("properties")
                                   .at("ipConfigurations")
                                   .at(0)
                                   .at("properties");
  EXPECT_EQ(address.at("subnet").at("id"), json::value("/subscriptions/s/subnets/West US 2"));
  EXPECT_FALSE(address.as_object().contains("publicIPAddressConfiguration"));
  EXPECT_THAT(made.text, HasSubstr("publicIPAddressConfiguration"));
  EXPECT_EQ(launched(made, "northeurope").size(), 0u);
}

TEST_F(AzureImport, templates_are_carried_and_serve_all_sizes) {
  const auto deployment = [](const std::string& size) {
    return R"({"armDeployment": {"mode": "Incremental", "templateLink": {"id": "/templates/1"}, "parameters":
               {"location": {"value": "eastus"}, "vmSize": {"value": ")" +
           size +
           R"("}, "imageId": {"value": "/images/1"}}}, "armDeploymentResourceGroup": "rg", "workerConfig": {}})";
  };
  const Converted made =
      converted(deployment("Standard_F8s_v2") + ", " + deployment("Standard_D2s_v5"));
  EXPECT_EQ(report.carried, 2u) << losses();
  EXPECT_THAT(losses(), HasSubstr("|armDeploymentResourceGroup|"));
  const auto documents = launched(made, "eastus");
  ASSERT_EQ(documents.size(), 2u) << made.text;
  EXPECT_EQ(documents[1].document.at("azure").at("vmSize"), json::value("Standard_D2s_v5"));
  EXPECT_EQ(documents[1]
                .document.at("azure")
                .at("armDeployment")
                .at("parameters")
                .at("imageId")
                .at("value"),
            json::value("/images/1"));
}

TEST_F(AzureImport, what_taskcluster_itself_would_refuse_is_lost_with_a_sentence) {
  EXPECT_FALSE(
      convert(pool_with(R"({"location": "eastus", "hardwareProfile": {}, "subnetId": "s"})")));
  EXPECT_THAT(losses(), HasSubstr("hardwareProfile.vmSize is missing"));
  EXPECT_FALSE(convert(pool_with(R"({"location": "eastus", "hardwareProfile": {"vmSize": "x"}})")));
  EXPECT_THAT(losses(), HasSubstr("subnetId is missing"));
  EXPECT_FALSE(convert(
      pool_with(R"({"armDeployment": {"parameters": {"location": {"value": "eastus"}}}})")));
  EXPECT_THAT(losses(), HasSubstr("armDeployment.parameters.vmSize.value is missing"));
  EXPECT_FALSE(convert(pool_with(R"({"armDeployment": 7})")));
}

}  // namespace
}  // namespace muster::importing
