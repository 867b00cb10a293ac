#include "host/pools/api_pool.hpp"

#include <gmock/gmock.h>

#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {
namespace {

using ::testing::HasSubstr;

const WorkerPoolId pool_id("proj/api");
const std::string limits = R"({"minCapacity": 0, "maxCapacity": 5, )";

Result<fleet::PoolSpec> pool(Fixture& fixture, std::string_view config,
                             std::string_view provider = "sim") {
  json::object document = {{"providerId", provider},
                           {"description", "d"},
                           {"owner", "o@example.com"},
                           {"emailOnError", true},
                           {"config", json::parse(config).value()}};
  return pool_from_api(pool_id, document, fixture.provider_context, fixture.expand());
}

TEST(ApiPool, what_is_wrong_is_told_all_at_once) {
  Fixture fixture;
  const auto result = pool(fixture, R"({"minCapacity": -1, "maxCapacity": 1.5, "scalingRatio": 2,
    "lifecycle": {"registrationTimeout": 0}, "launchConfigs": [
      {"region": "eu-2"}, 5, {},
      {"region": "eu-1", "workerManager": {"capacityPerInstance": 0, "wieght": 1}},
      {"region": "eu-1", "image": 5}, {"region": "eu-1", "instanceTypes": ["tiny"]}]})");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::invalid);
  const std::string& message = result.error().message;
  for (const char* says :
       {"config.minCapacity", "config.maxCapacity", "config.scalingRatio",
        "config.lifecycle.registrationTimeout",
        "launchConfigs[0]: the provider has no place region=eu-2; did you mean eu-1?",
        "launchConfigs[1] must be an object", "launchConfigs[2]: names no place",
        "launchConfigs[3].workerManager.capacityPerInstance",
        "launchConfigs[3].workerManager.wieght", "launchConfigs[4].simulated.image",
        "launchConfigs[5]: simulated.instanceTypes[0]"})
    EXPECT_THAT(message, HasSubstr(says));
}

TEST(ApiPool, a_pool_that_launches_says_how_much_and_nothing_that_nobody_reads) {
  Fixture fixture;
  const auto wrong = [&](std::string_view config) {
    const auto result = pool(fixture, config);
    EXPECT_FALSE(result) << config;
    return result ? "" : result.error().message;
  };
  EXPECT_THAT(wrong("{}"), HasSubstr("config.minCapacity: is missing"));
  EXPECT_THAT(wrong(R"({"minCapacity": 1})"), HasSubstr("config.maxCapacity: is missing"));
  EXPECT_THAT(wrong(R"({"minCapacity": 1, "maxCapcity": 1})"),
              HasSubstr("config.maxCapcity: is not known; did you mean maxCapacity?"));
  for (const char* number : {"-1", "1.5", "1e300", "9000000000000000000", "null", "\"7\"", "[]"})
    EXPECT_THAT(wrong(R"({"minCapacity": 0, "maxCapacity": )" + std::string(number) + "}"),
                HasSubstr("config.maxCapacity: must be a whole number"));
  EXPECT_THAT(wrong(R"({"minCapacity": 0, "maxCapacity": 1,
                        "lifecycle": {"queueInactivityTimeout": 1199}})"),
              HasSubstr("queueInactivityTimeout must be >= 1200"));
  const auto fine = pool(fixture, R"({"minCapacity": 0, "maxCapacity": 5.0,
                                      "lifecycle": {"queueInactivityTimeout": 1200}})");
  ASSERT_TRUE(fine) << fine.error().message;
  EXPECT_EQ(fine->settings.max_capacity, 5);
}

TEST(ApiPool, an_answer_names_twenty_mistakes_however_many_there_are) {
  Fixture fixture;
  std::string config = R"({"minCapacity": 0, "maxCapacity": 1)";
  for (int i = 0; i < 5000; ++i) config += ", \"k" + std::to_string(i) + "\": 1";
  const auto result = pool(fixture, config + "}");
  ASSERT_FALSE(result);
  EXPECT_EQ(std::ranges::count(result.error().message, '\n'), 19);
}

TEST(ApiPool, a_provider_that_is_unknown_or_in_trouble_is_told_apart) {
  Fixture fixture;
  auto result = pool(fixture, "{}", "nobody");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::not_found);
  EXPECT_EQ(result.error().code, "providerId");
  fixture.failure = Error::transient("later");
  result = pool(fixture, R"({"minCapacity": 0, "maxCapacity": 1,
                            "launchConfigs": [{"region": "eu-1"}]})");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().error_class, ErrorClass::transient);
  fixture.provider().unavailable = Error::transient("not yet");
  EXPECT_EQ(pool(fixture, "{}").error().message, "not yet");
}

TEST(ApiPool, a_document_has_so_many_launch_configurations) {
  Fixture fixture;
  std::string list = R"({"region": "eu-1"})";
  for (int i = 0; i < 1'000; ++i) list += R"(, {"region": "eu-1"})";
  const auto result = pool(fixture, R"({"launchConfigs": [)" + list + "]}");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("has 1001 entries; at most 1000 are possible"));
  EXPECT_EQ(fixture.calls, 0);
}

TEST(ApiPool, the_same_launch_configuration_twice_is_refused) {
  Fixture fixture;
  const char* one = R"({"zone": "eu-1a", "instanceTypes": ["small"]})";
  const auto result =
      pool(fixture, std::string(limits + R"("launchConfigs": [)") + one + "," + one + "]}");
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "duplicateLaunchConfigId");
  EXPECT_THAT(result.error().message, HasSubstr("already exists: the same one is there twice"));
}

TEST(ApiPool, an_id_of_its_own_is_honoured_but_only_for_one) {
  Fixture fixture;
  auto result = pool(fixture, limits + R"("launchConfigs": [
    {"zone": "eu-1a", "instanceTypes": ["small"], "workerManager": {"launchConfigId": "mine"}}]})");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->launch_configs.at(0)->launch_config.launch_config_id.str(), "mine");
  result = pool(fixture, limits + R"("launchConfigs": [
    {"zone": "eu-1a", "workerManager": {"launchConfigId": "mine"}}]})");
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("comes to 2 launch configurations"));
}

TEST(ApiPool, every_setting_arrives) {
  Fixture fixture;
  const auto result = pool(fixture, R"({"minCapacity": 1, "maxCapacity": 5, "scalingRatio": 0.5,
    "lifecycle": {"registrationTimeout": 120, "queueInactivityTimeout": 1200}, "launchConfigs": [
      {"region": "eu-1", "zone": "eu-1b", "capacityPerInstance": 2, "instanceTypes": ["large"],
       "workerConfig": {"x": 1}, "workerManager": {"initialWeight": 0.5, "maxCapacity": 3}},
      {"location": "us-1", "instanceTypes": ["small"]}]})");
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->worker_pool_id, pool_id);
  EXPECT_EQ(result->origin, "");
  EXPECT_EQ(result->strategy, "estimator");
  EXPECT_TRUE(result->email_on_error);
  EXPECT_EQ(result->settings.min_capacity, 1);
  EXPECT_EQ(result->settings.scaling_ratio, 0.5);
  EXPECT_EQ(result->lifecycle.registration_timeout, std::chrono::seconds(120));
  ASSERT_EQ(result->launch_configs.size(), 2u);
  const auto& first = *result->launch_configs[0];
  EXPECT_EQ(first.launch_config.placement.facts.at("availabilityZone"), "eu-1b");
  EXPECT_EQ(first.launch_config.capacity_per_instance, 2);
  EXPECT_EQ(first.max_capacity, 3);
  EXPECT_EQ(first.initial_weight, 0.5);
  EXPECT_EQ(json::write(first.worker_config), R"({"x":1})");
  EXPECT_EQ(result->launch_configs[1]->launch_config.placement.facts.at("region"), "us-1");
}

TEST(ApiPool, the_null_provider_launches_nothing) {
  Fixture fixture;
  const auto result = pool(fixture, R"({"launchConfigs": []})", "null-provider");
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->providers.empty());
  EXPECT_TRUE(result->launch_configs.empty());
}

}  // namespace
}  // namespace muster::pools
