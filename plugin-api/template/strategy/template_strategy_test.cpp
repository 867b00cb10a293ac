// Runs the contract over the built plugin, and a test of its own. No host is needed.
#include <cstdio>

#include <muster/testing/contract.hpp>
#include <muster/testing/fake_host.hpp>

namespace {

using namespace muster;
using namespace muster::testing;

bool too_dear_is_not_taken(const muster_plugin& plugin) {
  FakeContext context;
  const auto channel = DirectChannel::create(plugin, R"({"maxPrice": 0.5})", context);
  if (!channel) return false;
  StrategyClient strategy(**channel);
  const auto selection =
      strategy.select({WorkerPoolId("worker-manager/build"),
                       3,
                       {0, 10},
                       {{BidId("dear"), ProviderId("p"), 1, {LaunchConfigId("lc-1"), 1, 5, 0.6}},
                        {BidId("cheap"), ProviderId("p"), 1, {LaunchConfigId("lc-2"), 1, 2, 0.1}}}},
                      context);
  return selection && selection->choices.size() == 1 &&
         selection->choices[0].bid_id == BidId("cheap") && selection->choices[0].instances == 2;
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
  const auto checks = check_strategy(direct_subject(**plugin));
  std::fputs(report(checks).c_str(), stdout);
  const bool own = too_dear_is_not_taken(**plugin);
  std::printf("an offer that is too dear is not taken: %s\n", own ? "ok" : "FAILED");
  return all_kept(checks) && own ? 0 : 1;
}
