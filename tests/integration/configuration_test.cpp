#include <fstream>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

std::string provider_table(const std::string& id, const std::string& more) {
  return "[providers." + id + "]\nplugin = \"provider/simulated\"\n[providers." + id +
         ".config]\nregions = [{ name = \"r\", zones = [\"z\"] }]\n" + more;
}

TEST(ConfigurationOfAProcess, check_tries_the_plugins_own_configuration) {
  TemporaryFolder folder;
  std::ofstream(folder / "m.toml")
      << provider_table("good", "") << provider_table("bad", "sede = 5\n");
  const std::string file = (folder / "m.toml").string();
  const Finished checked =
      run("musterd", {"--check", "--config", file}, {{"HOME", folder.path().string()}});
  EXPECT_EQ(checked.exit_code, 1);
  EXPECT_NE(
      checked.output.find(file + ":9:1: error: providers.bad.config.sede: the key \"sede\" is "
                                 "not known; did you mean \"seed\"?"),
      std::string::npos)
      << checked.output;
}

TEST(ConfigurationOfAProcess, check_tells_every_mistake_and_exits_1) {
  TemporaryFolder folder;
  std::ofstream(folder / "m.toml") << "lisen = 1\n[http]\nthreads = 0\n";
  const Finished checked = run("musterd", {"--check", "--config", (folder / "m.toml").string()},
                               {{"HOME", folder.path().string()}});
  EXPECT_EQ(checked.exit_code, 1);
  const std::string file = (folder / "m.toml").string();
  EXPECT_NE(checked.output.find(file + ":1:1: error: lisen: "), std::string::npos)
      << checked.output;
  EXPECT_NE(checked.output.find("did you mean \"listen\"?"), std::string::npos);
  EXPECT_NE(checked.output.find(file + ":3:11: error: http.threads: "), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / ".local"));
}

TEST(ConfigurationOfAProcess, check_looks_into_the_worker_configurations_too) {
  TemporaryFolder folder;
  const auto configure = [&](const char* memory) {
    fs::create_directories(folder / "workers");
    std::ofstream(folder / "m.toml") << "workerConfigurations = \"workers\"\n"
                                     << provider_table("local", "");
    std::ofstream(folder / "workers/build.toml") << R"(workerTypes = ["build"]
[[rules]]
ruleId = "all"
description = "All"
[rules.values]
providers = ["local"]
maxCapacity = 1
owner = "o@example.com"
description = "d"
workerConfig.queue.resources.memory = )" << memory
                                                 << "\n";
    return run("musterd", {"--check", "--config", (folder / "m.toml").string()},
               {{"HOME", folder.path().string()}});
  };
  const Finished refused = configure("-1");
  EXPECT_EQ(refused.exit_code, 1);
  EXPECT_NE(refused.output.find("workers/build.toml:10:"), std::string::npos) << refused.output;
  EXPECT_NE(refused.output.find("the resource memory is -1; it must be from 1"), std::string::npos);
  EXPECT_EQ(configure("1").exit_code, 0);
}

TEST(ConfigurationOfAProcess, a_start_with_mistakes_exits_3_before_anything_is_touched) {
  TemporaryFolder folder;
  std::ofstream(folder / "m.toml") << "dataDirectory = \"data\"\nlisten = 1\n";
  const Finished refused = run("musterd", {"--config", (folder / "m.toml").string()});
  EXPECT_EQ(refused.exit_code, 3);
  EXPECT_NE(refused.output.find("m.toml:2:10: error: listen: "), std::string::npos);
  EXPECT_FALSE(fs::exists(folder / "data"));
  EXPECT_EQ(run("musterd", {"--config", (folder / "none").string()}).exit_code, 3);
}

TEST(ConfigurationOfAProcess, the_sample_is_good) {
  const Finished checked =
      run("musterd", {"--check", "--config", std::string(MUSTER_SOURCE) + "/configs/muster.toml"});
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_EQ(checked.output.find(": error: "), std::string::npos) << checked.output;
}

TEST(ConfigurationOfAProcess, the_printed_default_is_good) {
  TemporaryFolder folder;
  const Variables home{{"HOME", folder.path().string()}};
  const Finished printed = run("musterd", {"--print-default-config"}, home);
  EXPECT_EQ(printed.exit_code, 0);
  fs::create_directories(folder / ".local/state");
  std::ofstream(folder / "m.toml") << printed.output;
  const Finished checked =
      run("musterd", {"--check", "--config", (folder / "m.toml").string()}, home);
  EXPECT_EQ(checked.exit_code, 0) << checked.output;
  EXPECT_NE(checked.output.find("m.toml is good"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
