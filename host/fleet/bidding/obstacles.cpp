// What keeps a launch configuration from being launched now, and who can change that.
#include <muster/codec.hpp>

#include "host/fleet/bidding/launch_limits.hpp"
#include "host/fleet/model/sanitize.hpp"
#include "host/fleet/model/words.hpp"

namespace muster::fleet {
namespace {

std::string who_resolves(const bidding::Hold& hold) {
  const std::string provider = hold.provider_id.str();
  switch (hold.error.error_class) {
    case ErrorClass::capacity:
      return "only " + provider +
             "; the pool's owner can allow other regions, zones or instance types";
    case ErrorClass::quota:
      return "the administrator of the account of " + provider + ", by raising its quota";
    case ErrorClass::auth:
      return "an operator, by correcting the credentials or permissions of " + provider;
    case ErrorClass::throttle:
    case ErrorClass::transient:
    case ErrorClass::cancelled:
      return "it passes by itself; an operator can retry now: muster holds release " + provider;
    case ErrorClass::internal:
      return "the maintainer of the plugin of " + provider;
    default:
      return "the pool's owner, by correcting the worker configuration for " + provider;
  }
}

std::string scope_of(const bidding::Hold& hold) {
  const std::string provider = "provider " + hold.provider_id.str();
  return hold.error.scope.whole_provider() ? provider : provider + ", " + hold.scope_text();
}

verdict::Obstacle held(const bidding::Hold& hold, const std::string& name) {
  verdict::Obstacle obstacle{.cause = std::string(to_string(hold.error.error_class)),
                             .scope = scope_of(hold),
                             .text = name + ": " + hold.in_words(),
                             .who = who_resolves(hold)};
  if (!hold.probing) obstacle.until = hold.until;  // else its canary wakes the pool
  return obstacle;
}

verdict::Obstacle unavailable(const ProviderState& provider, const std::string& prefix) {
  return {.cause = verdict::cause::provider_down,
          .scope = "provider " + provider.id.str(),
          .text = prefix + "provider " + provider.id.str() + " is not available" +
                  (provider.trouble.empty() ? "" : ": " + provider.trouble),
          .who = "an operator: see `muster plugin list` and the log for " + provider.id.str()};
}

verdict::Obstacle paused(const LaunchConfigState& launch_config, const std::string& name) {
  return {.cause = verdict::cause::paused,
          .scope = "launch configuration " + name,
          .text = name + ": paused until " + format_time(launch_config.paused_until) +
                  (launch_config.pause_reason.empty() ? "" : ": " + launch_config.pause_reason),
          .until = launch_config.paused_until,
          .who = "an operator: muster launch-configs resume " +
                 launch_config.spec->launch_config.worker_pool_id.str() + " " + name};
}

}  // namespace

// Which of the limits it is that leaves no room for one more.
verdict::Obstacle LaunchLimits::limit_of(Index pool_index, Index index) const {
  const Pool& pool = pools_[pool_index];
  const LaunchConfigState& launch_config = launch_configs_[index];
  const ProviderState& provider = providers_[launch_config.provider];
  const LaunchConfigSpec& spec = *launch_config.spec;
  const std::string name = spec.launch_config.launch_config_id.str();
  const std::int64_t unit = instance_capacity(spec);
  const std::string owner = pool.spec ? pool.spec->owner : "";
  const std::string by_owner =
      (owner.empty() ? "an operator, " : "the pool's owner, " + owner + ", ") + "by raising ";
  if (spec.max_capacity && *spec.max_capacity - launch_config.totals.used() < unit)
    return {.cause = verdict::cause::launch_config_limit,
            .scope = "launch configuration " + name,
            .text = name + ": no room for another worker: workerManager.maxCapacity is " +
                    std::to_string(*spec.max_capacity) + ", " + in_words(launch_config.totals),
            .who = by_owner + "workerManager.maxCapacity",
            .key = "workerManager.maxCapacity",
            .pool = pool.id,
            .launch_config = spec.launch_config.launch_config_id};
  if (pool.spec && pool.spec->settings.max_capacity - pool.totals.used() < unit)
    return {.cause = verdict::cause::max_capacity,
            .scope = "pool " + pool.id.str(),
            .text = name + ": no room for another worker: maxCapacity of the pool is " +
                    std::to_string(pool.spec->settings.max_capacity) + ", " +
                    in_words(pool.totals) + ", and a worker has " + std::to_string(unit),
            .who = by_owner + "maxCapacity",
            .key = "maxCapacity",
            .pool = pool.id};
  return {.cause = verdict::cause::provider_limit,
          .scope = "provider " + provider.id.str(),
          .text = name + ": no room for another worker: provider " + provider.id.str() +
                  " may have " + std::to_string(provider.settings.max_capacity.value_or(0)) +
                  " for all pools, " + in_words(provider.totals),
          .who = "an operator, by raising launch.maxCapacity of provider " + provider.id.str() +
                 " in the host configuration"};
}

std::vector<verdict::Obstacle> LaunchLimits::missing_providers(Index index) const {
  const Pool& pool = pools_[index];
  std::vector<verdict::Obstacle> missing;
  if (!pool.spec) return missing;
  for (const ProviderState& provider : providers_) {
    const auto is_of_it = [&](Index at) {
      return launch_configs_[at].spec->provider_id == provider.id &&
             launch_configs_[at].status != LaunchConfigStatus::archived;
    };
    if (provider.up || std::ranges::any_of(pool.launch_configs, is_of_it) ||
        std::ranges::find(pool.spec->providers, provider.id) == pool.spec->providers.end())
      continue;
    missing.push_back(unavailable(provider, ""));
  }
  return missing;
}

// Nothing: it can be launched, `instances` of it at most.
std::optional<verdict::Obstacle> LaunchLimits::obstacle_of(Index pool, Index index,
                                                           const bidding::Weight& weight,
                                                           std::int64_t& instances) const {
  const LaunchConfigState& launch_config = launch_configs_[index];
  const LaunchConfig& document = launch_config.spec->launch_config;
  const ProviderState& provider = providers_[launch_config.provider];
  const std::string& name = document.launch_config_id.str();
  const auto scope = [&] { return "launch configuration " + name; };
  if (launch_config.status == LaunchConfigStatus::paused) return paused(launch_config, name);
  if (!provider.up) return unavailable(provider, name + ": ");
  if (settings_.list_before_launches && !provider.listed_for_pools)
    return verdict::Obstacle{
        .cause = verdict::cause::provider_down,
        .scope = "provider " + provider.id.str(),
        .text = name + ": the store lost changes, and what runs at provider " + provider.id.str() +
                " is not known yet: its list is awaited" +
                (provider.trouble.empty() ? "" : ": " + provider.trouble),
        .who = "nobody: the list is asked for; if it fails, see: muster providers"};
  if (const std::string* doubt = doubt_about(provider, document))
    return verdict::Obstacle{
        .cause = verdict::cause::list_doubted,
        .scope = "provider " + provider.id.str(),
        .text = name + ": provider " + provider.id.str() + ": " + *doubt,
        .who = "the administrator of " + provider.id.str() +
               "; it ends by itself when a list is complete again, or when the missing workers "
               "were silent for long enough to be gone"};
  if (const bidding::Hold* hold = holds_.find(launch_config)) return held(*hold, name);
  if (weight.value <= 0)
    return verdict::Obstacle{
        .cause = verdict::cause::unhealthy,
        .scope = scope(),
        .text = name + ": its weight is 0 (" + weight.arithmetic + ")",
        .who = "the pool's owner, by correcting what makes its workers fail; see: muster errors"};
  if (!could_help(pools_[pool], launch_config))
    return verdict::Obstacle{
        .cause = verdict::cause::unsuitable,
        .scope = scope(),
        .text = name + ": its workers cannot serve the requests that wait",
        .who = "the client, by asking for less or for other tags, or the pool's owner",
        .key = "workerConfig.queue",
        .pool = pools_[pool].id,
        .launch_config = document.launch_config_id};
  instances = instances_room(pool, index);
  if (instances <= 0) return limit_of(pool, index);
  const bool canary = holds_.find_probed(launch_config) != nullptr;
  if (launch_config.on_probation && launch_config.totals.requested + launch_config.totals.lost > 0)
    return verdict::Obstacle{.cause = verdict::cause::canary,
                             .scope = scope(),
                             .text = name + ": one launch is testing whether it works again",
                             .who = "nobody: the outcome of that launch decides"};
  if (canary || launch_config.on_probation) instances = 1;
  return std::nullopt;
}

}  // namespace muster::fleet
