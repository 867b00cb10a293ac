// From a chosen bid to an instance: nothing lost, nothing twice. Launches wait for their turn at
// their provider, pool by pool, as fast as the provider takes them.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "host/fleet/allocation/throttle.hpp"
#include "host/fleet/holds/provider_holds.hpp"
#include "host/fleet/lifecycle/termination.hpp"
#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

class Dispatcher : Stage {
 public:
  Dispatcher(const StageContext& context, ProviderHolds& holds, WorkerTermination& termination)
      : Stage(context), holds_(holds), termination_(termination) {}

  // The intents: workers whose rows are durable before a provider is called. Every limit is checked
  // again here, for much may have happened since the bid. Returns how many instances are launched.
  std::int64_t launch(Index pool, Index launch_config, std::int64_t instances, const Bid& bid);
  // With the same key, so that a launch that did happen is found and not repeated.
  void retry(Index worker);

  // It may be called as fast as that. `was_up`: it was called before.
  void provider_up(Index provider, const ProviderSettings& settings, bool was_up);
  // What waits for it is given up.
  void provider_down(Index provider, const std::string& why);
  // Calls the provider for what waits and may go.
  void dispatch(Index provider);
  void answered(const PendingCall& call, const Result<Allocation>& answer);

  // The instance is there. Its worker may have been given up meanwhile: then it ends at once.
  void launched(Index worker, const Instance& instance);
  // The provider took the launch, and nothing came of it. One that has registered is there.
  void failed_later(Index worker, const Error& error);

  const allocation::Throttle& throttle(Index provider) const;
  std::size_t waiting(Index provider) const;
  Time next_wake() const;
  // Forgets what is known of launches that are over.
  void prune();

 private:
  // A launch call that waits for its turn.
  struct Launchable {
    Index pool, launch_config;
    json::value bid;
    std::vector<std::int64_t> workers;  // by number
  };
  struct Lane {
    allocation::Throttle throttle;
    // By pool, and of a pool in the order in which they came; no pool has none.
    std::map<Index, std::deque<Launchable>> waiting;
    std::size_t count = 0;         // of those that wait
    Index last_served = no_index;  // the pool whose turn it was last

    void add(Launchable launchable);
    std::map<Index, std::deque<Launchable>>::iterator next_pool();
    // How many launches the next turn would have; somebody waits.
    std::int64_t next_size() const;
    Launchable take_first(std::map<Index, std::deque<Launchable>>::iterator pool);
  };

  Lane& lane(Index provider);
  bool is_held(const Launchable& launchable) const;
  bool is_doubted(const LaunchConfigState& launch_config) const;
  void give_up(const Launchable& launchable, const std::string& why);
  void send(Index provider, Launchable launchable);
  void launch_error(Index worker, const Error& error);
  void launch_failed(Index worker, const Error& error);
  void launch_uncertain(Index worker, const Error& error);
  void take_instance(Index worker, const Instance& instance);

  ProviderHolds& holds_;
  WorkerTermination& termination_;
  std::vector<Lane> lanes_;                       // by provider
  std::map<std::int64_t, json::value> bid_data_;  // of workers whose launch may be tried again
};

}  // namespace muster::fleet
