// A host for tests of the command line.
#pragma once

#include <fstream>
#include <stdexcept>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"

namespace muster::testing {

// A host with one pool that has workers, and a home folder of the person who asks.
class CommandsOfAHost : public ::testing::Test {
 protected:
  CommandsOfAHost() {
    std::filesystem::create_directories(folder / "workers");
    std::ofstream(folder / "workers/build.toml")
        << "workerTypes = [\"build\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
           "[rules.values]\nproviders = [\"sim\"]\nowner = \"a@example.com\"\n"
           "description = \"Builds\"\nmaxCapacity = 4\nsimulated.instanceTypes = [\"small\"]\n";
    std::ofstream(folder / "demand.json") << R"({"worker-manager/build": 2})";
    host = std::make_unique<Musterd>(
        "[http]\naccessLog = false\n[workerConfigurations]\nsource = { folder = \"" +
            (folder / "workers").string() +
            "\" }\n[providers.sim]\nplugin = \"provider/simulated\"\n"
            "[providers.rack]\nplugin = \"provider/static\"\n"
            "[[providers.rack.config.machines]]\nworkerPoolId = \"worker-manager/rack\"\n"
            "workerId = \"m-1\"\n[strategies.classic]\n"
            "plugin = \"strategy/classic\"\n[demand.cron]\ntype = \"file\"\nfile = \"" +
            (folder / "demand.json").string() + "\"\n",
        Variables{}, MUSTER_SHIPPED_PLUGINS);
    variables = {{"HOME", folder.path().string()}};
    log_in();
  }

  void log_in() {
    const Finished done =
        run("muster", {"login", "--url", host->address().url, "--token", host->address().token},
            variables);
    EXPECT_EQ(done.exit_code, 0) << done.output;
  }
  std::string said(const std::vector<std::string>& arguments, int exit_code = 0) {
    const Finished done = run("muster", arguments, variables);
    EXPECT_EQ(done.exit_code, exit_code) << done.output;
    return done.output;
  }
  json::object document(std::vector<std::string> arguments) {
    arguments.push_back("--json");
    const auto parsed = json::parse_object(said(arguments));
    EXPECT_TRUE(parsed);
    return parsed ? *parsed : json::object();
  }
  void wait_for_workers() {
    for (int i = 0; i < 300; ++i) {
      const auto workers = document({"workers", "build"}).at("workers").as_array();
      if (workers.size() == 2 && !workers[0].at("workerId").as_string().empty() &&
          !workers[1].at("workerId").as_string().empty())
        return;
    }
    throw std::runtime_error("there never were two workers");
  }

  TemporaryFolder folder;
  std::unique_ptr<Musterd> host;
  Variables variables;
};

}  // namespace muster::testing
