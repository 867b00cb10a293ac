// A configuration that does not say everything: of providers that could not be asked, and of files
// that nobody can judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using testing::HasSubstr;

LaunchSketch image_sketch(const std::string& id, const std::string& image) {
  return {.id = id, .document = {{"image", image}}};
}

PoolSketch sketch_of(std::vector<LaunchSketch> launch_configs) {
  return {.id = "p/w", .launch_configs = std::move(launch_configs)};
}

TEST(PartialConfiguration, leave_what_is_of_a_provider_that_could_not_be_asked) {
  FleetDriver driver = simple_fleet(sketch_of({image_sketch("lc-1", "one")}));
  PoolSpec spec = *make_spec(sketch_of({}));
  spec.providers = {ProviderId("cloud")};
  spec.unasked_providers = {ProviderId("cloud")};
  spec.settings.max_capacity = 7;
  Configuration next;
  next.pools[WorkerPoolId("p/w")] = std::make_shared<const PoolSpec>(spec);
  driver.fleet().configure(std::make_shared<const Configuration>(next), driver.now());
  driver.settle();
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
  EXPECT_EQ(driver.pool("p/w").spec->settings.max_capacity, 7);
  driver.configure({sketch_of({image_sketch("lc-2", "two")})});  // it answers again
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::archived);
}

TEST(PartialConfiguration, leave_pools_alone_whose_file_nobody_can_judge) {
  FleetDriver driver = simple_fleet(sketch_of({image_sketch("lc-1", "one")}));
  Configuration next;
  next.untouched_origins = {"builds.toml"};
  driver.fleet().configure(std::make_shared<const Configuration>(next), driver.now());
  driver.settle();
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::active);
  next.untouched_origins = {"others.toml"};
  driver.fleet().configure(std::make_shared<const Configuration>(next), driver.now());
  driver.settle();
  EXPECT_EQ(driver.launch_config("lc-1")->status, LaunchConfigStatus::archived);
}

TEST(PartialConfiguration, tell_a_new_pool_which_of_its_providers_does_not_run) {
  FleetDriver driver = simple_fleet();
  driver.fleet().provider_down(ProviderId("dark"), "its configuration is wrong", driver.now());
  PoolSpec spec = *make_spec({.id = "p/new", .launch_configs = {}, .min_capacity = 1});
  spec.providers = {ProviderId("dark")};
  spec.unasked_providers = spec.providers;
  Configuration next;
  next.pools[WorkerPoolId("p/new")] = std::make_shared<const PoolSpec>(spec);
  driver.fleet().configure(std::make_shared<const Configuration>(next), driver.now());
  driver.settle();
  const auto errors = driver.errors();
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_EQ(errors[0].kind, "provider-error");
  EXPECT_EQ(errors[0].description, "its configuration is wrong");
  EXPECT_THAT(driver.pool("p/new").verdict.text,
              HasSubstr("provider dark is not available: its configuration is wrong"));
}

}  // namespace
}  // namespace muster::fleet
