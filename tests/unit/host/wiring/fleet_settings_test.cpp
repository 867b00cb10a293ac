#include "host/wiring/fleet_settings.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LaunchSettings, the_providers_pace_counts_unless_the_operator_says_otherwise) {
  config::PluginInstance instance;
  ProviderDescription description;
  const fleet::ProviderSettings usual = provider_up(instance, description).settings;
  description.launch_pace = {.per_call = 100, .burst = 1000};
  const fleet::ProviderSettings paced = provider_up(instance, description).settings;
  EXPECT_EQ(paced.launches_per_call, 100);
  EXPECT_EQ(paced.launch_burst, 1000);
  EXPECT_EQ(paced.launches_per_second, usual.launches_per_second);
  instance.launch.per_call = 7;
  instance.launch.burst = 9;
  const fleet::ProviderSettings said = provider_up(instance, description).settings;
  EXPECT_EQ(said.launches_per_call, 7);
  EXPECT_EQ(said.launch_burst, 9);
}

TEST(LaunchSettings, a_plugin_cannot_ask_for_a_pace_without_bounds) {
  ProviderDescription description;
  description.launch_pace = {.per_call = -1, .burst = 1'000'000'000, .per_second = 1e300};
  const fleet::ProviderSettings settings = provider_up({}, description).settings;
  EXPECT_EQ(settings.launches_per_call, 1);
  EXPECT_EQ(settings.launch_burst, 10'000);
  EXPECT_EQ(settings.launches_per_second, 10'000);
  description.launch_pace = {.per_second = 0};
  EXPECT_GT(provider_up({}, description).settings.launches_per_second, 0);
}

}  // namespace
}  // namespace muster
