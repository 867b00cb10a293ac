// Plugins as an operator handles them: dropped into a running host, killed, replaced, rolled back.
#include <csignal>
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/base/atomic_file.hpp"
#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::string library(const std::string& name, const std::string& version) {
  return std::string(MUSTER_BAD_PLUGINS) + "/" + name + "-" + version + "/" + name + ".so";
}

struct HostPlugins : ::testing::Test {
  Musterd host;
  Variables environment{{"MUSTER_URL", host.address().url}, {"MUSTER_TOKEN", host.address().token}};

  Finished muster(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "plugin");
    return run("muster", arguments, environment);
  }
  json::object instance_of(const std::string& plugin_id) {
    const auto answer = host.client().get("/api/muster/v1/plugins").value();
    for (const json::value& plugin : answer.at("plugins").as_array())
      if (plugin.at("pluginId").as_string() == plugin_id &&
          !plugin.at("instances").as_array().empty())
        return plugin.at("instances").at(0).as_object();
    return {};
  }
};

TEST_F(HostPlugins, an_installed_plugin_is_active_at_once_and_its_killed_cell_comes_back) {
  const Finished installed = muster({"install", library("good", "1.0.0")});
  EXPECT_EQ(installed.exit_code, 0) << installed.output;
  EXPECT_THAT(installed.output, HasSubstr("the host says: active"));
  EXPECT_THAT(muster({"list"}).output, HasSubstr("provider/good  active"));
  const auto pid = instance_of("provider/good").at("pid").as_int64();
  ::kill(static_cast<pid_t>(pid), SIGKILL);
  EXPECT_TRUE(eventually([&] {
    const json::object instance = instance_of("provider/good");
    return instance.contains("pid") && instance.at("pid").as_int64() != pid;
  }));
}

TEST_F(HostPlugins, a_plugin_dropped_with_plain_files_is_found_without_being_told) {
  const std::string bytes = content_of(library("good", "1.0.0"));
  const fs::path folder = host.data_directory() / "plugins.d" / "good";
  fs::create_directories(folder);
  ASSERT_TRUE(write_file_atomically(folder / "good.so", bytes, 0755));
  const Finished installed = muster(
      {"install", "--folder", (host.folder() / "elsewhere").string(), library("good", "1.0.0")});
  ASSERT_EQ(installed.exit_code, 0) << installed.output;
  fs::rename(host.folder() / "elsewhere/provider/good/plugin.toml", folder / "plugin.toml");
  EXPECT_TRUE(eventually([&] { return !instance_of("provider/good").empty(); }));
}

TEST_F(HostPlugins, an_upgrade_serves_and_a_rollback_undoes_it) {
  muster({"install", library("good", "1.0.0")});
  EXPECT_THAT(muster({"install", library("good", "2.0.0")}).output,
              HasSubstr("the host says: active"));
  EXPECT_EQ(instance_of("provider/good").at("version").as_string(), "2.0.0");
  const Finished back = muster({"rollback", "provider/good"});
  EXPECT_EQ(back.exit_code, 0) << back.output;
  EXPECT_EQ(instance_of("provider/good").at("version").as_string(), "1.0.0");
}

TEST_F(HostPlugins, what_is_broken_is_refused_before_it_is_installed) {
  const Finished refused = muster({"install", library("crashes_on_load", "1.0.0")});
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_THAT(refused.output, HasSubstr("the plugin is refused: its process ended while starting"));
  EXPECT_FALSE(fs::exists(host.data_directory() / "plugins.d/provider/crashes_on_load"));
}

TEST_F(HostPlugins, a_reload_starts_the_instances_that_were_added) {
  muster({"install", library("good", "1.0.0")});
  EXPECT_EQ(instance_of("provider/good").at("instanceId").as_string(), "good-standby");
  host.configure("[providers.mine]\nplugin = \"provider/good\"\n");
  host.process().signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    const json::object instance = instance_of("provider/good");
    return !instance.empty() && instance.at("instanceId").as_string() == "mine";
  }));
}

TEST_F(HostPlugins, mistakes_are_told_in_a_sentence) {
  EXPECT_THAT(muster({"rollback", "provider/absent"}).output,
              HasSubstr("there is no active plugin \"provider/absent\"; see: muster plugin list"));
  EXPECT_THAT(muster({"check", "/nowhere/x.so"}).output,
              HasSubstr("open /nowhere/x.so: No such file or directory"));
  EXPECT_EQ(muster({"new", "provider", "Bad Name"}).exit_code, 2);
  EXPECT_EQ(muster({"new", "table", "x"}).exit_code, 2);
  EXPECT_EQ(muster({"list", "--url", "http://127.0.0.1:1"}).exit_code, 1);
}

TEST_F(HostPlugins, check_tells_which_promises_a_plugin_breaks) {
  const Finished checked =
      muster({"check", library("good", "1.0.0")});  // good for the loader, no real provider
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_THAT(checked.output, HasSubstr("The plugin breaks its contract."));
}

TEST_F(HostPlugins, check_takes_a_configuration_of_ones_own) {
  const std::string plugin = std::string(MUSTER_SHIPPED_PLUGINS) + "/provider/simulated";
  const TemporaryFolder folder;
  const std::string file = (folder / "config.json").string();
  const auto check_with = [&](const std::string& config) {
    std::ofstream(file) << config;
    return muster({"check", plugin, "--config", file});
  };
  EXPECT_THAT(muster({"check", plugin, "--config", "/nowhere/c.json"}).output,
              HasSubstr("--config: open /nowhere/c.json: No such file"));
  EXPECT_THAT(check_with("{").output, HasSubstr(file + ": not JSON"));
  EXPECT_THAT(check_with(R"({"regionz": []})").output, HasSubstr("regionz"));
  const Finished checked =
      check_with(R"({"regions": [{"name": "eu-1", "zones": ["eu-1a"]}], "seed": 3})");
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
}

TEST_F(HostPlugins, check_and_list_speak_json) {
  const Finished checked =
      muster({"check", "--json", std::string(MUSTER_SHIPPED_PLUGINS) + "/strategy/classic"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  const auto document = json::parse_object(checked.output);
  ASSERT_TRUE(document) << checked.output;
  EXPECT_TRUE(document->at("kept").as_bool());
  EXPECT_TRUE(json::parse_object(muster({"list", "--json"}).output));
}

}  // namespace
}  // namespace muster::testing
