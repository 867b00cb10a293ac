#include "plugins/provider/aws/instances.hpp"

#include <charconv>

#include <muster/codec.hpp>

#include "plugins/provider/aws/json_access.hpp"
#include "plugins/provider/aws/key_list.hpp"

namespace muster::aws {
namespace {

InstanceState state_of(const json::object& instance) {
  const json::object* state = table_of(instance, "State");
  const std::string name = state ? text_of(*state, "Name") : "";
  if (name == "running") return InstanceState::running;
  if (name == "shutting-down" || name == "stopping") return InstanceState::stopping;
  if (name == "terminated" || name == "stopped") return InstanceState::stopped;
  return InstanceState::pending;
}

std::int64_t number_in(const std::map<std::string, std::string>& tags, const char* name,
                       std::int64_t otherwise) {
  const auto found = tags.find(name);
  if (found == tags.end()) return otherwise;
  std::int64_t number = otherwise;
  std::from_chars(found->second.data(), found->second.data() + found->second.size(), number);
  return number;
}

// What `identify` compares a proof with, and `terminate` the owner.
json::object provider_data_of(const json::object& instance, const std::string& account,
                              const std::string& region,
                              const std::map<std::string, std::string>& tags) {
  const json::object* placement = table_of(instance, "Placement");
  json::object data{
      {"v", 1},
      {"host", tags.at(tag::host)},
      {"provider", tags.at(tag::provider)},
      {"region", region},
      {"account", account},
      {"zone", placement ? text_of(*placement, "AvailabilityZone") : ""},
      {"type", text_of(instance, "InstanceType")},
      {"image", text_of(instance, "ImageId")},
      {"privateIp", text_of(instance, "PrivateIpAddress")},
      {"launched", text_of(instance, "LaunchTime")},
      {"market", text_of(instance, "InstanceLifecycle") == "spot" ? "spot" : "onDemand"}};
  return data;
}

}  // namespace

std::map<std::string, std::string> tags_of(const AllocateRequest& request,
                                           const json::object* team_tags, const std::string& keys) {
  std::map<std::string, std::string> tags;
  const LaunchConfig& launch_config = request.launch_config;
  tags[tag::name] = launch_config.worker_pool_id.str() + " " + launch_config.launch_config_id.str();
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

json::array tag_list(const std::map<std::string, std::string>& tags) {
  json::array list;
  for (const auto& [name, value] : tags)
    list.push_back(json::object{{"Key", name}, {"Value", value}});
  return list;
}

std::optional<Instance> read_instance(const json::object& instance, const std::string& account,
                                      const std::string& region) {
  std::map<std::string, std::string> tags;
  for_each_of(instance, "Tags", [&](const json::object& entry) {
    tags.emplace(text_of(entry, "Key"), text_of(entry, "Value"));
  });
  const std::string id = text_of(instance, "InstanceId");
  for (const char* needed : {tag::host, tag::provider, tag::pool, tag::launch_config})
    if (!tags.contains(needed)) return std::nullopt;
  if (id.empty()) return std::nullopt;
  Instance made{.worker_group = WorkerGroup(region),
                .worker_id = WorkerId(id),
                .worker_pool_id = WorkerPoolId(tags.at(tag::pool)),
                .launch_config_id = LaunchConfigId(tags.at(tag::launch_config)),
                .idempotency_key = {},
                .state = state_of(instance),
                .capacity = std::max<std::int64_t>(1, number_in(tags, tag::capacity, 1)),
                .epoch = number_in(tags, tag::epoch, 0)};
  if (const auto keys = tags.find(tag::keys); keys != tags.end())
    if (auto key = key_at(keys->second, number_of(instance, "AmiLaunchIndex")))
      made.idempotency_key = std::move(*key);
  made.created = parse_time(text_of(instance, "LaunchTime")).value_or(Time{});
  made.provider_data = provider_data_of(instance, account, region, tags);
  made.tags = std::move(tags);
  return made;
}

void for_each_instance(const json::object& answer,
                       const std::function<void(const json::object&, const std::string&)>& take) {
  for_each_of(answer, "Reservations", [&](const json::object& reservation) {
    const std::string account = text_of(reservation, "OwnerId");
    for_each_of(reservation, "Instances",
                [&](const json::object& instance) { take(instance, account); });
  });
}

json::object filter(const std::string& name, json::array values) {
  return {{"Name", name}, {"Values", std::move(values)}};
}

json::array owner_filters(const Owner& owner) {
  return {filter(std::string("tag:") + tag::host, {owner.host_id}),
          filter(std::string("tag:") + tag::provider, {owner.provider_id.str()})};
}

}  // namespace muster::aws
