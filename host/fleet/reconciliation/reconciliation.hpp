// What the providers say exists, against what the fleet believes.
#pragma once

#include <vector>

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/reconciliation/listed_machines.hpp"

namespace muster::fleet {

class Reconciliation : Stage {
 public:
  Reconciliation(const StageContext& context, WorkerTermination& termination, Draining& draining,
                 Dispatcher& dispatcher, ListedMachines& machines)
      : Stage(context),
        termination_(termination),
        draining_(draining),
        dispatcher_(dispatcher),
        machines_(machines) {}

  // From now on an instance that belongs to no pool is ended.
  void pools_are_configured();
  void provider_up(Index provider);
  // Asks the provider for listings and notices that are due.
  void ask(Index provider);
  void listed(const PendingCall& call, const Result<Listing>& answer);
  void noticed(const PendingCall& call, const Result<Notices>& answer);

  void clock_was_set();
  Time next_wake() const;

 private:
  struct Watch {
    CallId listing = 0, noticing = 0;  // 0: none is under way
    bool for_pools = false;            // the listing was asked for when pools were configured
    Time notices_at{};
    std::int64_t bad_listings = 0;  // in a row, that lack too much to be believed
  };
  Watch& watch(Index provider);
  Index reconcile_instance(Index provider, const Instance& instance);
  void unknown_instance(Index provider, const Instance& instance);
  void lists_are_known(Index provider);
  void end_stranger(Index provider, const Instance& instance);
  void missing_instances(Index provider, const std::vector<bool>& seen, const Listing& listing,
                         Time began);
  void never_launched(Index worker);

  WorkerTermination& termination_;
  Draining& draining_;
  Dispatcher& dispatcher_;
  ListedMachines& machines_;
  std::vector<Watch> watches_;  // by provider
  bool configured_ = false;
};

}  // namespace muster::fleet
