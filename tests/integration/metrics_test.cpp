// The table in docs/operating.md is what operators build alerts from: a running host serves nothing
// that is not in it.
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/raw_client.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::testing {
namespace {

std::set<std::string> served_metrics(std::uint16_t port) {
  RawClient client(port);
  client.send("GET /metrics HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  std::istringstream page(client.read_all());
  std::set<std::string> names;
  for (std::string line; std::getline(page, line);)
    if (line.starts_with("# TYPE ")) names.insert(line.substr(7, line.find(' ', 7) - 7));
  return names;
}

TEST(Metrics, each_that_is_served_is_in_the_documentation) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "workers");
  std::ofstream(folder / "workers/build.toml")
      << "workerTypes = [\"build\"]\n[[rules]]\nruleId = \"all\"\ndescription = \"All\"\n"
         "[rules.values]\nproviders = [\"sim\", \"bad\"]\nowner = \"team@example.com\"\n"
         "description = \"Builds\"\nmaxCapacity = 40\nsimulated.instanceTypes = [\"small\"]\n";
  std::ofstream(folder / "demand.json") << R"({"worker-manager/build": 30})";
  const Musterd host(
      "[workerConfigurations]\nsource = { folder = \"" + (folder / "workers").string() +
          "\" }\n[providers.sim]\nplugin = \"provider/simulated\"\n[providers.bad]\nplugin = "
          "\"provider/simulated\"\n[providers.bad.config]\n"
          "failures = [{ method = \"allocate\", class = \"quota\" }]\n"
          "[demand.cron]\ntype = \"file\"\nfile = \"" +
          (folder / "demand.json").string() + "\"\n",
      {}, MUSTER_SHIPPED_PLUGINS);
  // What an operator alerts on comes when it happened.
  for (const char* name :
       {"muster_fleet_launches_total", "muster_fleet_plugin_call_duration_seconds",
        "muster_fleet_desired_capacity", "muster_fleet_max_capacity", "muster_demand_age_seconds",
        "muster_configuration_problems", "muster_auth_refusals_total",
        "muster_notifications_sent_total"})
    EXPECT_TRUE(eventually([&] { return served_metrics(host.port()).contains(name); })) << name;
  std::ifstream in(MUSTER_SOURCE "/docs/operating.md");
  const std::string docs{std::istreambuf_iterator<char>(in), {}};
  for (const std::string& name : served_metrics(host.port())) {
    const bool is_shown = docs.find("`" + name + "`") != std::string::npos ||
                          docs.find("`" + name + "{") != std::string::npos;
    EXPECT_TRUE(is_shown || name.starts_with("process_")) << name;
  }
}

}  // namespace
}  // namespace muster::testing
