// Pools of Taskcluster's provider aws. What they become is expanded by provider/aws itself, and
// must be what Taskcluster would have sent to EC2.
#include "plugins/provider/aws/section.hpp"
#include "tests/unit/cli/import/fixture.hpp"

namespace muster::importing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class AwsImport : public ImportTest {
 protected:
  static std::string machine(const std::string& zone, const std::string& members,
                             const std::string& more = "") {
    return R"({"region": ")" + zone.substr(0, zone.size() - 1) + R"(", "launchConfig": {)" +
           members + R"(, "Placement": {"AvailabilityZone": ")" + zone + R"("}})" + more + "}";
  }

  // RunInstances' parameters of one type and market at one place, as muster comes to them.
  static json::object launched(const Converted& made, const std::string& zone,
                               const std::string& type, const std::string& market) {
    const rules::Facts facts{{"region", zone.substr(0, zone.size() - 1)},
                             {"availabilityZone", zone}};
    const cloud::SectionReader reader(aws::section_rules(), aws::section_schema(aws::Model()));
    const auto expansion = reader.expand({WorkerPoolId("worker-manager/build"),
                                          {{facts.begin(), facts.end()}},
                                          evaluated(made, facts)});
    EXPECT_TRUE(expansion) << expansion.error().message << "\n" << made.text;
    for (const auto& launch :
         expansion ? expansion->launch_documents : std::vector<LaunchDocument>()) {
      const json::object& section = launch.document.at("aws").as_object();
      if (section.at("instanceType") != json::value(type) ||
          section.at("market") != json::value(market))
        continue;
      json::object parameters = section.at("launch").as_object();
      parameters["InstanceType"] = type;
      if (!parameters.contains("Placement")) parameters["Placement"] = json::object();
      parameters["Placement"].as_object()["AvailabilityZone"] = zone;
      if (market == "spot")
        parameters["InstanceMarketOptions"] = object(R"({"MarketType": "spot"})");
      return parameters;
    }
    return {};
  }
};

const std::string disk =
    R"("BlockDeviceMappings": [{"DeviceName": "/dev/sda1", "Ebs": {"VolumeSize": 80}}])";

TEST_F(AwsImport, every_launch_configuration_comes_to_what_taskcluster_sends) {
  struct Given {
    const char *zone, *type, *market, *members;
  };
  const Given given[] = {
      {"us-east-1a", "m5.large", "spot",
       R"("ImageId": "ami-1", "SubnetId": "subnet-1a", "SecurityGroupIds": ["sg-1"])"},
      {"us-east-1a", "c5.large", "spot",
       R"("ImageId": "ami-1", "SubnetId": "subnet-1a", "SecurityGroupIds": ["sg-1"], "EbsOptimized": true)"},
      {"us-east-1b", "m5.large", "spot",
       R"("ImageId": "ami-1", "SubnetId": "subnet-1b", "SecurityGroupIds": ["sg-1"])"},
      {"us-east-1b", "c5.large", "spot",
       R"("ImageId": "ami-1", "SubnetId": "subnet-1b", "SecurityGroupIds": ["sg-1"], "EbsOptimized": true)"},
      {"us-west-2a", "m5.large", "spot",
       R"("ImageId": "ami-2", "SubnetId": "subnet-2a", "SecurityGroupIds": ["sg-2"])"},
      {"us-west-2a", "m5.large", "onDemand",
       R"("ImageId": "ami-2", "SubnetId": "subnet-2a", "SecurityGroupIds": ["sg-2"])"},
      {"us-west-2b", "m5.large", "spot",
       R"("ImageId": "ami-3", "SubnetId": "subnet-2b", "SecurityGroupIds": ["sg-2"])"},
      {"eu-west-1a", "m5.large", "onDemand", R"("ImageId": "ami-4")"},
  };
  std::string all;
  std::vector<json::object> expected;
  for (const Given& each : given) {
    const std::string members =
        std::string(each.members) + ", " + disk + R"(, "InstanceType": ")" + each.type + "\"" +
        (each.market == std::string("spot") ? R"(, "InstanceMarketOptions": {"MarketType": "spot"})"
                                            : "");
    const std::string one = machine(each.zone, members, R"(, "workerConfig": {"a": {"b": 1}})");
    all += (all.empty() ? "" : ", ") + one;
    expected.push_back(object(one).at("launchConfig").as_object());
  }
  const Converted made = converted(all);
  EXPECT_EQ(losses(), "");
  EXPECT_EQ(report.carried, std::size(given));
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(launched(made, given[i].zone, given[i].type, given[i].market), expected[i])
        << i << "\n"
        << made.text;
  // Nothing is launched where Taskcluster launches nothing.
  EXPECT_EQ(launched(made, "us-east-1c", "m5.large", "spot"), json::object());
  EXPECT_EQ(launched(made, "us-west-2c", "m5.large", "spot"), json::object());
  EXPECT_EQ(launched(made, "eu-west-1b", "m5.large", "onDemand"), json::object());
  EXPECT_EQ(launched(made, "us-west-2b", "m5.large", "onDemand"), json::object());
}

TEST_F(AwsImport, what_all_have_in_common_is_said_once) {
  const Converted made = converted(
      machine("us-east-1a",
              R"("ImageId": "ami-1", "InstanceType": "m5.large", "SubnetId": "s-1", )" + disk) +
      ", " +
      machine("us-east-1b",
              R"("ImageId": "ami-1", "InstanceType": "m5.large", "SubnetId": "s-2", )" + disk) +
      ", " +
      machine("eu-west-1a",
              R"("ImageId": "ami-2", "InstanceType": "m5.large", "SubnetId": "s-3", )" + disk));
  EXPECT_EQ(losses(), "");
  const auto count = [&](std::string_view word) {
    std::size_t found = 0;
    for (auto at = made.text.find(word); at != made.text.npos; at = made.text.find(word, at + 1))
      ++found;
    return found;
  };
  EXPECT_EQ(count("BlockDeviceMappings"), 1u) << made.text;
  EXPECT_EQ(count("ami-1"), 1u) << made.text;
  EXPECT_EQ(count("[[rules]]"), 4u) << made.text;
  EXPECT_THAT(made.text, HasSubstr("zones = { us-east-1a = \"s-1\", us-east-1b = \"s-2\" }"));
}

TEST_F(AwsImport, what_muster_cannot_say_is_reported_and_the_rest_is_carried) {
  converted(
      machine(
          "us-east-1a",
          R"("ImageId": "ami-1", "InstanceType": "m5.large", "UserData": "x", "PrivateIpAddress": "10.0.0.1")",
          R"(, "workerManager": {"launchConfigId": "one", "initialWeight": 1})") +
      ", " +
      machine("us-east-1a", R"("ImageId": "ami-9", "InstanceType": "m5.large")",
              R"(, "workerManager": {"launchConfigId": "two"})") +
      ", " +
      machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "c5.large")",
              R"(, "workerManager": {"launchConfigId": "three", "initialWeight": 0.5})") +
      ", " +
      machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "r5.large")",
              R"(, "workerConfig": {"other": true})") +
      ", " + machine("us-east-1a", R"("ImageId": "ami-1")") + ", " +
      machine(
          "us-east-1a",
          R"("ImageId": "ami-1", "InstanceType": "p5.large", "InstanceMarketOptions": {"MarketType": "capacity-block"})") +
      ", " +
      R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large"}})");
  EXPECT_EQ(report.carried, 2u);
  EXPECT_EQ(report.launch_configs, 7u);
  EXPECT_THAT(losses(), HasSubstr("(one)|launchConfig.UserData|"));
  EXPECT_THAT(losses(), HasSubstr("(one)|launchConfig.PrivateIpAddress|"));
  EXPECT_THAT(losses(),
              HasSubstr("(two)||it differs from launch configuration 1 (one) in ImageId"));
  EXPECT_THAT(losses(), HasSubstr("(three)|workerManager.initialWeight|"));
  EXPECT_THAT(losses(), HasSubstr("launch configuration 4||it differs from launch configuration 1 "
                                  "(one) in workerConfig.other"));
  EXPECT_THAT(losses(), HasSubstr("launch configuration 5||launchConfig.InstanceType is missing"));
  EXPECT_THAT(
      losses(),
      HasSubstr("launch configuration 6||muster buys no machines of the market capacity-block"));
  EXPECT_THAT(losses(), HasSubstr("launch configuration 7||it names no zone"));
}

TEST_F(AwsImport, types_that_are_not_bought_in_the_same_markets_are_reported) {
  const std::string spot =
      R"(, "InstanceMarketOptions": {"MarketType": "spot", "SpotOptions": {"MaxPrice": "0.2"}})";
  const Converted made =
      converted(machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "m5.large")" + spot) +
                ", " + machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "c5.large")"));
  EXPECT_EQ(report.carried, 1u);
  EXPECT_THAT(losses(),
              HasSubstr("launch configuration 2||in us-east-1a the type c5.large is not bought"));
  EXPECT_THAT(made.text, HasSubstr("maxPrice = 0.2"));
  // A price of spot machines must not keep the host from buying the others.
  converted(machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "m5.large")" + spot) +
            ", " + machine("us-east-1a", R"("ImageId": "ami-1", "InstanceType": "m5.large")"));
  EXPECT_EQ(report.carried, 2u);
  EXPECT_THAT(losses(), HasSubstr("launch configuration 1|maxPrice|"));
}

TEST_F(AwsImport, a_subnet_whose_zone_is_unknown_is_for_a_person_to_decide) {
  const std::string first =
      R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large", "SubnetId": "s-1"}})";
  const std::string second =
      R"({"region": "us-east-1", "launchConfig": {"ImageId": "ami-1", "InstanceType": "m5.large", "SubnetId": "s-2"}})";
  converted(first + ", " + second);
  EXPECT_EQ(report.carried, 1u);
  EXPECT_THAT(losses(), HasSubstr("--subnet-zone"));
  EXPECT_THAT(report.decisions.front(), HasSubstr("--subnet-zone s-1=ZONE"));
  options.knowledge.zone_of_subnet = {{"s-1", "us-east-1a"}, {"s-2", "us-east-1b"}};
  const Converted made = converted(first + ", " + second);
  EXPECT_EQ(losses(), "");
  EXPECT_EQ(report.carried, 2u);
  EXPECT_EQ(launched(made, "us-east-1b", "m5.large", "onDemand").at("SubnetId"),
            json::value("s-2"));
}

TEST_F(AwsImport, tags_and_user_data_are_carried) {
  const Converted made = converted(machine(
      "us-east-1a",
      R"("ImageId": "ami-1", "InstanceType": "m5.large", "TagSpecifications": [{"ResourceType": "instance",
         "Tags": [{"Key": "team", "Value": "build"}, {"Key": "aws:x", "Value": "y"}]}])",
      R"(, "additionalUserData": {"proxy": "http://proxy"}, "capacityPerInstance": 3)"));
  const json::object document =
      evaluated(made, {{"region", "us-east-1"}, {"availabilityZone", "us-east-1a"}});
  const json::object& section = document.at("aws").as_object();
  EXPECT_EQ(section.at("tags"), json::value(object(R"({"team": "build"})")));
  EXPECT_EQ(section.at("userData"), json::value(object(R"({"proxy": "http://proxy"})")));
  EXPECT_EQ(section.at("instanceTypes").at(0).at("capacity"), json::value(3));
  EXPECT_THAT(losses(), HasSubstr("|launchConfig.TagSpecifications|"));
}

}  // namespace
}  // namespace muster::importing
