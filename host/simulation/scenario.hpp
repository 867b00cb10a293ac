// What is simulated: clouds, pools, work that arrives, and what goes wrong.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/fleet/model/configuration.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/fleet/model/settings.hpp"
#include "plugins/provider/simulated/settings.hpp"

namespace muster::simulation {

using std::chrono::milliseconds;

// Probabilities, of each call or each commit unless it says otherwise.
struct Faults {
  double call_fails = 0;   // with a typed error and no effect
  double answer_lost = 0;  // the effect is there, the answer is not
  double effect_late = 0;  // the call times out, and takes effect after that
  double call_slow = 0;
  milliseconds slowest = std::chrono::seconds(90);
  double listing_lies = 0;      // leaves some out, others each time
  double listing_invents = 0;   // shows what is not there, or not ours, or twice
  double launched_twice = 0;    // a provider that breaks its promise
  double crash = 0;             // of the host, at a write to its store, before or after it
  double crashes_per_hour = 0;  // of the host, likewise, however much it writes
  double clock_jumps_per_hour = 0;
  milliseconds largest_jump = std::chrono::hours(3);
  double notice_repeated = 0;            // duplicate and late notices
  double never_registers = 0;            // of each machine
  double dies_per_hour = 0;              // of each machine
  double client_dies = 0;                // of the queue, while it waits or holds
  double provider_outages_per_hour = 0;  // each of up to an hour
  // Times in which the listings of a cloud leave out the same machines, again and again.
  double lying_times_per_hour = 0;
  milliseconds longest_lie = std::chrono::hours(2);
  double smallest_lie = 0, largest_lie = 1;  // as a share of the machines
  bool lies_by_region = true;                // about one region, now and then
  // Times in which the host neither hears nor decides: it is frozen, or its store takes nothing.
  double freezes_per_hour = 0;
  double commit_fails = 0;  // it is tried again until it succeeds
  double commit_torn = 0;   // of those that fail: it is durable all the same
  milliseconds longest_deafness = std::chrono::minutes(30);
  // The host dies, and an older copy of its store is put in its place.
  double restores_per_hour = 0;
};

struct Arrival {
  milliseconds at{};  // since the start
  WorkerPoolId worker_pool_id;
  std::int64_t tasks = 1;
  milliseconds each = std::chrono::minutes(5);
};

struct ProviderScenario {
  ProviderId provider_id;
  simulated::Settings cloud;
  fleet::ProviderSettings settings;
  bool has_notices = true;  // a cloud that never takes a machine away need not be asked
};

struct ConfigurationChange {
  milliseconds at{};
  std::shared_ptr<const fleet::Configuration> configuration;
};

struct Scenario {
  std::uint64_t seed = 1;
  milliseconds duration = std::chrono::hours(1);
  // After that: no work arrives and no pool is configured, nothing fails any more, and everything
  // must end.
  milliseconds wind_down = std::chrono::hours(8);
  fleet::Settings settings;
  std::vector<ProviderScenario> providers;
  std::vector<ConfigurationChange> configurations;  // in the order of time; the first at 0
  std::vector<Arrival> arrivals;                    // likewise
  double leases_per_hour = 0;    // clients of the queue, of the teams of `settings`
  std::int64_t lease_crowd = 1;  // so many of them come at once, now and then
  Faults faults;
  bool ends_by_draining =
      true;  // false: the simulation stops at `duration`, for an operator's question
  // And it stops before, once no work is left and no machine that nobody wants to keep.
  bool ends_when_done = false;
  // The invariants over the whole fleet are checked every so many steps: looking at all workers
  // costs more than most steps do. What a single call tells is checked always.
  std::int64_t check_every = 1;
};

}  // namespace muster::simulation
