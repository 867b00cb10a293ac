#include "plugins/cloud/machines/ownership.hpp"

#include <algorithm>
#include <charconv>

#include "plugins/cloud/json_access.hpp"

namespace muster::cloud {
namespace {

std::int64_t number_in(const Tags& tags, const char* name, std::int64_t otherwise) {
  const auto found = tags.find(name);
  if (found == tags.end()) return otherwise;
  std::int64_t number = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number;
}

}  // namespace

Tags tags_of(const AllocateRequest& request, const json::object* team_tags,
             const std::string& keys) {
  Tags tags;
  const LaunchConfig& launch_config = request.launch_config;
  if (team_tags)
    for (const auto& [name, value] : *team_tags)
      if (value.is_string()) tags[std::string(name)] = std::string(value.get_string());
  for (const auto& [name, value] : request.tags) tags[name] = value;
  tags[tag::host] = request.owner.host_id;
  tags[tag::provider] = request.owner.provider_id.str();
  tags[tag::pool] = launch_config.worker_pool_id.str();
  tags[tag::launch_config] = launch_config.launch_config_id.str();
  tags[tag::epoch] = std::to_string(request.owner.epoch);
  tags[tag::capacity] = std::to_string(launch_config.capacity_per_instance);
  tags[tag::keys] = keys;
  return tags;
}

std::optional<Instance> instance_of(const Tags& tags) {
  for (const char* needed : {tag::host, tag::provider, tag::pool, tag::launch_config})
    if (!tags.contains(needed)) return std::nullopt;
  Instance made;
  made.worker_pool_id = WorkerPoolId(tags.at(tag::pool));
  made.launch_config_id = LaunchConfigId(tags.at(tag::launch_config));
  made.capacity = std::max<std::int64_t>(1, number_in(tags, tag::capacity, 1));
  made.epoch = number_in(tags, tag::epoch, 0);
  return made;
}

json::object data_of_owner(const Tags& tags) {
  return {{"v", 1}, {"host", tags.at(tag::host)}, {"provider", tags.at(tag::provider)}};
}

json::object data_of_owner(const Owner& owner) {
  return {{"v", 1}, {"host", owner.host_id}, {"provider", owner.provider_id.str()}};
}

bool belongs_to(const json::object& provider_data, const Owner& owner) {
  const std::string host = text_of(provider_data, "host"),
                    provider = text_of(provider_data, "provider");
  return (host.empty() || host == owner.host_id) &&
         (provider.empty() || provider == owner.provider_id.str());
}

Error not_yours(const WorkerRef& worker, const Owner& owner) {
  return Error::invalid(worker.worker_id.str() + " belongs to host " +
                        text_of(worker.provider_data, "host") + " and provider " +
                        text_of(worker.provider_data, "provider") + ", not to host " +
                        owner.host_id + " and provider " + owner.provider_id.str());
}

Result<void> Epochs::check(const Owner& owner) {
  std::int64_t& newest = newest_[owner.host_id];
  if (owner.epoch < newest)
    return Error::invalid("host " + owner.host_id + " was superseded: this call is of its start " +
                          std::to_string(owner.epoch) + ", and start " + std::to_string(newest) +
                          " has made calls");
  newest = owner.epoch;
  return {};
}

}  // namespace muster::cloud
