#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

class AwsSection : public AwsTest {
 protected:
  Result<Expansion> expand(std::string_view section, const char* zone = "us-east-1a",
                           const char* more = "{}") {
    json::object document = object(more);
    document["aws"] = json::parse(section).value();
    return provider().expand({WorkerPoolId("worker-manager/build"),
                              {{{"region", "us-east-1"}, {"availabilityZone", zone}}},
                              document},
                             context);
  }
  void expect_refused(std::string_view section, std::string_view word) {
    const auto expansion = expand(section);
    ASSERT_FALSE(expansion) << section;
    EXPECT_EQ(expansion.error().error_class, ErrorClass::invalid);
    EXPECT_NE(expansion.error().message.find(word), std::string::npos)
        << section << ": " << expansion.error().message;
  }
};

TEST_F(AwsSection, mistakes_are_found_by_awss_own_model) {
  expect_refused(R"({"launch": {"ImageID": "ami-1"}})", "ImageId");
  expect_refused(R"({"launch": {"ImageId": 7}})", "aws.launch.ImageId");
  expect_refused(R"({"launch": {"SecurityGroupIds": "sg-1"}})", "aws.launch.SecurityGroupIds");
  expect_refused(R"({"launch": {"BlockDeviceMappings": [{"Ebs": {"VolumeSize": "8"}}]}})",
                 "VolumeSize");
  expect_refused(R"({"launch": {"BlockDeviceMappings": [{"Ebs": {"VolumeType": "gp9"}}]}})",
                 "VolumeType");
  expect_refused(R"({"launch": {"MetadataOptions": {"HttpTokens": "maybe"}}})", "HttpTokens");
  expect_refused(R"({"lunch": {}})", "launch");
}

TEST_F(AwsSection, what_muster_sets_itself_is_refused_and_says_what_to_write_instead) {
  const std::pair<const char*, const char*> set[] = {
      {R"("MinCount": 1)", "MinCount"},
      {R"("MaxCount": 5)", "MaxCount"},
      {R"("ClientToken": "x")", "ClientToken"},
      {R"("DryRun": true)", "DryRun"},
      {R"("UserData": "x")", "aws.userData"},
      {R"("InstanceType": "m5.large")", "aws.instanceTypes"},
      {R"("InstanceMarketOptions": {"MarketType": "spot"})", "aws.market"},
      {R"("TagSpecifications": [])", "aws.tags"},
      {R"("Placement": {"AvailabilityZone": "us-east-1a"})", "availabilityZone"}};
  for (const auto& [member, word] : set)
    expect_refused(R"({"launch": {"ImageId": "ami-1", )" + std::string(member) +
                       R"(}, "instanceTypes": [{"type": "m5.large"}]})",
                   word);
}

TEST_F(AwsSection, wrong_types_markets_tags_and_networks_are_refused) {
  expect_refused(R"({"launch": {"ImageId": "ami-1"}})", "aws.instanceTypes");
  expect_refused(R"({"launch": {"ImageId": "ami-1"}, "instanceTypes": []})", "instanceTypes");
  expect_refused(R"({"instanceTypes": [{"type": "large"}]})", "instanceTypes");
  expect_refused(R"({"instanceTypes": [{"type": "m5.large", "capacity": 0}]})", "capacity");
  expect_refused(R"({"launch": {"ImageId": "a"}, "instanceTypes": [{"type": "m5.large"},
      {"type": "m5.large"}]})",
                 "twice");
  expect_refused(R"({"market": ["reserved"]})", "market");
  expect_refused(R"({"maxPrice": -1})", "maxPrice");
  expect_refused(R"({"tags": {"muster-host": "x"}})", "muster-host");
  expect_refused(R"({"tags": {"aws:x": "x"}})", "aws:x");
  expect_refused(R"({"tags": {"ok": 1}})", "tags");
  expect_refused(R"({"launch": {"ImageId": "a", "SubnetId": "subnet-1", "NetworkInterfaces": [{}]},
      "instanceTypes": [{"type": "m5.large"}]})",
                 "NetworkInterfaces");
  expect_refused(R"({"launch": {"ImageId": "a", "SubnetId": "subnet-1"}, "zones": {"us-east-1a":
      "subnet-2"}, "instanceTypes": [{"type": "m5.large"}]})",
                 "aws.zones");
}

TEST_F(AwsSection, tags_may_begin_like_the_reserved_ones) {
  const auto expansion = expand(
      R"({"tags": {"a": "1", "aw": "1", "awsome": "1", "m": "1", "muster": "1", "musterd": "1"}})");
  EXPECT_TRUE(expansion) << expansion.error().message;
}

TEST_F(AwsSection, user_data_that_cannot_work_is_refused) {
  const std::string base = R"("launch": {"ImageId": "a"}, "instanceTypes": [{"type": "m5.large"}])";
  expect_refused("{" + base + R"(, "userData": "no field"})", "{{registration}}");
  expect_refused("{" + base + R"(, "userData": "{{registration}} {{secret}}"})", "secret");
  expect_refused("{" + base + R"(, "userData": "{{registration"})", "}}");
  expect_refused("{" + base + R"(, "userData": {"rootUrl": "x"}})", "rootUrl");
  expect_refused("{" + base + R"(, "userData": {"large": ")" + std::string(17000, 'x') + R"("}})",
                 "16384");
}

TEST_F(AwsSection, each_type_and_market_is_a_launch_document) {
  const auto expansion = expand(R"({
      "launch": {"ImageId": "ami-1", "BlockDeviceMappings": [], "MetadataOptions":
          {"HttpPutResponseHopLimit": 2}},
      "instanceTypes": [{"type": "m5.large", "capacity": 2},
                        {"type": "c5.large", "maxPrice": 0.2,
                         "launch": {"ImageId": "ami-2", "MetadataOptions": {"HttpTokens": "optional"}}}],
      "market": ["spot", "onDemand"], "maxPrice": 0.1})",
                                "us-east-1a", R"({"workerManager": {"capacityPerInstance": 4},
                                                  "workerConfig": {"x": 1}})");
  ASSERT_TRUE(expansion) << expansion.error().message;
  ASSERT_EQ(expansion->launch_documents.size(), 4u);
  const auto& documents = expansion->launch_documents;
  EXPECT_EQ(documents[0].instance_type, "m5.large/spot");
  EXPECT_EQ(documents[0].capacity_per_instance, 2);
  EXPECT_EQ(documents[1].instance_type, "m5.large");
  EXPECT_EQ(documents[3].capacity_per_instance, 4);
  EXPECT_EQ(json::canonical(documents[2].document), json::canonical(object(R"({
      "aws": {"launch": {"ImageId": "ami-2", "BlockDeviceMappings": [],
                         "MetadataOptions": {"HttpPutResponseHopLimit": 2, "HttpTokens": "optional"}},
              "instanceType": "c5.large", "market": "spot", "maxPrice": 0.2},
      "workerManager": {"capacityPerInstance": 4}, "workerConfig": {"x": 1}})")));
}

TEST_F(AwsSection, nothing_is_launched_where_there_is_no_image_or_no_subnet) {
  EXPECT_TRUE(expand(R"({"instanceTypes": [{"type": "m5.large"}]})")->launch_documents.empty());
  const char* zones = R"({"launch": {"ImageId": "a"}, "instanceTypes": [{"type": "m5.large"}],
                          "zones": {"us-east-1a": "subnet-1"}})";
  EXPECT_TRUE(expand(zones, "us-east-1b")->launch_documents.empty());
  const auto in_zone = expand(zones);
  ASSERT_EQ(in_zone->launch_documents.size(), 1u);
  EXPECT_EQ(in_zone->launch_documents[0].document.at("aws").at("launch").at("SubnetId").as_string(),
            "subnet-1");
}

TEST_F(AwsSection, a_launch_template_is_as_good_as_an_image) {
  EXPECT_EQ(expand(R"({"launch": {"LaunchTemplate": {"LaunchTemplateId": "lt-1"}},
                       "instanceTypes": [{"type": "m5.large"}]})")
                ->launch_documents.size(),
            1u);
}

TEST_F(AwsSection, the_schema_is_of_moderate_size_and_fits_its_example) {
  const json::object whole = section_schema(Model());
  EXPECT_LT(json::write(whole).size(), 60'000u);
  const auto schema = json::Schema::compile(whole);
  ASSERT_TRUE(schema) << schema.error().message;
  EXPECT_TRUE(schema->validate(example_section()).empty());
}

}  // namespace
}  // namespace muster::aws
