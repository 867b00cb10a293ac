// Machines that a provider declares in its listings.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "host/fleet/lifecycle/declared_machines.hpp"
#include "host/fleet/reconciliation/absent_workers.hpp"

namespace muster::fleet {

class ListedMachines : Stage {
 public:
  ListedMachines(const StageContext& context, WorkerTermination& termination,
                 DeclaredMachines& machines)
      : Stage(context), termination_(termination), machines_(machines) {}

  // Takes in what the listing declares, and notes it as listed. What it no longer declares is
  // judged with all that a listing lacks.
  void follow(Index provider, const Listing& listing, Seen& seen);
  // Machines that were refused because the pool did not have what they need are tried again.
  void list_refused(const Pool& pool);

 private:
  // The worker that it is; no_index if it cannot be one. `problem`: what is wrong with it.
  Index take(Index provider, const AnnouncedMachine& machine, std::set<std::string>& names,
             std::string& problem);
  Index update(Index known, const AnnouncedMachine& machine, Index launch_config);

  WorkerTermination& termination_;
  DeclaredMachines& machines_;
  // By provider: the machines of its last listing that were refused, by name, and why.
  std::vector<std::map<std::string, std::string>> refused_;
};

}  // namespace muster::fleet
