// What the version of the worker configurations that serves changed.
#include <map>

#include "host/api/handlers.hpp"
#include "host/pools/difference.hpp"

namespace muster::api {
namespace {

// The facts of a few launch configurations of each pool.
std::map<std::string, std::vector<rules::Facts>> facts_by_pool(const Call& call) {
  std::map<std::string, std::vector<rules::Facts>> all;
  call.host().fleet->read([&](const fleet::Fleet& fleet, fleet::Now) {
    for (const fleet::Pool& pool : fleet.pools()) {
      if (pool.removed()) continue;
      std::vector<rules::Facts>& facts = all[pool.id.str()];
      for (const fleet::Index at : pool.launch_configs) {
        if (facts.size() == pools::DifferenceLimits().fact_sets) break;
        const fleet::LaunchConfigSpec& spec = *fleet.launch_configs()[at].spec;
        facts.emplace_back();
        for (const auto& [name, value] : spec.launch_config.placement.facts)
          facts.back()[name] = value;
        facts.back()["provider"] = spec.provider_id.str();
      }
    }
  });
  return all;
}

Answer show_difference(const Call& call) {
  const Services& services = services_of(call);
  const auto serving = services.configuration_files(false);
  const auto status = services.configuration_status();
  if (!serving || !status)
    return not_found(
        "no worker configuration was accepted since the host started; see: muster "
        "status");
  const auto previous = services.previous_configuration_files();
  json::object document{{"changes", json::array()}, {"more", 0}};
  if (previous) {
    const auto facts = facts_by_pool(call);
    document = pools::difference(*previous, *serving, [&](const std::string& type) {
      const auto found = facts.find(pools::worker_pool_of(type).str());
      return found == facts.end() ? std::vector<rules::Facts>() : found->second;
    });
    document["previousRevision"] = previous->revision;
  }
  document["revision"] = serving->revision;
  if (status->loaded_at) document["loadedAt"] = format_time(*status->loaded_at);
  return json_answer(document);
}

}  // namespace

std::vector<Endpoint> configuration_difference_endpoints() {
  return {
      {.name = "getConfigurationDifference",
       .method = "GET",
       .path = base + "/worker-configurations/difference",
       .scopes = all_of({"muster:get:worker-configurations"}),
       .handler = OnWorkerThreadWithFleet{show_difference},
       .output = "ConfigurationDifference",
       .errors = {missing, unavailable},
       .category = "worker configurations",
       .title = "What the version that serves changed for each pool",
       .description = "Values before and after with their rule, file and line, for the facts of "
                      "up to 20 launch configurations of a pool; 1000 changes at most."},
  };
}

}  // namespace muster::api
