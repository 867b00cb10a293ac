#include "plugins/provider/static/settings.hpp"

#include "tests/unit/plugins/provider/static/fixture.hpp"

namespace muster::static_machines {
namespace {

const std::string ed25519_line =
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ/5zklAiDldGYMqgonRzO4dXym1BYr3m+a2MWkTTweE a comment";

// A good configuration, for tests that break it in one place.
json::object good() {
  return parsed(R"({
    "region": "dc1", "stateFile": "/var/lib/muster/dc1.json", "commandTimeout": "90s",
    "wakeCommand": ["wakeonlan", "{mac}"], "powerOffCommand": ["ipmitool", "-H", "{bmc}", "off"],
    "pools": {"worker-manager/mac": {"publicKeys": [")" +
                ed25519_line + R"("],
                                     "hostNames": ["mac-*.dc1.example.com"]}},
    "machines": [
      {"workerPoolId": "worker-manager/mac", "workerId": "mac-01", "capacity": 4,
       "variables": {"bmc": "10.0.0.2"},
       "hostName": "MAC-01.dc1.example.com.", "secretSha256": ")" +
                std::string(64, 'A') + R"("},
      {"workerPoolId": "worker-manager/blade", "workerId": "blade-01", "powered": true,
       "variables": {"mac": "02:00", "bmc": "10.0.0.1"}}]})");
}

std::string mistake(const json::object& config) {
  const auto settings = read_settings(config);
  return settings ? "none" : settings.error().message;
}

json::object& machine(json::object& config, std::size_t index) {
  return config["machines"].as_array()[index].as_object();
}

struct Mistake {
  const char* machine_key;  // of machines[index]; null: of the configuration itself
  std::size_t index;
  const char* key;
  const char* value;  // JSON; empty: erased
  const char* expected;
};

class StaticSettingsMistake : public ::testing::TestWithParam<Mistake> {};

TEST_P(StaticSettingsMistake, is_named_with_its_key) {
  const Mistake& wrong = GetParam();
  json::object config = good();
  json::object& place = wrong.machine_key ? machine(config, wrong.index) : config;
  const char* const key = wrong.machine_key ? wrong.machine_key : wrong.key;
  place.erase(key);
  if (*wrong.value) place[key] = *json::parse(wrong.value);
  const std::string said = mistake(config);
  EXPECT_TRUE(said.starts_with(wrong.expected)) << said;
}

Mistake of_site(const char* key, const char* value, const char* expected) {
  return {nullptr, 0, key, value, expected};
}
Mistake of_machine(std::size_t index, const char* key, const char* value, const char* expected) {
  return {key, index, nullptr, value, expected};
}

INSTANTIATE_TEST_SUITE_P(
    site, StaticSettingsMistake,
    ::testing::Values(
        of_site("region", "7", "region: "), of_site("region", R"("")", "region: is empty"),
        of_site("region", R"("dc 1")", "region: \"dc 1\" is not a worker group"),
        of_site("workerGroup", R"("dc/1")", "workerGroup: \"dc/1\" is not a worker group"),
        of_site("stateFile", R"("dc1.json")", "stateFile: \"dc1.json\" is not an absolute path"),
        of_site("stateFile", "", "stateFile: is missing"),
        of_site("commandTimeout", R"("soon")", "commandTimeout: \"soon\" is not a time"),
        of_site("commandTimeout", R"("0s")", "commandTimeout: \"0s\" is not a time"),
        of_site("commandTimeout", R"("2h")", "commandTimeout: \"2h\" is not a time"),
        of_site("commandTimeout", "60", "commandTimeout: "),
        of_site("wakeCommand", "", "machines[1].powered: is true, but there is no wakeCommand"),
        of_site("wakeCommand", "[]", "wakeCommand: is empty"),
        of_site("wakeCommand", R"([""])", "wakeCommand[0]: the program's name is empty"),
        of_site("wakeCommand", R"("wakeonlan")", "wakeCommand: expected an array"),
        of_site("wakeCommand", R"(["wakeonlan", "{nope}"])", "wakeCommand[1]: \"{nope}\" is not "),
        of_site("wakeCommand", R"(["wakeonlan", "{mca}"])",
                "wakeCommand[1]: \"{mca}\" is not known: no machine has a variable of that name; "
                "did you mean \"{mac}\"?"),
        of_site("wakeCommand", R"(["wakeonlan", "{mac"])", "wakeCommand[1]: a brace stands alone"),
        of_site("wakeCommand", R"(["wakeonlan", "mac}"])", "wakeCommand[1]: a brace stands alone"),
        of_site("wakeCommand", R"(["wakeonlan", "a", "{}"])", "wakeCommand[2]: \"{}\" holds no "),
        of_site("wakeCommand", R"(["wakeonlan", "{a b}"])", "wakeCommand[1]: \"{a b}\" holds no "),
        of_site("wakeCommand", R"(["{mac}"])", "wakeCommand[0]: the program itself cannot"),
        of_site("wakeCommand", R"(["x", "a\u0000b"])", "wakeCommand[1]: has a byte 0"),
        of_site("powerOffCommand", R"(["off", "{hostName}"])",
                "machines[1].hostName: is missing: powerOffCommand[1] needs it"),
        of_site("pools", R"({"mac": {}})", "pools.\"mac\": is not a workerPoolId"),
        of_site("pools", R"({"a/B": {}})", "pools.\"a/B\": is not a workerPoolId"),
        of_site("pools", R"({"a/b-": {}})", "pools.\"a/b-\": is not a workerPoolId"),
        of_site("pools", R"({"a/b": {"publicKeys": ["ssh-dss AAAA"]}})",
                "pools.\"a/b\".publicKeys[0]: \"ssh-dss\" is not a kind of key"),
        of_site("pools", R"({"a/b": {"hostNames": ["ok", "[a"]}})",
                "pools.\"a/b\".hostNames[1]: the pattern \"[a\" is not a glob"),
        of_site("pools", R"({"a/b": {"hostNames": ["a..b"]}})",
                "pools.\"a/b\".hostNames[0]: a label between its dots is empty"),
        of_site("pools", R"({"a/b": {"hostNames": [""]}})", "pools.\"a/b\".hostNames[0]: is empty"),
        of_site("machines", R"([{}])", "machines[0].workerPoolId: is missing"),
        of_site("machines", R"({})", "machines: expected an array")));

INSTANTIATE_TEST_SUITE_P(
    machine, StaticSettingsMistake,
    ::testing::Values(
        of_machine(0, "workerPoolId", R"("mac")", "machines[0].workerPoolId: \"mac\" is not a "),
        of_machine(0, "workerId", R"("a.b")", "machines[0].workerId: \"a.b\" is not a workerId"),
        of_machine(0, "workerId", R"("")", "machines[0].workerId: \"\" is not a workerId"),
        of_machine(1, "workerId", R"("mac-01")", "machines[1].workerId: \"mac-01\" occurs twice"),
        of_machine(1, "hostName", R"("mac-01.DC1.example.com")",
                   "machines[1].hostName: \"mac-01.dc1.example.com\" occurs twice"),
        of_machine(1, "hostName", R"("a b")", "machines[1].hostName: \"a b\" is not a host name"),
        of_machine(1, "hostName", R"("")", "machines[1].hostName: \"\" is not a host name"),
        of_machine(0, "capacity", "0", "machines[0].capacity: is not between"),
        of_machine(0, "capacity", "1.5", "machines[0].capacity: "),
        of_machine(0, "secretSha256", R"("secret")", "machines[0].secretSha256: is no SHA-256"),
        of_machine(0, "publicKeys", R"(["ssh-ed25519 AAAA"])",
                   "machines[0].publicKeys[0]: it is truncated or damaged"),
        of_machine(1, "variables", R"({"mac": "a"})",
                   "machines[1].variables.bmc: is missing: powerOffCommand[2] needs it"),
        of_machine(1, "variables", R"({"mac": "a", "bmc": "b", "workerId": "x"})",
                   "machines[1].variables.workerId: is filled in with the machine's own"),
        of_machine(1, "variables", R"({"mac": "a", "bmc": "b", "hostName": "x"})",
                   "machines[1].variables.hostName: is filled in with the machine's own"),
        of_machine(1, "variables", R"({"mac": "a", "bmc": "b", "a b": "x"})",
                   "machines[1].variables: \"a b\" is not a name for a variable"),
        of_machine(1, "variables", R"({"mac": "a", "bmc": "b\u0000"})",
                   "machines[1].variables.bmc: has a byte 0")));

TEST(StaticSettings, a_key_that_stands_twice_in_a_pool_is_refused) {
  json::object config = good();
  auto& keys = config["pools"].as_object()[mac_pool].as_object()["publicKeys"].as_array();
  keys.push_back(keys.front());
  EXPECT_EQ(mistake(config), "pools.\"worker-manager/mac\".publicKeys[1]: this key occurs twice");
}

TEST(StaticSettings, powered_machines_of_one_pool_have_one_capacity) {
  json::object config = good();
  json::object other = machine(config, 1);
  other["workerId"] = "blade-02";
  other["capacity"] = 2;
  config["machines"].as_array().push_back(other);
  EXPECT_TRUE(mistake(config).starts_with("machines[2].capacity: is not that of machines[1]"))
      << mistake(config);
}

TEST(StaticSettings, are_read) {
  const auto settings = read_settings(good());
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->worker_group, WorkerGroup("dc1"));
  EXPECT_EQ(settings->command_timeout, std::chrono::seconds(90));
  ASSERT_EQ(settings->machines.size(), 2u);
  EXPECT_EQ(settings->machines[0].host_name, "mac-01.dc1.example.com");
  EXPECT_EQ(settings->machines[0].secret_sha256, std::string(64, 'a'));
  EXPECT_EQ(settings->find_host("mac-01.dc1.example.com"), &settings->machines[0]);
  EXPECT_EQ(settings->find_host(""), nullptr);
  EXPECT_EQ(settings->wake_command.filled(settings->machines[1].variables),
            (std::vector<std::string>{"wakeonlan", "02:00"}));
  EXPECT_EQ(settings->pools.at(WorkerPoolId(mac_pool)).keys.size(), 1u);
}

TEST(StaticSettings, of_nothing_are_a_provider_without_machines) {
  const auto settings = read_settings({});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->region, "static");
  EXPECT_TRUE(settings->machines.empty());
}

TEST(StaticCommandTemplate, fills_in_whole_arguments_and_keeps_doubled_braces) {
  const auto command = CommandTemplate::parse("c", {"p", "a{x}b{x}", "{{{x}}}", ""});
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(
      command->filled({{"x", "$(rm -rf /) {y}"}}),
      (std::vector<std::string>{"p", "a$(rm -rf /) {y}b$(rm -rf /) {y}", "{$(rm -rf /) {y}}", ""}));
}

TEST(StaticHostNamePattern, a_star_stays_within_its_label) {
  const auto pattern = HostNamePattern::parse("MAC-*.dc1.Example.com.");
  ASSERT_TRUE(pattern);
  EXPECT_FALSE(pattern->matches("mac-01.evil.dc1.example.com"));
  EXPECT_FALSE(pattern->matches("mac-01.dc1.example.com.evil.com"));
  EXPECT_FALSE(pattern->matches("x.mac-01.dc1.example.com"));
  EXPECT_FALSE(pattern->matches("dc1.example.com"));
  EXPECT_FALSE(pattern->matches(""));
  EXPECT_TRUE(pattern->matches("mac-01.dc1.example.com"));
}

TEST(StaticHostName, is_made_plain_or_refused) {
  for (const char* wrong : {"", ".", "a..b", ".a", "-a", "a-.b", "a b", "a/b", "\xc3\xa4.b", "*"})
    EXPECT_FALSE(plain_host_name(wrong)) << wrong;
  EXPECT_FALSE(plain_host_name(std::string(64, 'a') + ".b"));
  std::string longest = "a";
  while (longest.size() < 253) longest += ".a";
  EXPECT_TRUE(plain_host_name(longest));
  EXPECT_FALSE(plain_host_name(longest + "a.b"));
  EXPECT_EQ(plain_host_name("Mac-01.Example.COM."), "mac-01.example.com");
}

}  // namespace
}  // namespace muster::static_machines
