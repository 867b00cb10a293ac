#include "plugins/provider/azure/virtual_machines.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/names.hpp"
#include "plugins/provider/azure/section.hpp"

namespace muster::azure {
namespace {

using cloud::table_of;
using cloud::text_of;

constexpr std::string_view power = "PowerState/", provisioning = "ProvisioningState/";

InstanceState state_of(std::string_view provisioning_state) {
  if (provisioning_state == "Deleting") return InstanceState::stopping;
  if (provisioning_state == "Failed" || provisioning_state == "Canceled")
    return InstanceState::stopped;
  if (provisioning_state == "Succeeded" || provisioning_state == "Updating")
    return InstanceState::running;
  return InstanceState::pending;
}

std::optional<InstanceState> state_of_power(std::string_view word) {
  if (word == "running") return InstanceState::running;
  if (word == "stopping" || word == "deallocating") return InstanceState::stopping;
  if (word == "stopped" || word == "deallocated") return InstanceState::stopped;
  return std::nullopt;
}

// What `identify` compares a proof with, and `terminate` needs.
json::object provider_data_of(const json::object& document, const json::object& properties,
                              const std::string& group, const Settings& settings,
                              const cloud::Tags& tags, const std::string& location) {
  json::object data = cloud::data_of_owner(tags);
  data["subscription"] = settings.subscription;
  data["group"] = group;
  data["location"] = location;
  const json::object* hardware = table_of(properties, "hardwareProfile");
  data["size"] = hardware ? text_of(*hardware, "vmSize") : "";
  data["vmId"] = to_lower(text_of(properties, "vmId"));
  data["market"] = text_of(properties, "priority") == words.spot ? words.spot : words.on_demand;
  const json::value* zones = document.if_contains("zones");
  if (zones && zones->is_array() && !zones->get_array().empty() &&
      zones->get_array().front().is_string())
    data["zone"] = location + "-" + std::string(zones->get_array().front().get_string());
  return data;
}

}  // namespace

cloud::Tags tags_in(const json::object& document) {
  cloud::Tags tags;
  if (const json::object* given = table_of(document, "tags"))
    for (const auto& [name, value] : *given)
      if (value.is_string()) tags.emplace(name, value.get_string());
  return tags;
}

json::object tags_document(const cloud::Tags& tags) {
  json::object document;
  for (const auto& [name, value] : tags) document[name] = value;
  return document;
}

bool belongs_to(const cloud::Tags& tags, const Owner& owner) {
  const auto is = [&](const char* name, const std::string& wanted) {
    const auto found = tags.find(name);
    return found != tags.end() && found->second == wanted;
  };
  return is(cloud::tag::host, owner.host_id) && is(cloud::tag::provider, owner.provider_id.str());
}

std::string zone_number(const std::string& zone) {
  const std::size_t at = zone.rfind('-');
  return at == std::string::npos ? std::string() : zone.substr(at + 1);
}

std::optional<VirtualMachine> read_virtual_machine(const json::object& document,
                                                   const std::string& group,
                                                   const Settings& settings) {
  cloud::Tags tags = tags_in(document);
  auto instance = cloud::instance_of(tags);
  const std::string name = text_of(document, "name");
  const json::object* given = table_of(document, "properties");
  if (!instance || !is_machine_name(name)) return std::nullopt;
  const json::object properties = given ? *given : json::object();
  // Azure writes a location in any case and with spaces.
  std::string location = to_lower(text_of(document, "location"));
  std::erase(location, ' ');
  VirtualMachine made{.instance = std::move(*instance), .group = group};
  made.instance.worker_group = WorkerGroup(location);
  made.instance.worker_id = WorkerId(name);
  made.instance.state = state_of(text_of(properties, "provisioningState"));
  made.instance.created = parse_time(text_of(properties, "timeCreated")).value_or(Time{});
  if (const auto key = tags.find(cloud::tag::keys); key != tags.end())
    made.instance.idempotency_key = IdempotencyKey(key->second);
  made.instance.provider_data =
      provider_data_of(document, properties, group, settings, tags, location);
  made.spot = text_of(properties, "priority") == words.spot;
  made.instance.tags = std::move(tags);
  return made;
}

void add_statuses(VirtualMachine& machine, const json::object& instance_view, Time now) {
  std::optional<InstanceState> state;
  std::string deallocating;
  cloud::for_each_of(instance_view, "statuses", [&](const json::object& status) {
    const std::string code = text_of(status, "code");
    if (code.starts_with(power)) {
      state = state_of_power(std::string_view(code).substr(power.size()));
      if (code.ends_with("/deallocating")) deallocating = code;
    }
    if (!code.starts_with(provisioning)) return;
    // "ProvisioningState/failed/AllocationFailed"
    const std::string rest = code.substr(provisioning.size());
    if (rest.starts_with("failed"))
      machine.failure = cloud::CloudError{.code = rest.size() > 7 ? rest.substr(7) : "",
                                          .message = text_of(status, "message")};
  });
  Instance& instance = machine.instance;
  if (state && instance.state != InstanceState::stopping) instance.state = *state;
  if (state == InstanceState::running) machine.failure.reset();
  if (!deallocating.empty())
    instance.interruption = Interruption{
        now, machine.spot ? "Azure takes the Spot machine away: it is being deallocated"
                          : "the machine is being deallocated"};
  const json::object* maintenance = table_of(instance_view, "maintenanceRedeployStatus");
  if (!maintenance || instance.interruption) return;
  if (const auto begin = parse_time(text_of(*maintenance, "maintenanceWindowStartTime")))
    instance.interruption = Interruption{*begin, "Azure's maintenance moves the machine"};
}

}  // namespace muster::azure
