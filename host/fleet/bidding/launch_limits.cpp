#include "host/fleet/bidding/launch_limits.hpp"

#include <algorithm>

#include "host/fleet/bidding/fair_share.hpp"
#include "host/fleet/model/sanitize.hpp"

namespace muster::fleet {

Weights LaunchLimits::weights_of(const Pool& pool, Time now) const {
  std::vector<bidding::WeightInput> inputs;
  Weights result;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& launch_config = launch_configs_[at];
    if (launch_config.status != LaunchConfigStatus::active) continue;
    bidding::WeightInput input{.initial_weight = launch_config.spec->initial_weight,
                               .running = launch_config.totals.running_workers,
                               .health = launch_config.health.last_hour(now),
                               .outcomes = outcomes_.weight_factor(launch_config, now)};
    for (const Index worker : launch_config.unregistered)
      if (workers_[worker].state == WorkerState::requested &&
          workers_[worker].launch_config == at) {
        input.oldest_unregistered = now - workers_[worker].since;
        break;
      }
    inputs.push_back(input);
    result.emplace_back(at, bidding::Weight{});
  }
  const auto weights = bidding::weights(inputs);
  for (std::size_t i = 0; i < result.size(); ++i) result[i].second = weights[i];
  return result;
}

std::int64_t LaunchLimits::instances_room(Index pool_index, Index index) const {
  const LaunchConfigState& launch_config = launch_configs_[index];
  std::int64_t room = registry_.capacity_room(pool_index, index);
  const Index provider = launch_config.provider;
  if (provider < shares_.size() && pool_index < shares_[provider].size())
    room = std::min(room, shares_[provider][pool_index] - held_of(pools_[pool_index], provider));
  return std::max<std::int64_t>(room, 0) / instance_capacity(*launch_config.spec);
}

// -------------------------------------------------------------------------------------------------
// Fair shares

// By what each pool has and wants of the provider together, so that one that has much waits for one
// that has little. Whom a remainder goes to changes from time to time.
void LaunchLimits::share_scarce_providers() {
  shares_.resize(providers_.size());
  for (Index at = 0; at < providers_.size(); ++at) {
    const ProviderState& provider = providers_[at];
    shares_[at].clear();
    if (!provider.settings.max_capacity) continue;
    std::vector<Claim> claims;
    for (Index pool = 0; pool < pools_.size(); ++pool)
      if (const Claim claim = claim_on(pool, at); claim.held + claim.wants > 0)
        claims.push_back(claim);
    if (claims.empty()) continue;
    std::vector<std::int64_t> sums;
    for (const Claim& claim : claims) sums.push_back(claim.held + claim.wants);
    const std::int64_t limit = std::max<std::int64_t>(
        0, *provider.settings.max_capacity - registry_.protected_rows().capacity_of(provider.id));
    const auto first = static_cast<std::size_t>(outbox_.coming_number()) % claims.size();
    std::vector<std::int64_t> shares = bidding::fair_shares(sums, limit, first);
    share_by_whole_instances(claims, limit, first, shares);
    shares_[at].resize(pools_.size(), 0);
    for (std::size_t i = 0; i < claims.size(); ++i) shares_[at][claims[i].pool] = shares[i];
  }
}

// Half an instance is none: what the halves leave over goes to a pool that can make a whole one of
// it, in a circle, so that two pools do not wait for each other for ever.
void LaunchLimits::share_by_whole_instances(const std::vector<Claim>& claims, std::int64_t limit,
                                            std::size_t first, std::vector<std::int64_t>& shares) {
  std::int64_t left = limit;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const Claim& claim = claims[i];
    const std::int64_t more = std::max<std::int64_t>(0, shares[i] - claim.held);
    shares[i] = claim.held + (claim.wants > 0 ? more / claim.unit * claim.unit : 0);
    left -= shares[i];
  }
  for (bool given = true; given;) {
    given = false;
    for (std::size_t step = 0; step < claims.size(); ++step) {
      const std::size_t i = (first + step) % claims.size();
      const Claim& claim = claims[i];
      if (claim.wants == 0 || claim.unit > left || shares[i] >= claim.held + claim.wants) continue;
      shares[i] += claim.unit;
      left -= claim.unit;
      given = true;
    }
  }
}

std::int64_t LaunchLimits::held_of(const Pool& pool, Index provider) const {
  std::int64_t held = 0;
  for (const Index at : pool.launch_configs)
    if (launch_configs_[at].provider == provider) held += launch_configs_[at].totals.occupied();
  return held;
}

// What the pool has of the provider, and what it wants more: whole instances of the smallest kind
// that it could launch there.
LaunchLimits::Claim LaunchLimits::claim_on(Index index, Index provider) const {
  const Pool& pool = pools_[index];
  Claim claim{.pool = index, .held = held_of(pool, provider)};
  if (pool.want <= 0) return claim;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& launch_config = launch_configs_[at];
    if (launch_config.provider != provider || launch_config.status != LaunchConfigStatus::active)
      continue;
    const std::int64_t unit = instance_capacity(*launch_config.spec);
    if (registry_.capacity_room(index, at) < unit || holds_.find(launch_config) ||
        doubt_about(providers_[provider], launch_config.spec->launch_config))
      continue;
    claim.unit = claim.unit == 0 ? unit : std::min(claim.unit, unit);
  }
  if (claim.unit > 0) claim.wants = (pool.want + claim.unit - 1) / claim.unit * claim.unit;
  return claim;
}

}  // namespace muster::fleet
