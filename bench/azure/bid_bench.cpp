// What bids cost with warm prices, and how many calls launches, lists and following launches take.
// A program and not a Google Benchmark: most of what it says are counts.
#include <chrono>
#include <cstdio>
#include <ctime>

#include <muster/testing/fake_host.hpp>

#include "plugins/provider/azure/azure_provider.hpp"
#include "plugins/provider/azure/example_api.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;

constexpr int pools = 1000;

double cpu_milliseconds() {
  return 1000.0 * static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

struct Subject {
  Subject() {
    json::object config = example_config();
    config.erase("example");
    config.erase("priceTable");
    Settings settings = read_settings(config).value();
    auto attestation = Attestation::create(settings.identity).value();
    auto made = std::make_unique<ExampleApi>();
    api = made.get();
    provider = std::make_unique<AzureProvider>(std::move(settings), std::move(attestation),
                                               std::move(made));
    const auto expansion = provider->expand(
        {WorkerPoolId("worker-manager/bench"), placement, {{"azure", example_section()}}}, context);
    for (const LaunchDocument& document : expansion.value().launch_documents)
      launch_configs.push_back({LaunchConfigId("lc-" + std::to_string(launch_configs.size())),
                                WorkerPoolId("worker-manager/bench"), placement, document.document,
                                document.capacity_per_instance, document.instance_type});
  }

  ExampleApi* api;  // the provider's
  std::unique_ptr<AzureProvider> provider;
  testing::FakeContext context;
  Owner owner{"host", ProviderId("az"), 1};
  Placement placement{{{"region", "westeurope"}, {"availabilityZone", "westeurope-1"}}};
  std::vector<LaunchConfig> launch_configs;
};

void measure_bids() {
  Subject subject;
  BidRequest request{.owner = subject.owner,
                     .worker_pool_id = WorkerPoolId("worker-manager/bench"),
                     .capacity = 10,
                     .candidates = {}};
  for (const LaunchConfig& launch_config : subject.launch_configs)
    request.candidates.push_back({launch_config, 1.0, {}});
  (void)subject.provider->bid(request, subject.context).value();  // prices are warm
  const double begin = cpu_milliseconds();
  for (int pool = 0; pool < pools; ++pool)
    (void)subject.provider->bid(request, subject.context).value();
  std::printf("bids of %d pools with %zu launch configurations each: %.1f ms of CPU, %zu calls\n",
              pools, subject.launch_configs.size(), cpu_milliseconds() - begin,
              subject.api->call_count());
}

void measure_launches_and_lists() {
  Subject subject;
  int number = 0;
  for (int batch = 0; batch < 100; ++batch) {
    AllocateRequest request{.owner = subject.owner,
                            .launch_config = subject.launch_configs.front(),
                            .idempotency_keys = {}};
    for (int i = 0; i < 100; ++i)
      request.idempotency_keys.emplace_back("host-1-" + std::to_string(++number));
    const double begin = cpu_milliseconds();
    (void)subject.provider->allocate(request, subject.context).value();
    if (batch != 9) continue;
    std::printf("1000 launches: %zu calls; the last 100: %.1f ms of CPU\n",
                subject.api->call_count(), cpu_milliseconds() - begin);
    subject.context.advance(6s);
    const std::size_t before = subject.api->call_count();
    (void)subject.provider->notices({subject.owner}, subject.context).value();
    std::printf("following 1000 launches: %zu calls\n", subject.api->call_count() - before);
  }
  for (int round = 0; round < 2; ++round) {
    const std::size_t before = subject.api->call_count();
    const double begin = cpu_milliseconds();
    const auto listing = subject.provider->list({subject.owner}, subject.context);
    std::printf(
        "list of %zu machines%s: %zu calls, %.1f ms of CPU with those of the Azure in memory\n",
        listing->instances.size(), round == 0 ? " with a look for leftovers" : "",
        subject.api->call_count() - before, cpu_milliseconds() - begin);
  }
}

}  // namespace
}  // namespace muster::azure

int main() {
  muster::azure::measure_bids();
  muster::azure::measure_launches_and_lists();
}
