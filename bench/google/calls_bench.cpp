// How many calls launches, lists and following take, and what they cost without the wire. A program
// and not a Google Benchmark: most of what it says are counts.
#include <chrono>
#include <cstdio>

#include <muster/testing/fake_host.hpp>

#include "plugins/provider/google/example_api.hpp"
#include "plugins/provider/google/google_provider.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using Steady = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

constexpr int pools = 1000, machines = 10'000, of_call = 100;

struct Subject {
  Subject() {
    auto made = std::make_unique<ExampleApi>();
    api = made.get();
    provider =
        GoogleProvider::over(read_settings(example_config()).value(), std::move(made)).value();
  }

  LaunchConfig launch_config(std::size_t index) {
    const Placement placement{{{"region", "us-central1"}, {"availabilityZone", "us-central1-a"}}};
    const auto expansion = provider->expand(
        {WorkerPoolId("worker-manager/bench"), placement, {{words.section, example_section()}}},
        context);
    const LaunchDocument& document = expansion.value().launch_documents.at(index);
    return {LaunchConfigId("lc-" + std::to_string(index)),
            WorkerPoolId("worker-manager/bench"),
            placement,
            document.document,
            document.capacity_per_instance,
            document.instance_type};
  }

  ExampleApi* api;  // the provider's
  std::unique_ptr<GoogleProvider> provider;
  testing::FakeContext context;
  Owner owner{"host", ProviderId("gcp"), 1};
};

void measure_bids() {
  Subject subject;
  BidRequest request{.owner = subject.owner,
                     .worker_pool_id = WorkerPoolId("worker-manager/bench"),
                     .capacity = 10,
                     .candidates = {}};
  for (std::size_t index = 0; index < 4; ++index)
    request.candidates.push_back({subject.launch_config(index), 1.0, {}});
  const auto begin = Steady::now();
  std::size_t bids = 0;
  for (int pool = 0; pool < pools; ++pool)
    bids += subject.provider->bid(request, subject.context)->bids.size();
  std::printf("bids of %d pools with 4 launch configurations each: %.1f ms, %zu bids, %zu calls\n",
              pools, Milliseconds(Steady::now() - begin).count(), bids,
              subject.api->calls().size());
}

void measure_launches_and_lists() {
  Subject subject;
  const LaunchConfig launch_config = subject.launch_config(1);
  for (int number = 0; number < machines;) {
    AllocateRequest request{
        .owner = subject.owner, .launch_config = launch_config, .idempotency_keys = {}};
    for (int i = 0; i < of_call; ++i)
      request.idempotency_keys.emplace_back("host-1-" + std::to_string(++number));
    (void)subject.provider->allocate(request, subject.context).value();
    if (number == 1000) std::printf("1000 launches: %zu calls\n", subject.api->calls().size());
  }
  const std::size_t before = subject.api->calls().size();
  const auto begin = Steady::now();
  const auto listing = subject.provider->list({subject.owner}, subject.context);
  std::printf("list of %zu machines: %zu calls, %.1f ms without the wire\n",
              listing->instances.size(), subject.api->calls().size() - before,
              Milliseconds(Steady::now() - begin).count());
}

}  // namespace
}  // namespace muster::google

int main() {
  muster::google::measure_bids();
  muster::google::measure_launches_and_lists();
}
