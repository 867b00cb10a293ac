// The demand of each pool: what sources outside report, and what waits in the queue as demand of
// the pools that could serve it.
#pragma once

#include <vector>

#include "host/fleet/holds/provider_holds.hpp"
#include "host/fleet/model/assigned_demand.hpp"
#include "host/fleet/queue_link/queue_link.hpp"

namespace muster::fleet {

class QueueDemand : Stage {
 public:
  QueueDemand(const StageContext& context, QueueLink& link, const ProviderHolds& holds)
      : Stage(context), link_(link), holds_(holds) {}

  // All that sources outside report: a pool that is not named has none.
  void outside_changed(const Demand& demand);
  // Takes the queue's demand over when it is due: when something has changed, and from time to time
  // while something waits, for pools grow and shrink.
  void measure();
  Time next_wake() const;

  // See Fleet::assign_demand.
  void assign(const std::vector<queue::WaitingCapacity>& demand, const TakeDemand& take) const;

 private:
  void add_up(Index pool);

  struct Servers;
  Servers servers_in(const Pool& pool, const queue::WaitingCapacity& waiting) const;
  bool could_launch_now(const LaunchConfigState& launch_config) const;

  QueueLink& link_;
  const ProviderHolds& holds_;
  Time measured_{};
};

}  // namespace muster::fleet
