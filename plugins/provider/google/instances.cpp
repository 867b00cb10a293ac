#include "plugins/provider/google/instances.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/crypto/sha256.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/labels.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;

InstanceState state_of(const std::string& status) {
  if (status == "RUNNING" || status == "REPAIRING") return InstanceState::running;
  if (status == "STOPPING" || status == "SUSPENDING" || status == "PENDING_STOP" ||
      status == "DEPROVISIONING")
    return InstanceState::stopping;
  if (status == "TERMINATED" || status == "STOPPED" || status == "SUSPENDED")
    return InstanceState::stopped;
  return InstanceState::pending;
}

bool is_instance_number(std::string_view text) {
  return !text.empty() && text.size() <= 20 &&
         std::ranges::all_of(text, [](char letter) { return letter >= '0' && letter <= '9'; });
}

std::string equals(const char* tag, const std::string& value) {
  return std::string("(labels.") + tag + " = \"" + label_value(value) + "\")";
}

}  // namespace

std::string owner_filter(const Owner& owner) {
  return equals(cloud::tag::host, owner.host_id) + " AND " +
         equals(cloud::tag::provider, owner.provider_id.str());
}

std::string call_filter(const Owner& owner, const std::string& request_id) {
  return owner_filter(owner) + " AND " + equals(tag::call, request_id);
}

std::string launch_config_filter(const Owner& owner, const LaunchConfigId& launch_config) {
  return owner_filter(owner) + " AND " + equals(cloud::tag::launch_config, launch_config.str());
}

std::string audience_digest(const std::string& address) {
  std::string_view bare = address;
  while (bare.ends_with('/')) bare.remove_suffix(1);
  return sha256_hex(bare).substr(0, 40);
}

std::optional<Instance> read_instance(const json::object& instance, const std::string& project) {
  Labels labels;
  if (const json::object* given = table_of(instance, "labels"))
    for (const auto& [name, value] : *given)
      if (value.is_string()) labels.emplace(name, value.get_string());
  const cloud::Tags tags = tags_in(labels);
  auto made = cloud::instance_of(tags);
  const std::string id = text_of(instance, "id"), name = text_of(instance, "name");
  const std::string zone = last_part(text_of(instance, "zone"));
  if (!made || !is_instance_number(id) || zone.empty()) return std::nullopt;
  made->worker_group = WorkerGroup(zone);
  made->worker_id = WorkerId(id);
  made->state = state_of(text_of(instance, "status"));
  made->created = parse_time(text_of(instance, "creationTimestamp")).value_or(Time{});
  const auto host = tags.find(cloud::tag::host);
  if (auto key = key_in(name, host == tags.end() ? "" : host->second))
    made->idempotency_key = std::move(*key);
  else if (const auto found = tags.find(tag::key); found != tags.end())
    made->idempotency_key = IdempotencyKey(found->second);
  json::object data = cloud::data_of_owner(tags);
  data["project"] = project;
  data["zone"] = zone;
  data["name"] = name;
  data["type"] = last_part(text_of(instance, "machineType"));
  for_each_of(instance, "serviceAccounts", [&](const json::object& account) {
    data["serviceAccount"] = text_of(account, "email");
  });
  for_each_of(instance, "networkInterfaces", [&](const json::object& interface) {
    if (const std::string address = text_of(interface, "networkIP"); !address.empty())
      data["privateIp"] = address;
  });
  if (const json::object* scheduling = table_of(instance, "scheduling"))
    data["market"] =
        text_of(*scheduling, "provisioningModel") == words.spot ? words.spot : words.on_demand;
  if (const auto found = tags.find(tag::audience); found != tags.end())
    data["audience"] = found->second;
  made->provider_data = std::move(data);
  made->tags = tags;
  return made;
}

}  // namespace muster::google
