#include "plugins/provider/local/settings.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include <muster/json_schema.hpp>

#include "plugins/base/quantities.hpp"

namespace muster::local {
namespace {

using namespace std::chrono_literals;

json::object good() {
  return {{"folder", "/var/lib/muster/local"},
          {"agent", "/usr/bin/muster-agent"},
          {"images", json::object{{"example-1", json::array{"/usr/lib/muster/example-worker"}}}}};
}

std::string mistake_with(const char* key, json::value value) {
  json::object config = good();
  config[key] = std::move(value);
  const auto read = read_settings(config);
  return read ? "" : read.error().message;
}

TEST(LocalSettings, mistakes_are_named_with_their_path) {
  json::object none = good();
  none.erase("folder");
  EXPECT_NE(read_settings(none).error().message.find("folder: is missing"), std::string::npos);
  EXPECT_NE(mistake_with("folder", "relative").find("folder: \"relative\""), std::string::npos);
  EXPECT_NE(mistake_with("folder", "/").find("folder:"), std::string::npos);
  EXPECT_NE(mistake_with("temporary", true).find("temporary:"), std::string::npos);
  EXPECT_NE(mistake_with("region", "").find("region:"), std::string::npos);
  EXPECT_NE(mistake_with("agent", "muster-agent").find("agent:"), std::string::npos);
  EXPECT_NE(mistake_with("agent", json::array{}).find("agent:"), std::string::npos);
  EXPECT_NE(mistake_with("maxWorkers", -1).find("maxWorkers:"), std::string::npos);
  EXPECT_NE(mistake_with("maxWorkers", 1'000'000).find("maxWorkers:"), std::string::npos);
  EXPECT_NE(mistake_with("stopGrace", "soon").find("stopGrace:"), std::string::npos);
  EXPECT_NE(mistake_with("stopGrace", "99999999999h").find("stopGrace:"), std::string::npos);
  EXPECT_NE(mistake_with("outputLimit", "1").find("outputLimit:"), std::string::npos);
  EXPECT_NE(mistake_with("cgroup", "mine").find("cgroup:"), std::string::npos);
  EXPECT_NE(mistake_with("images", json::object{{"a", json::array{}}}).find("images.a:"),
            std::string::npos);
  EXPECT_NE(mistake_with("images", json::object{{"a", json::array{"sh"}}}).find("images.a:"),
            std::string::npos);
  EXPECT_NE(mistake_with("images", json::object{{"a", json::object{}}}).find("images.a.command:"),
            std::string::npos);
  EXPECT_NE(mistake_with("images", json::object{{"a", json::object{{"cmd", 1}}}}).find("a.cmd:"),
            std::string::npos);
  EXPECT_NE(mistake_with("environment", json::object{{"A=B", "x"}}).find("environment.A=B:"),
            std::string::npos);
}

TEST(LocalSettings, the_user_of_workers_is_never_root_unless_the_operator_says_so) {
  EXPECT_EQ(mistake_with("user", "no-such-user-here").find("user: this machine has no user"), 0u);
  EXPECT_EQ(mistake_with("user", "1:x").find("user: "), 0u);
  const auto by_default = read_settings(good());
  ASSERT_TRUE(by_default) << by_default.error().message;
  EXPECT_EQ(by_default->user.has_value(), ::geteuid() == 0);
  EXPECT_NE(by_default->user.value_or(RunAs{1, 1, ""}).uid, 0u);
  EXPECT_EQ(mistake_with("user", "root").empty(), ::geteuid() == 0);
}

TEST(LocalSettings, an_operator_allows_variables_but_not_the_agents_own) {
  EXPECT_EQ(mistake_with("allowedEnvironment", json::array{"PATH"}), "");
  for (const char* bad : {"MUSTER_LOCAL_FOLDER", "TASKCLUSTER_ROOT_URL", "A=B", ""})
    EXPECT_EQ(mistake_with("allowedEnvironment", json::array{bad}).find("allowedEnvironment: "), 0u)
        << bad;
}

TEST(LocalSettings, what_is_not_said_has_a_default) {
  const auto read = read_settings(good());
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->region, "here");
  EXPECT_EQ(read->stop_grace, 30s);
  EXPECT_EQ(read->keep_stopped, 1h);
  EXPECT_GE(read->max_workers, 1);
  EXPECT_EQ(read->images.at("example-1").command.size(), 1u);
}

TEST(LocalSettings, the_schema_takes_what_is_read) {
  const auto schema = json::Schema::compile(config_schema());
  ASSERT_TRUE(schema);
  json::object config = good();
  config["images"].as_object()["b"] =
      json::object{{"command", json::array{"/bin/sh"}}, {"refresh", "none"}};
  config["agent"] = json::array{"/bin/sh", "-c", "true"};
  EXPECT_TRUE(schema->validate(config).empty());
  EXPECT_TRUE(read_settings(config));
  config["agnet"] = "x";
  EXPECT_FALSE(schema->validate(config).empty());
}

std::string section_mistake(json::object section) {
  const auto settings = read_settings(good());
  const auto read = read_section({{"local", std::move(section)}}, *settings);
  return read ? "" : read.error().message;
}

TEST(LocalSection, mistakes_are_named_with_their_path) {
  const auto settings = read_settings(good());
  EXPECT_NE(read_section({}, *settings).error().message.find("local: is missing"),
            std::string::npos);
  EXPECT_NE(section_mistake({}).find("local.image"), std::string::npos);
  EXPECT_NE(section_mistake({{"image", "exmple-1"}}).find("did you mean \"example-1\"?"),
            std::string::npos);
  const auto with = [](const char* key, json::value value) {
    return section_mistake({{"image", "example-1"}, {key, std::move(value)}});
  };
  EXPECT_NE(with("memory", "1").find("local.memory"), std::string::npos);
  EXPECT_NE(with("memory", "1 GB").find("local.memory"), std::string::npos);
  EXPECT_NE(with("capacity", 0).find("local.capacity"), std::string::npos);
  EXPECT_NE(with("cpus", 0).find("local.cpus"), std::string::npos);
  EXPECT_NE(with("openFiles", 1).find("local.openFiles"), std::string::npos);
  EXPECT_NE(with("processes", 1).find("local.processes"), std::string::npos);
  EXPECT_EQ(with("memory", "512MiB"), "");
}

TEST(LocalQuantities, are_read_or_refused) {
  for (const char* wrong : {"", "s", "1", "-1s", "1.5s", "1 s", "1S", "9223372036854775807h"})
    EXPECT_FALSE(parse_duration(wrong)) << wrong;
  EXPECT_EQ(parse_duration("1500ms"), 1500ms);
  EXPECT_EQ(parse_duration("2h"), 2h);
  for (const char* wrong : {"", "MiB", "1MB", "-1", "1.5GiB", "9223372036854775807KiB"})
    EXPECT_FALSE(parse_bytes(wrong)) << wrong;
  EXPECT_EQ(parse_bytes("512MiB"), 512 << 20);
  EXPECT_EQ(parse_bytes("4096"), 4096);
}

}  // namespace
}  // namespace muster::local
