#include "plugins/provider/bridge/promises.hpp"

#include <algorithm>

namespace muster::bridge {
namespace {

std::string at(const char* list, std::size_t index, const char* member) {
  return std::string(list) + "[" + std::to_string(index) + "]." + member + ": ";
}

std::string broken_by(const Bid& bid, const BidRequest& request, std::size_t index) {
  const auto candidate =
      std::find_if(request.candidates.begin(), request.candidates.end(), [&](const auto& asked) {
        return asked.launch_config.launch_config_id == bid.launch_config_id;
      });
  if (candidate == request.candidates.end())
    return at("bids", index, "launchConfigId") + "there was no request for " +
           bid.launch_config_id.str();
  if (bid.instances < 0 || (candidate->max_instances && bid.instances > *candidate->max_instances))
    return at("bids", index, "instances") + std::to_string(bid.instances) +
           (bid.instances < 0
                ? " is negative"
                : " is more than maxInstances, " + std::to_string(*candidate->max_instances));
  if (bid.capacity_per_instance < 1) return at("bids", index, "capacityPerInstance") + "is below 1";
  if (!(bid.price_per_capacity_hour >= 0))
    return at("bids", index, "pricePerCapacityHour") + "is negative";
  if (!(bid.reliability >= 0 && bid.reliability <= 1))
    return at("bids", index, "reliability") + "is not between 0 and 1";
  return {};
}

}  // namespace

std::string broken_promise(const PlacementsRequest&, const Placements& answer) {
  for (std::size_t i = 0; i < answer.placements.size(); ++i) {
    const Facts& facts = answer.placements[i].facts;
    const auto region = facts.find("region");
    if (region == facts.end() || region->second.empty())
      return at("placements", i, "facts") + "there is no region";
    for (const auto& [name, value] : facts)
      if (name != "region" && name != "availabilityZone")
        return at("placements", i, "facts") + "\"" + name +
               "\" is not a fact that a bridge has; those are region and availabilityZone";
    for (std::size_t other = 0; other < i; ++other)
      if (answer.placements[other] == answer.placements[i])
        return at("placements", i, "facts") + "are those of placements[" + std::to_string(other) +
               "], too";
  }
  return {};
}

std::string broken_promise(const ExpandRequest&, const Expansion& answer) {
  for (std::size_t i = 0; i < answer.launch_documents.size(); ++i)
    if (answer.launch_documents[i].capacity_per_instance < 1)
      return at("launchDocuments", i, "capacityPerInstance") + "is below 1";
  return {};
}

std::string broken_promise(const BidRequest& request, const Bids& answer) {
  for (std::size_t i = 0; i < answer.bids.size(); ++i)
    if (std::string broken = broken_by(answer.bids[i], request, i); !broken.empty()) return broken;
  return {};
}

std::string broken_promise(const AllocateRequest& request, const Allocation& answer) {
  const auto& keys = request.idempotency_keys;
  if (answer.launches.size() != keys.size())
    return "launches: there are " + std::to_string(answer.launches.size()) + " for " +
           std::to_string(keys.size()) + " keys";
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const Launch& launch = answer.launches[i];
    if (launch.idempotency_key != keys[i])
      return at("launches", i, "idempotencyKey") + "is not the key at this place of the request, " +
             keys[i].str();
    if (launch.instance.has_value() == launch.error.has_value())
      return at("launches", i, "instance") + "either this or an error must be there";
    if (launch.instance &&
        (launch.instance->worker_id.empty() || launch.instance->worker_group.empty()))
      return at("launches", i, "instance") + "workerId or workerGroup is empty";
    if (launch.instance && launch.instance->idempotency_key != keys[i])
      return at("launches", i, "instance") + "is of another key, " +
             launch.instance->idempotency_key.str();
  }
  return {};
}

}  // namespace muster::bridge
