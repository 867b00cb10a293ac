#include "tests/unit/plugins/provider/aws/fixture.hpp"

namespace muster::aws {
namespace {

TEST(AwsSettings, wrong_values_are_refused_with_the_key_and_what_to_do) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"({})", "regions"},
      {R"({"regions": []})", "regions"},
      {R"({"regions": "everywhere"})", "regions"},
      {R"({"regions": ["us-east-1a"]})", "availabilityZone"},
      {R"({"regions": ["nowhere"]})", "us-east-1"},
      {R"({"regions": ["us-east-1", "us-east-1"]})", "twice"},
      {R"({"regions": ["us-east-1"], "homeRegion": "x"})", "homeRegion"},
      {R"({"regions": ["us-east-1"], "region": "x"})", "regions"},
      {R"({"regions": ["us-east-1"], "priceTable": {"m5": 1}})", "us-east-1/m5.large"},
      {R"({"regions": ["us-east-1"], "priceTable": {"m5.large": -1}})", "priceTable"},
      {R"({"regions": ["us-east-1"], "priceSource": "guess"})", "priceSource"},
      {R"({"regions": ["us-east-1"], "accountId": "123"})", "accountId"},
      {R"({"regions": ["us-east-1"], "launchLimits": {"perCall": 0}})", "perCall"},
      {R"({"regions": ["us-east-1"], "identityKeysOnly": true})", "identityKeys"},
      {R"({"regions": ["us-east-1"], "identityKeys": [{"regions": ["*"]}]})", "identityKeys[0]"},
      {R"({"regions": ["us-east-1"], "identityKeys": [{"regions": ["*"], "certificate": "x"}]})",
       "PEM"},
      {R"({"regions": ["us-east-1"], "identityKeys": [{"regions": ["*"], "certificateFile":
          "/nowhere/x.pem"}]})",
       "/nowhere/x.pem"},
      {R"({"regions": ["us-east-1"], "interruptionQueues": {"eu-west-1": "https://x"}})",
       "eu-west-1"},
      {R"({"regions": ["us-east-1"], "interruptionQueues": {"us-east-1": "queue"}})", "https://"}};
  for (const auto& [config, word] : wrong) {
    const auto read = read_settings(object(config));
    ASSERT_FALSE(read) << config;
    EXPECT_EQ(read.error().error_class, ErrorClass::invalid) << config;
    EXPECT_NE(read.error().message.find(word), std::string::npos)
        << config << ": " << read.error().message;
  }
}

TEST(AwsSettings, a_whole_configuration_is_read) {
  const auto read = read_settings(object(R"({
      "regions": "all", "priceSource": "table", "priceTable": {"us-east-1/spot/m5.large": 0.03},
      "accountId": "123456789012", "launchLimits": {"perCall": 20},
      "interruptionQueues": {"eu-west-1": "https://sqs.eu-west-1.amazonaws.com/1/q"}})"));
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_TRUE(read->regions.empty());
  EXPECT_EQ(read->home_region, "us-east-1");
  EXPECT_TRUE(read->uses("ap-south-1"));
  EXPECT_FALSE(read->spot_history);
  EXPECT_EQ(read->launches_per_call, 20u);
  EXPECT_EQ(read->account_id, "123456789012");
}

TEST(AwsSettings, the_example_fits_its_schema_and_each_key_is_described) {
  const json::object whole = config_schema();
  const auto schema = json::Schema::compile(whole);
  ASSERT_TRUE(schema) << schema.error().message;
  EXPECT_TRUE(schema->validate(example_config()).empty());
  for (const auto& [key, property] : whole.at("properties").as_object())
    EXPECT_FALSE(text_of(property.as_object(), "description").empty()) << std::string(key);
}

}  // namespace
}  // namespace muster::aws
