#include "plugins/provider/aws/instances.hpp"

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/key_list.hpp"

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

// What `identify` compares a proof with, and `terminate` the owner.
json::object provider_data_of(const json::object& instance, const std::string& account,
                              const std::string& region, const Tags& tags) {
  const json::object* placement = table_of(instance, "Placement");
  json::object data = data_of_owner(tags);
  for (auto&& [key, value] : std::initializer_list<std::pair<const char*, std::string>>{
           {"region", region},
           {"account", account},
           {"zone", placement ? text_of(*placement, "AvailabilityZone") : ""},
           {"type", text_of(instance, "InstanceType")},
           {"image", text_of(instance, "ImageId")},
           {"privateIp", text_of(instance, "PrivateIpAddress")},
           {"launched", text_of(instance, "LaunchTime")},
           {"market", text_of(instance, "InstanceLifecycle") == "spot" ? spot : on_demand}})
    data[key] = value;
  return data;
}

}  // namespace

Tags tags_of_launch(const AllocateRequest& request, const json::object* team_tags,
                    const std::string& keys) {
  Tags tags = tags_of(request, team_tags, keys);
  tags.emplace("Name", request.launch_config.worker_pool_id.str() + " " +
                           request.launch_config.launch_config_id.str());
  return tags;
}

json::array tag_list(const Tags& tags) {
  json::array list;
  for (const auto& [name, value] : tags)
    list.push_back(json::object{{"Key", name}, {"Value", value}});
  return list;
}

std::optional<Instance> read_instance(const json::object& instance, const std::string& account,
                                      const std::string& region) {
  Tags tags;
  for_each_of(instance, "Tags", [&](const json::object& entry) {
    tags.emplace(text_of(entry, "Key"), text_of(entry, "Value"));
  });
  const std::string id = text_of(instance, "InstanceId");
  auto made = instance_of(tags);
  if (!made || id.empty()) return std::nullopt;
  made->worker_group = WorkerGroup(region);
  made->worker_id = WorkerId(id);
  made->state = state_of(instance);
  if (const auto keys = tags.find(tag::keys); keys != tags.end())
    if (auto key = key_at(keys->second, number_of(instance, "AmiLaunchIndex")))
      made->idempotency_key = std::move(*key);
  made->created = parse_time(text_of(instance, "LaunchTime")).value_or(Time{});
  made->provider_data = provider_data_of(instance, account, region, tags);
  made->tags = std::move(tags);
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
