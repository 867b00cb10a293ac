#include "cli/simulate/clouds.hpp"

#include <gmock/gmock.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const ProviderId ec2("ec2");
const WorkerPoolId pool("worker-manager/build");
const Placement zone_a{{{"region", "us-1"}, {"availabilityZone", "us-1a"}}};

GivenProvider aws() {
  return {ec2, "aws", {}, {zone_a, {{{"region", "us-1"}, {"zone", "b"}}}}, {}, {}};
}

TEST(Clouds, what_is_assumed_wrongly_is_told_before_anything_is_expanded) {
  Clouds clouds;
  CloudAssumptions assumed;
  assumed.trouble = {{"failures", json::array{json::object{{"class", "bad luck"}}}}};
  const auto added = clouds.add(aws(), assumed, 1);
  ASSERT_FALSE(added);
  EXPECT_THAT(added.error().message, HasSubstr("failures[0].class"));
}

TEST(Clouds, a_simulated_provider_with_a_bad_configuration_is_refused) {
  Clouds clouds;
  EXPECT_FALSE(
      clouds.add({ProviderId("s"), "simulated", {}, {}, {{"regions", json::array()}}, {}}, {}, 1));
}

TEST(Clouds, what_does_not_look_like_instance_types_is_left_alone) {
  EXPECT_THAT(instance_types_in({}).names, IsEmpty());
  EXPECT_THAT(instance_types_in({{"image", "x"}, {"types", json::array{"a"}}}).names, IsEmpty());
  EXPECT_THAT(instance_types_in({{"instanceTypes", json::array{}}}).names, IsEmpty());
  EXPECT_THAT(instance_types_in({{"instanceTypes", json::array{1, 2}}}).names, IsEmpty());
  EXPECT_THAT(instance_types_in({{"machineType", 7}}).names, IsEmpty());
}

TEST(Clouds, instance_types_are_recognised_by_their_key) {
  EXPECT_THAT(instance_types_in({{"instanceTypes", json::array{"a", "b"}}}).names,
              ElementsAre("a", "b"));
  EXPECT_THAT(instance_types_in({{"InstanceType", "a"}}).names, ElementsAre("a"));
  EXPECT_THAT(instance_types_in({{"machine_type", "n2"}}).names, ElementsAre("n2"));
  EXPECT_THAT(instance_types_in({{"vmSizes", json::array{json::object{{"name", "D2"}}}}}).names,
              ElementsAre("D2"));
  EXPECT_THAT(instance_types_in({{"instanceType", "z"}, {"instanceTypes", json::array{"a"}}}).names,
              ElementsAre("a"));
}

TEST(Clouds, places_have_a_region_and_a_zone_whatever_their_facts) {
  EXPECT_EQ(place_of(ec2, zone_a), std::pair(std::string("us-1"), std::string("us-1a")));
  EXPECT_EQ(place_of(ec2, {{{"region", "us-1"}, {"zone", "b"}}}),
            std::pair(std::string("us-1"), std::string("us-1/b")));
  EXPECT_EQ(place_of(ec2, {{{"region", "dc"}}}), std::pair(std::string("dc"), std::string("dc")));
  EXPECT_EQ(place_of(ec2, {}), std::pair(std::string("ec2"), std::string("ec2")));
}

TEST(Clouds, a_stand_in_makes_one_launch_document_of_each_instance_type) {
  Clouds clouds;
  CloudAssumptions assumed;
  assumed.price_per_hour = 0.5;
  assumed.instance_types["large"].price_per_hour = 2;
  ASSERT_TRUE(clouds.add(aws(), assumed, 1));
  const auto expansion = clouds.expand(
      ec2,
      {pool,
       zone_a,
       {{"aws", json::object{{"instanceTypes", json::array{"small", "large"}}, {"image", "i"}}}}});
  ASSERT_TRUE(expansion);
  ASSERT_EQ(expansion->launch_documents.size(), 2u);
  EXPECT_EQ(expansion->launch_documents[1].instance_type, "large");
  EXPECT_EQ(json::write(expansion->launch_documents[1].document),
            R"({"aws":{"instanceTypes":["large"],"image":"i"}})");
  const auto scenarios = clouds.scenarios();
  ASSERT_TRUE(scenarios);
  const simulated::Settings& cloud = scenarios->front().cloud;
  EXPECT_EQ(cloud.find_type("small")->price_per_hour, 0.5);
  EXPECT_EQ(cloud.find_type("large")->price_per_hour, 2);
  EXPECT_TRUE(cloud.has_zone("us-1", "us-1a"));
  EXPECT_TRUE(cloud.has_zone("us-1", "us-1/b"));
  EXPECT_FALSE(scenarios->front().has_notices);
}

TEST(Clouds, launch_configurations_of_stand_ins_are_told_as_the_simulated_cloud_reads_them) {
  Clouds clouds;
  ASSERT_TRUE(clouds.add(aws(), {}, 1));
  fleet::LaunchConfigSpec spec;
  spec.provider_id = ec2;
  spec.launch_config = {LaunchConfigId("lc-1"),    pool, zone_a,
                        {{"aws", json::object()}}, 3,    "small"};
  fleet::PoolSpec made;
  made.worker_pool_id = pool;
  made.launch_configs = {std::make_shared<const fleet::LaunchConfigSpec>(spec)};
  fleet::Configuration configuration;
  configuration.pools[pool] = std::make_shared<const fleet::PoolSpec>(made);
  const auto adapted = clouds.adapt(configuration);
  const LaunchConfig& launch_config = adapted->pools.at(pool)->launch_configs[0]->launch_config;
  EXPECT_EQ(launch_config.launch_config_id.str(), "lc-1");
  EXPECT_EQ(launch_config.capacity_per_instance, 3);
  EXPECT_EQ(launch_config.placement.facts.at("availabilityZone"), "us-1a");
  EXPECT_EQ(json::write(launch_config.document), R"({"simulated":{"instanceType":"small"}})");
}

TEST(Clouds, a_simulated_provider_keeps_its_configuration) {
  Clouds clouds;
  const ProviderId sim("sim");
  ASSERT_TRUE(clouds.add(
      {sim, "simulated", {}, {}, {{"seed", 9}, {"stateFile", "/x"}, {"shutdownSeconds", 3}}, {}},
      {}, 1));
  const auto scenarios = clouds.scenarios();
  EXPECT_EQ(scenarios->front().cloud.seed, 9u);
  EXPECT_EQ(scenarios->front().cloud.shutdown_seconds, 3);
  EXPECT_EQ(scenarios->front().cloud.state_file, "");
  EXPECT_EQ(clouds.facts().at(sim).placements.size(), 3u);
  const auto refused = clouds.expand(
      sim, {pool, zone_a, {{"simulated", json::object{{"instanceTypes", json::array{"huge"}}}}}});
  EXPECT_FALSE(refused);
}

}  // namespace
}  // namespace muster::cli
