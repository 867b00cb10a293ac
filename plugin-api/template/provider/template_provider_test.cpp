// Runs the contract over the built plugin, and a test of its own. No host is needed.
#include <cstdio>

#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

namespace {

using namespace muster;
using namespace muster::testing;

bool a_lab_without_machines_offers_nothing(const muster_plugin& plugin) {
  FakeContext context;
  const auto channel = DirectChannel::create(plugin, R"({"machines": 0})", context);
  if (!channel) return false;
  ProviderClient provider(**channel);
  const LaunchConfig config{LaunchConfigId("lc-1"),
                            WorkerPoolId("worker-manager/build"),
                            {{{"region", "lab"}}},
                            {{"template_provider", {{"image", "x"}}}}};
  const auto bids =
      provider.bid({{"host", ProviderId("lab"), 1}, config.worker_pool_id, 1, {{config}}}, context);
  return bids && bids->bids.empty() && bids->problems.size() == 1 &&
         bids->problems[0].error_class == ErrorClass::capacity;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: %s PLUGIN.so\n", argv[0]);
    return 2;
  }
  const auto plugin = open_plugin(argv[1]);
  if (!plugin) {
    std::fprintf(stderr, "%s\n", plugin.error().message.c_str());
    return 1;
  }
  const auto checks = check_provider(direct_subject(**plugin));
  std::fputs(report(checks).c_str(), stdout);
  const bool own = a_lab_without_machines_offers_nothing(**plugin);
  std::printf("a lab without machines offers nothing: %s\n", own ? "ok" : "FAILED");
  return all_kept(checks) && own ? 0 : 1;
}
