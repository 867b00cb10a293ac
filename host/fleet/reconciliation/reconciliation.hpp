// What the providers say exists, against what the fleet believes.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/reconciliation/absent_workers.hpp"
#include "host/fleet/reconciliation/listed_machines.hpp"

namespace muster::fleet {

class Reconciliation : Stage {
 public:
  Reconciliation(const StageContext& context, WorkerTermination& termination, Draining& draining,
                 Dispatcher& dispatcher, AbsentWorkers& absent, ListedMachines& machines)
      : Stage(context),
        termination_(termination),
        draining_(draining),
        dispatcher_(dispatcher),
        absent_(absent),
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
  // The store lost changes, and what runs at some provider is not known yet.
  bool awaits_lists() const;

 private:
  struct Watch {
    CallId listing = 0, noticing = 0;  // 0: none is under way
    bool for_pools = false;            // the listing was asked for when pools were configured
    Time notices_at{};
    // Of the last listing, by name: they were told.
    std::set<std::string> strangers, duplicates;
  };
  Watch& watch(Index provider);
  Index reconcile_instance(Index provider, const Instance& instance);
  void take_in(Index provider, const Instance& instance);
  void lists_are_known(Index provider);
  void end_strangers(Index provider);
  std::vector<const Instance*> own_instances(Index provider, const Listing& listing) const;

  WorkerTermination& termination_;
  Draining& draining_;
  Dispatcher& dispatcher_;
  AbsentWorkers& absent_;
  ListedMachines& machines_;
  std::vector<Watch> watches_;  // by provider
  // Of the listing that is being looked at: instances that no worker stands for, those of them that
  // belong to nothing, and how many are unwanted.
  std::vector<const Instance*> unknown_, strangers_;
  int unwanted_ = 0;
  std::set<std::string> duplicates_;  // by name
  bool configured_ = false;
};

}  // namespace muster::fleet
