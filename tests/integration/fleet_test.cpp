// From worker configurations in git and demand in a file to workers, in a real host.
#include <fstream>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/git_repository.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

std::string workers(const std::string& max_capacity) {
  return R"(workerTypes = ["build"]
[[rules]]
ruleId = "all"
description = "All of them"
[rules.values]
providers = ["sim"]
owner = "team@example.com"
description = "Builds"
simulated.instanceTypes = ["small"]
maxCapacity = )" +
         max_capacity + "\n";
}

void replace(const std::filesystem::path& file, const std::string& text) {
  std::ofstream(file.string() + "~") << text;
  std::filesystem::rename(file.string() + "~", file);
}

// What the host says, once it says so.
json::value when(const Musterd& host, const std::string& path,
                 const std::function<bool(const json::value&)>& so) {
  json::value last;
  for (int i = 0; i < 20'000; ++i) {
    if (const auto answer = host.client().get("/api/muster/v1/" + path)) {
      last = *answer;
      if (so(last)) return last;
    }
    std::this_thread::sleep_for(1ms);
  }
  throw std::runtime_error(path + " never said so, but " + json::write(last));
}

TEST(FleetRuntime, starts_workers_for_demand_and_refuses_a_bad_push) {
  const GitRepository work;
  work.write("build.toml", workers("4"));
  const std::string first = work.commit();
  const TemporaryFolder folder;
  const auto demand = folder / "demand.json";
  replace(demand, R"({"worker-manager/build": 3})");
  // Nobody reads what the host writes meanwhile.
  const Musterd host("[http]\naccessLog = false\n[workerConfigurations]\nsource = { git = \"" +
                     work.path().string() +
                     "\", ref = \"main\" }\n[providers.sim]\nplugin = \"provider/simulated\"\n"
                     "[strategies.classic]\nplugin = \"strategy/classic\"\n"
                     "[demand.cron]\ntype = \"file\"\nfile = \"" +
                     demand.string() + "\"\n");
  // The host waits for its provider, which comes late.
  when(host, "worker-configurations",
       [](const json::value& said) { return !said.at("waits").as_array().empty(); });
  for (const char* plugin : {"strategy/classic", "provider/simulated"}) {
    const Finished installed =
        run("muster", {"plugin", "install", std::string(MUSTER_SHIPPED_PLUGINS) + "/" + plugin},
            {{"MUSTER_URL", host.address().url}, {"MUSTER_TOKEN", host.address().token}});
    ASSERT_EQ(installed.exit_code, 0) << installed.output;
  }
  const auto workers_of = [](const json::value& pools) {
    const auto& list = pools.at("pools").as_array();
    return list.empty() ? 0
                        : list[0].at("capacity").at("requested").as_int64() +
                              list[0].at("capacity").at("running").as_int64();
  };
  when(host, "pools", [&](const json::value& pools) { return workers_of(pools) == 3; });
  work.write("build.toml", workers("\"many\""));
  work.commit();
  const auto status = when(host, "worker-configurations", [](const json::value& said) {
    return said.as_object().contains("refusedRevision");
  });
  EXPECT_EQ(status.at("revision").as_string(), first);
  EXPECT_THAT(json::write(status), HasSubstr("build.toml:10:1: maxCapacity"));
  replace(demand, R"({"worker-manager/build": 9})");
  when(host, "pools", [&](const json::value& pools) { return workers_of(pools) == 4; });
  const auto sources = when(host, "demand", [](const json::value&) { return true; });
  EXPECT_EQ(sources.at("sources").at(0).at("pending").as_int64(), 9);
}

}  // namespace
}  // namespace muster::testing
