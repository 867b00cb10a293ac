// How much may be launched from a launch configuration now, how likely it is to be chosen, and what
// is in its way: limits, fair shares of what is scarce, holds, pauses, health.
#pragma once

#include <optional>
#include <vector>

#include "host/fleet/bidding/weights.hpp"
#include "host/fleet/holds/provider_holds.hpp"
#include "host/fleet/outcomes/task_outcomes.hpp"
#include "host/fleet/workers/stage.hpp"
#include "host/verdict/verdict.hpp"

namespace muster::fleet {

class LaunchLimits : Stage {
 public:
  LaunchLimits(const StageContext& context, const ProviderHolds& holds,
               const TaskOutcomes& outcomes)
      : Stage(context), holds_(holds), outcomes_(outcomes) {}

  // The weights of the pool's active launch configurations as the next bidding would see them.
  Weights weights_of(const Pool& pool, Time now) const;

  // Divides what providers with a limit have among the pools that want it.
  void share_scarce_providers();
  // How many instances the limits and the pool's share leave room for.
  std::int64_t instances_room(Index pool, Index launch_config) const;
  // Nothing: it can be launched, `instances` of it at most.
  std::optional<verdict::Obstacle> obstacle_of(Index pool, Index launch_config,
                                               const bidding::Weight& weight,
                                               std::int64_t& instances) const;
  // The pool's providers that are down and of which it has no launch configurations.
  std::vector<verdict::Obstacle> missing_providers(Index pool) const;

 private:
  // What a pool has and wants of a provider whose limit is shared.
  struct Claim {
    Index pool = no_index;
    std::int64_t held = 0, wants = 0, unit = 0;  // unit: the capacity of one instance
  };
  Claim claim_on(Index pool, Index provider) const;
  static void share_by_whole_instances(const std::vector<Claim>& claims, std::int64_t limit,
                                       std::size_t first, std::vector<std::int64_t>& shares);
  std::int64_t held_of(const Pool& pool, Index provider) const;
  verdict::Obstacle limit_of(Index pool, Index launch_config) const;

  const ProviderHolds& holds_;
  const TaskOutcomes& outcomes_;
  std::vector<std::vector<std::int64_t>> shares_;  // by provider with a limit, by pool
};

}  // namespace muster::fleet
