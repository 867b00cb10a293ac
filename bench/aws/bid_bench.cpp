// What bids cost with warm prices, and how many calls lists and launches take. A program and not a
// Google Benchmark: most of what it says are counts.
#include <chrono>
#include <cstdio>

#include <muster/testing/fake_host.hpp>

#include "plugins/provider/aws/aws_provider.hpp"
#include "plugins/provider/aws/example_api.hpp"

namespace muster::aws {
namespace {

using Steady = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int pools = 1000, launch_configs = 20;

const std::vector<std::string> regions{"us-east-1", "us-west-2", "eu-west-1", "ap-south-1"};

struct Subject {
  Subject() {
    Settings settings =
        read_settings({{"regions", json::array(regions.begin(), regions.end())}}).value();
    auto keys = IdentityKeys::read(settings).value();
    auto made = std::make_unique<ExampleApi>(regions);
    api = made.get();
    provider = std::make_unique<AwsProvider>(std::move(settings), std::move(keys), std::move(made));
  }

  ExampleApi* api;  // the provider's
  std::unique_ptr<AwsProvider> provider;
  testing::FakeContext context;
  Owner owner{"host", ProviderId("ec2"), 1};
};

std::vector<LaunchConfig> launch_configs_in(Subject& subject, const std::string& region) {
  json::array types;
  for (const char* family : {"m5", "c5", "r5", "m6i", "c6i"})
    for (const char* size : {"large", "xlarge"})
      types.push_back(json::object{{"type", std::string(family) + "." + size}});
  const json::object section{{"launch", json::object{{"ImageId", "ami-1"}}},
                             {"instanceTypes", std::move(types)},
                             {"market", json::array{spot, on_demand}}};
  const Placement placement{{{"region", region}, {"availabilityZone", region + "a"}}};
  const auto expansion = subject.provider->expand(
      {WorkerPoolId("worker-manager/bench"), placement, {{"aws", section}}}, subject.context);
  std::vector<LaunchConfig> made;
  for (const LaunchDocument& document : expansion.value().launch_documents)
    made.push_back({LaunchConfigId("lc-" + std::to_string(made.size())),
                    WorkerPoolId("worker-manager/bench"), placement, document.document,
                    document.capacity_per_instance, document.instance_type});
  return made;
}

void measure_bids() {
  Subject subject;
  BidRequest request{.owner = subject.owner,
                     .worker_pool_id = WorkerPoolId("worker-manager/bench"),
                     .capacity = 10,
                     .candidates = {}};
  for (const LaunchConfig& launch_config : launch_configs_in(subject, "us-east-1"))
    request.candidates.push_back({launch_config, 1.0, {}});
  std::size_t bids =
      subject.provider->bid(request, subject.context)->bids.size();  // prices are warm
  if (bids != launch_configs) std::printf("only %zu launch configurations have bids\n", bids);
  const auto begin = Steady::now();
  for (int pool = 0; pool < pools; ++pool)
    bids += subject.provider->bid(request, subject.context)->bids.size();
  std::printf("bids of %d pools with %d launch configurations each: %.1f ms, %zu calls\n", pools,
              launch_configs, Milliseconds(Steady::now() - begin).count(),
              subject.api->calls().size());
}

void measure_launches_and_lists() {
  Subject subject;
  int number = 0;
  std::size_t before = 0;
  for (const std::string& region : regions)
    for (int batch = 0; batch < 25; ++batch) {
      AllocateRequest request{.owner = subject.owner,
                              .launch_config = launch_configs_in(subject, region).front(),
                              .idempotency_keys = {}};
      for (int i = 0; i < 100; ++i)
        request.idempotency_keys.emplace_back("host-1-" + std::to_string(++number));
      (void)subject.provider->allocate(request, subject.context).value();
      if (number == 1000)
        std::printf("1000 launches: %zu calls\n", subject.api->calls().size() - before);
    }
  before = subject.api->calls().size();
  const auto begin = Steady::now();
  const auto listing = subject.provider->list({subject.owner}, subject.context);
  std::printf("list of %zu machines over 4 regions: %zu calls, %.1f ms without the wire\n",
              listing->instances.size(), subject.api->calls().size() - before,
              Milliseconds(Steady::now() - begin).count());
}

}  // namespace
}  // namespace muster::aws

int main() {
  muster::aws::measure_bids();
  muster::aws::measure_launches_and_lists();
}
