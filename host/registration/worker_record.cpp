#include "host/registration/worker_record.hpp"

#include <algorithm>

#include "host/fleet/fleet.hpp"
#include "host/queue/queue.hpp"

namespace muster::registration {
namespace {

const LaunchConfigId* id_of(const std::shared_ptr<const fleet::LaunchConfigSpec>& spec) {
  return spec ? &spec->launch_config.launch_config_id : nullptr;
}

bool same_id(const LaunchConfigId* one, const LaunchConfigId* other) {
  return one && other ? *one == *other : one == other;
}

}  // namespace

bool WorkerRecord::operator==(const WorkerRecord& other) const {
  return provider_data == other.provider_data &&
         same_id(id_of(launch_config), id_of(other.launch_config)) && pool_keys == other.pool_keys;
}

WorkerRecord worker_record(const fleet::Fleet& fleet, const Claim& claim) {
  const fleet::Worker* worker = fleet.find_worker(claim.name);
  const queue::TeamPool* pool = fleet.queue().find_pool(claim.name.worker_pool_id);
  return {worker ? worker->provider_data : "", fleet.place_for(claim.name, claim.provider),
          pool ? pool->public_keys : std::vector<std::string>()};
}

std::optional<Refusal> check_pool_exists(const fleet::Fleet& fleet, const Claim& claim) {
  if (fleet.find_pool(claim.name.worker_pool_id)) return std::nullopt;
  return Refusal::not_found("Worker pool " + claim.name.worker_pool_id.str() + " does not exist");
}

std::optional<Refusal> check_pool_uses_provider(const fleet::Fleet& fleet, const Claim& claim) {
  const fleet::Pool& pool = *fleet.find_pool(claim.name.worker_pool_id);
  const auto is_of_provider = [&](fleet::Index at) {
    return fleet.launch_configs()[at].spec->provider_id == claim.provider;
  };
  if ((pool.spec &&
       std::ranges::find(pool.spec->providers, claim.provider) != pool.spec->providers.end()) ||
      std::ranges::any_of(pool.launch_configs, is_of_provider))
    return std::nullopt;
  return Refusal::invalid("Worker pool " + claim.name.worker_pool_id.str() +
                          " not associated with provider " + claim.provider.str());
}

Refusal worker_does_not_exist(const Claim& claim, const std::string& why) {
  return Refusal::not_found("Worker " + claim.in_words() + " in worker pool " +
                            claim.name.worker_pool_id.str() + " does not exist" +
                            (why.empty() ? "" : ": " + why));
}

}  // namespace muster::registration
