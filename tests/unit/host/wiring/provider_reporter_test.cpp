// What the fleet learns of providers, from changes of plugins and of the host's configuration.
#include "host/wiring/provider_reporter.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>
#include <muster/provider.hpp>

namespace muster {
namespace {

using plugin_loader::InstanceState;
using plugin_loader::PluginChanges;
using plugin_loader::PluginSnapshot;
using plugin_loader::PluginState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr const char* does_not_run = "ec2 down: its plugin does not run; see: muster plugin list";

class Reporter : public ::testing::Test {
 protected:
  static std::shared_ptr<const config::HostConfiguration> configuration(
      const std::vector<std::string>& providers, std::optional<std::int64_t> max_capacity = {}) {
    auto host = std::make_shared<config::HostConfiguration>();
    for (const std::string& id : providers) {
      config::PluginInstance& instance = host->providers.emplace_back();
      instance.id = id;
      instance.plugin = "provider/aws";
      instance.launch.max_capacity = max_capacity;
    }
    return host;
  }

  static InstanceState lane(const std::string& lane_id, PluginState state = PluginState::active,
                            const std::string& version = "provider/aws@1") {
    ProviderDescription description;
    description.name = "aws";
    description.version = version;
    description.section = "aws";
    return {.plugin_id = "provider/aws",
            .instance_id = lane_id.substr(0, lane_id.find('#')),
            .lane_id = lane_id,
            .state = state,
            .version = version,
            .description =
                std::make_shared<const json::object>(codec::to_value(description).as_object())};
  }

  // The plugins are so now; what was reported of it.
  std::vector<std::string> see(const std::vector<InstanceState>& lanes) {
    PluginSnapshot now;
    PluginChanges changes;
    for (const InstanceState& state : lanes) {
      now.instances[{state.plugin_id, state.lane_id}] = state;
      changes.instances.push_back({std::nullopt, state});
    }
    if (lanes.empty()) changes.removed_instances.push_back(lane("ec2"));
    reporter_.plugins_changed(now, changes);
    return std::exchange(reports_, {});
  }
  std::vector<std::string> configure(std::shared_ptr<const config::HostConfiguration> next) {
    reporter_.configure(std::move(next));
    return std::exchange(reports_, {});
  }

  std::vector<std::string> reports_;
  ProviderReporter reporter_{
      {.up =
           [this](const fleet::ProviderUp& up) {
             reports_.push_back(up.provider_id.str() + " up" +
                                (up.settings.max_capacity
                                     ? " with " + std::to_string(*up.settings.max_capacity)
                                     : ""));
           },
       .down = [this](const ProviderId& id,
                      const std::string& why) { reports_.push_back(id.str() + " down: " + why); },
       .changed = [this] { reports_.push_back("changed"); }},
      configuration({"ec2"})};
};

TEST_F(Reporter, reports_a_provider_when_its_plugin_comes_up) {
  EXPECT_THAT(see({lane("other")}), ElementsAre(does_not_run, "changed"));
  EXPECT_THAT(see({lane("other")}), IsEmpty());
  EXPECT_THAT(see({lane("ec2")}), ElementsAre("ec2 up", "changed"));
}

TEST_F(Reporter, reports_why_a_provider_could_not_be_started_and_each_new_reason_once) {
  auto refused = lane("ec2", PluginState::rejected);
  refused.reason = "its configuration is wrong: /region: lacks";
  EXPECT_THAT(see({refused}), ElementsAre("ec2 down: " + refused.reason, "changed"));
  EXPECT_THAT(see({refused}), IsEmpty());
  refused.reason = "create failed: the account is missing";
  EXPECT_THAT(see({refused}), ElementsAre("ec2 down: " + refused.reason, "changed"));
  EXPECT_THAT(see({lane("ec2")}), ElementsAre("ec2 up", "changed"));
}

TEST_F(Reporter, reports_what_runs_at_the_subscription) {
  PluginSnapshot now;
  now.instances[{"provider/aws", "ec2"}] = lane("ec2");
  reporter_.plugins_are(now);
  EXPECT_THAT(reports_, ElementsAre("ec2 up", "changed"));
}

TEST_F(Reporter, reports_nothing_twice) {
  see({lane("ec2")});
  EXPECT_THAT(see({lane("ec2")}), IsEmpty());
  EXPECT_THAT(configure(configuration({"ec2"})), IsEmpty());
}

TEST_F(Reporter, reports_another_version) {
  see({lane("ec2")});
  EXPECT_THAT(see({lane("ec2", PluginState::active, "provider/aws@2")}),
              ElementsAre("ec2 up", "changed"));
}

TEST_F(Reporter, reports_other_limits) {
  see({lane("ec2")});
  EXPECT_THAT(configure(configuration({"ec2"}, 5)), ElementsAre("ec2 up with 5", "changed"));
}

TEST_F(Reporter, reports_a_quarantine_but_not_a_restart) {
  see({lane("ec2")});
  EXPECT_THAT(see({lane("ec2", PluginState::stuck)}), IsEmpty());
  EXPECT_THAT(see({lane("ec2", PluginState::quarantined)}), ElementsAre(does_not_run, "changed"));
  EXPECT_THAT(see({lane("ec2")}), ElementsAre("ec2 up", "changed"));
}

TEST_F(Reporter, one_lane_that_serves_is_enough) {
  see({lane("ec2"), lane("ec2#2")});
  EXPECT_THAT(see({lane("ec2", PluginState::quarantined), lane("ec2#2")}), IsEmpty());
  EXPECT_THAT(see({lane("ec2", PluginState::quarantined), lane("ec2#2", PluginState::quarantined)}),
              ElementsAre(does_not_run, "changed"));
}

TEST_F(Reporter, reports_a_plugin_that_is_gone) {
  see({lane("ec2")});
  EXPECT_THAT(see({}), ElementsAre(does_not_run, "changed"));
}

TEST_F(Reporter, reports_a_provider_that_is_no_longer_configured) {
  see({lane("ec2")});
  EXPECT_THAT(configure(configuration({})),
              ElementsAre("ec2 down: it is no longer in the host's configuration", "changed"));
  EXPECT_THAT(see({}), IsEmpty());
}

TEST_F(Reporter, reports_a_provider_that_is_configured_when_its_plugin_runs) {
  see({lane("ec2"), lane("lab")});
  EXPECT_THAT(configure(configuration({"ec2", "lab"})), ElementsAre("lab up", "changed"));
}

}  // namespace
}  // namespace muster
