// Events of plugins and worker configurations: one for each change, none for how things are at
// first.
#include "host/wiring/status_event_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster {
namespace {

using plugin_loader::InstanceState;
using plugin_loader::PluginChanges;
using plugin_loader::PluginSnapshot;
using plugin_loader::PluginState;
using plugin_loader::VersionState;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class StatusEvents : public ::testing::Test {
 protected:
  static VersionState version(const std::string& number, PluginState state,
                              const std::string& reason = "") {
    return {"provider/good", number, "sha of " + number, state, reason};
  }
  static InstanceState instance(PluginState state, const std::string& reason = "",
                                const std::string& running = "1") {
    return {.plugin_id = "provider/good",
            .instance_id = "it",
            .lane_id = "it",
            .state = state,
            .reason = reason,
            .version = running};
  }
  std::vector<std::string> see(const PluginChanges& changes) {
    source_.plugins_changed({}, changes);
    return std::exchange(lines_, {});
  }
  std::vector<std::string> see(const pools::Status& status) {
    source_.observe(status);
    return std::exchange(lines_, {});
  }
  static pools::Status serving(const std::string& revision, std::size_t pools = 1,
                               std::size_t launch_configs = 2) {
    pools::Status status;
    status.source = "configs";
    status.revision = revision;
    status.pools = pools;
    status.launch_configs = launch_configs;
    return status;
  }
  static pools::Status refusing(pools::Status status, const std::string& revision,
                                std::size_t problems) {
    status.refused_revision = revision;
    status.problems.resize(problems);
    return status;
  }

  std::vector<std::string> lines_;
  std::vector<events::Event> events_;
  StatusEventSource source_{[this](events::Event event) {
    lines_.push_back(event.kind + ": " + event.text);
    events_.push_back(std::move(event));
  }};
};

TEST_F(StatusEvents, has_none_for_plugins_that_are_there_at_first) {
  PluginSnapshot now;
  now.versions[{"provider/good", "1"}] = version("1.0.0", PluginState::active);
  now.instances[{"provider/good", "it"}] = instance(PluginState::active);
  source_.plugins_are(now);
  EXPECT_THAT(lines_, IsEmpty());
}

TEST_F(StatusEvents, has_one_for_each_change_of_a_version) {
  EXPECT_THAT(see({{{{}, version("1.0.0", PluginState::checking)}}, {}, {}}), IsEmpty());
  EXPECT_THAT(
      see({{{version("1.0.0", PluginState::checking), version("1.0.0", PluginState::active)}},
           {},
           {}}),
      ElementsAre("plugin-activated: provider/good 1.0.0 is active"));
  EXPECT_THAT(
      see({{{version("1.0.0", PluginState::active), version("1.0.0", PluginState::draining)},
            {{}, version("2.0.0", PluginState::active)}},
           {},
           {}}),
      ElementsAre("plugin-activated: provider/good 2.0.0 is active"));
  EXPECT_THAT(
      see({{{version("1.0.0", PluginState::draining), version("1.0.0", PluginState::retired)}},
           {},
           {}}),
      ElementsAre("plugin-stopped: provider/good 1.0.0 is retired"));
  EXPECT_THAT(see({{{{}, version("3.0.0", PluginState::rejected, "it crashes")}}, {}, {}}),
              ElementsAre("plugin-refused: provider/good 3.0.0 is rejected: it crashes"));
  EXPECT_EQ(json::write(events_.back().details),
            R"({"pluginId":"provider/good","version":"3.0.0","state":"rejected",)"
            R"("reason":"it crashes"})");
}

TEST_F(StatusEvents, has_one_for_each_change_of_an_instance_but_none_for_its_version) {
  EXPECT_THAT(see({{}, {{{}, instance(PluginState::active)}}, {}}),
              ElementsAre("plugin-activated: instance it of provider/good is active"));
  EXPECT_THAT(
      see({{}, {{instance(PluginState::active), instance(PluginState::active, "", "2")}}, {}}),
      IsEmpty());
  EXPECT_THAT(see({{},
                   {{instance(PluginState::active), instance(PluginState::quarantined, "5 bugs")}},
                   {}}),
              ElementsAre("plugin-stopped: instance it of provider/good is quarantined: 5 bugs"));
  EXPECT_EQ(json::write(events_.back().details),
            R"({"pluginId":"provider/good","instanceId":"it","state":"quarantined",)"
            R"("reason":"5 bugs"})");
}

TEST_F(StatusEvents, has_one_for_each_revision_after_the_first) {
  EXPECT_THAT(see(serving("r1")), IsEmpty());
  EXPECT_THAT(see(serving("r1")), IsEmpty());  // evaluated again, for another provider
  EXPECT_THAT(see(serving("r2")), ElementsAre("configuration-accepted: worker configurations r2: "
                                              "1 pool, 2 launch configurations",
                                              "audit: configs: acceptWorkerConfigurations "
                                              "revision=r2"));
  EXPECT_THAT(see(serving("r2")), IsEmpty());
}

TEST_F(StatusEvents, has_one_for_each_refusal) {
  see(serving("r1"));
  EXPECT_THAT(see(refusing(serving("r1"), "r2", 1)),
              ElementsAre("configuration-refused: worker configurations of configs are refused: "
                          "1 problem; see: muster status"));
  EXPECT_THAT(see(refusing(serving("r1"), "r2", 1)), IsEmpty());
  EXPECT_THAT(see(refusing(serving("r1"), "r3", 2)),
              ElementsAre("configuration-refused: worker configurations of configs are refused: "
                          "2 problems; see: muster status"));
  EXPECT_THAT(see(serving("r4")), ElementsAre("configuration-accepted: worker configurations r4: "
                                              "1 pool, 2 launch configurations",
                                              "audit: configs: acceptWorkerConfigurations "
                                              "revision=r4"));
  EXPECT_THAT(see(refusing(serving("r4"), "r3", 2)).size(), 1U);
}

TEST_F(StatusEvents, has_one_for_a_refusal_at_the_start) {
  EXPECT_THAT(see(refusing(serving(""), "r1", 3)).size(), 1U);
  EXPECT_THAT(see(serving("r2")), IsEmpty());
}

TEST_F(StatusEvents, has_none_while_a_revision_waits_for_its_providers) {
  see(serving("r1"));
  EXPECT_THAT(see(refusing(serving("r1"), "r2", 0)), IsEmpty());
}

TEST_F(StatusEvents, has_one_when_the_source_cannot_be_read) {
  pools::Status status = serving("r1");
  see(status);
  status.source_error = "no such folder";
  EXPECT_THAT(see(status),
              ElementsAre("configuration-refused: worker configurations of configs are refused: "
                          "no such folder"));
  EXPECT_THAT(see(status), IsEmpty());
  EXPECT_THAT(see(serving("r1")), IsEmpty());
}

// Another source starts without a revision.
TEST_F(StatusEvents, has_one_for_the_first_revision_of_another_source) {
  see(serving("r1"));
  EXPECT_THAT(see(refusing(serving(""), "r2", 1)).size(), 1U);
  EXPECT_THAT(see(serving("r3")).size(), 2U);
}

}  // namespace
}  // namespace muster
