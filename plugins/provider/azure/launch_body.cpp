#include "plugins/provider/azure/launch_body.hpp"

#include "lib/base/secret.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {
namespace {

using cloud::set_default;
using cloud::table_in;
using cloud::table_of;
using cloud::text_of;

const char* const administrator = "muster";

// Nobody knows it: machines are reached by other ways, if at all. With letters of all the kinds
// that Windows wants.
std::string password() {
  return "Aa1!" + random_token().reveal();
}

template <class Edit>
void edit_each(json::object& object, const char* key, const Edit& edit) {
  json::value* list = object.if_contains(key);
  if (!list || !list->is_array()) return;
  std::size_t index = 0;
  for (json::value& item : list->get_array())
    if (item.is_object()) edit(item.get_object(), index++);
}

void complete_disks(json::object& storage, const Names& names) {
  json::object& system = table_in(storage, "osDisk");
  set_default(system, "createOption", "FromImage");
  system["deleteOption"] = "Delete";
  system["name"] = names.system_disk();
  edit_each(storage, "dataDisks", [&](json::object& disk, std::size_t index) {
    set_default(disk, "lun", static_cast<std::int64_t>(index));
    set_default(disk, "createOption", "Empty");
    disk["deleteOption"] = "Delete";
    disk["name"] = names.data_disk(index);
  });
}

void complete_network(json::object& network, const Names& names) {
  network["networkApiVersion"] = "2020-11-01";
  std::size_t addresses = 0;
  edit_each(network, "networkInterfaceConfigurations", [&](json::object& nic, std::size_t index) {
    nic["name"] = names.network_interface(index);
    json::object& properties = table_in(nic, "properties");
    set_default(properties, "primary", index == 0);
    properties["deleteOption"] = "Delete";
    edit_each(properties, "ipConfigurations", [&](json::object& address, std::size_t at) {
      set_default(address, "name", json::value("ip" + std::to_string(at)));
      json::object& inside = table_in(address, "properties");
      if (!table_of(inside, "publicIPAddressConfiguration")) return;
      json::object& open = table_in(inside, "publicIPAddressConfiguration");
      open["name"] = names.public_address(addresses++);
      table_in(open, "properties")["deleteOption"] = "Delete";
    });
  });
}

void complete_system(json::object& system, const Names& names, const std::string& user_data) {
  system["computerName"] = names.computer();
  set_default(system, "adminUsername", administrator);
  const json::object* linux_settings = table_of(system, "linuxConfiguration");
  const json::value* keys_only =
      linux_settings ? linux_settings->if_contains("disablePasswordAuthentication") : nullptr;
  if (!keys_only || !keys_only->is_bool() || !keys_only->get_bool())
    system["adminPassword"] = password();
  system["customData"] = user_data;
}

json::object value_of(json::value value) {
  return {{"value", std::move(value)}};
}

}  // namespace

cloud::Tags machine_tags(const AllocateRequest& request, const cloud::Machine& machine,
                         const IdempotencyKey& key) {
  cloud::Tags tags = cloud::tags_of(request, machine.tags, key.str());
  const auto say = [&](const char* tag, const char* member) {
    if (const std::string text = text_of(request.registration, member); !text.empty())
      tags[tag] = text;
  };
  say("root-url", "rootUrl");
  say("worker-pool-id", "workerPoolId");
  say("provider-id", "providerId");
  tags["worker-group"] = machine.region;
  tags["launch-config-id"] = request.launch_config.launch_config_id.str();
  return tags;
}

json::object machine_body(const LaunchParts& parts) {
  const cloud::Machine& machine = parts.machine;
  json::object body = *machine.launch;
  body["location"] = machine.region;
  body["tags"] = tags_document(parts.tags);
  if (!machine.zone.empty()) body["zones"] = json::array{json::value(zone_number(machine.zone))};
  json::object& properties = table_in(body, "properties");
  table_in(properties, "hardwareProfile")["vmSize"] = machine.instance_type;
  complete_disks(table_in(properties, "storageProfile"), parts.names);
  complete_network(table_in(properties, "networkProfile"), parts.names);
  complete_system(table_in(properties, "osProfile"), parts.names, parts.user_data);
  if (!machine.is_spot()) return body;
  properties["priority"] = words.spot;
  set_default(properties, "evictionPolicy", "Delete");
  // -1: up to the price of a Regular machine.
  properties["billingProfile"] = json::object{{"maxPrice", machine.max_price.value_or(-1)}};
  return body;
}

json::object deployment_body(const LaunchParts& parts) {
  const cloud::Machine& machine = parts.machine;
  json::object properties = *table_of(*machine.section, "armDeployment");
  set_default(properties, "mode", "Incremental");
  // A template of our own says what it takes; of a link that is not known.
  const json::object* inside = table_of(properties, "template");
  const json::object* declared = inside ? table_of(*inside, "parameters") : nullptr;
  json::object& parameters = table_in(properties, "parameters");
  const auto pass = [&](const char* name, json::value value) {
    if (!declared || declared->contains(name)) parameters[name] = value_of(std::move(value));
  };
  pass("tags", tags_document(parts.tags));
  pass("vmName", json::value(parts.names.machine()));
  pass("computerName", json::value(parts.names.computer()));
  pass("adminUsername", administrator);
  pass("adminPassword", json::value(password()));
  pass("customData", json::value(parts.user_data));
  if (declared && !parameters.contains("location")) pass("location", json::value(machine.region));
  if (!parameters.contains("vmSize")) pass("vmSize", json::value(machine.instance_type));
  return {{"properties", std::move(properties)}, {"tags", tags_document(parts.tags)}};
}

}  // namespace muster::azure
