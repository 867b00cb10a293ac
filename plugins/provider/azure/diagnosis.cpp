#include "plugins/provider/azure/diagnosis.hpp"

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/section.hpp"
#include "plugins/provider/azure/targets.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {
namespace {

using cloud::bad;
using cloud::failed;
using cloud::good;
using cloud::not_known;
using cloud::table_of;
using cloud::text_of;

// One star for any letters, whatever their case.
bool fits(std::string_view pattern, std::string_view text) {
  const std::size_t star = pattern.find('*');
  if (star == std::string_view::npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  text.remove_prefix(star);
  pattern.remove_prefix(star + 1);
  for (std::size_t at = 0; at <= text.size(); ++at)
    if (fits(pattern, text.substr(at))) return true;
  return false;
}

bool any_fits(const json::object& row, const char* key, const std::string& action) {
  const json::value* list = row.if_contains(key);
  if (!list || !list->is_array()) return false;
  for (const json::value& pattern : list->get_array())
    if (pattern.is_string() &&
        fits(to_lower(std::string_view(pattern.get_string())), to_lower(action)))
      return true;
  return false;
}

std::string join(const std::vector<std::string>& texts) {
  std::string joined;
  for (const std::string& text : texts) joined += (joined.empty() ? "" : ", ") + text;
  return joined;
}

std::string versions_of(const json::object& image, const std::string& location,
                        const Settings& settings) {
  return settings.subscription_path() + "/providers/Microsoft.Compute/locations/" + location +
         "/publishers/" + encode_segment(text_of(image, "publisher")) +
         "/artifacttypes/vmimage/offers/" + encode_segment(text_of(image, "offer")) + "/skus/" +
         encode_segment(text_of(image, "sku")) + "/versions?api-version=" + version::compute +
         "&$top=1";
}

const char* const docs = "docs/clouds/azure.md has the whole role";

}  // namespace

std::vector<std::string> needed_actions(bool with_templates) {
  std::vector<std::string> actions;
  for (const char* type :
       {type::machines, type::network_interfaces, type::disks, type::public_addresses})
    for (const char* verb : {"/read", "/write", "/delete"})
      actions.push_back(std::string(type) + verb);
  actions.push_back("Microsoft.Network/networkInterfaces/join/action");
  if (with_templates)
    for (const char* verb : {"/read", "/write", "/delete", "/cancel/action"})
      actions.push_back(std::string(type::deployments) + verb);
  return actions;
}

bool is_allowed(const json::object& permissions, const std::string& action) {
  bool allowed = false;
  cloud::for_each_of(permissions, "value", [&](const json::object& row) {
    allowed |= any_fits(row, "actions", action) && !any_fits(row, "notActions", action);
  });
  return allowed;
}

void Doctor::collect(const DiagnoseRequest& request) {
  for (const LaunchConfig& launch_config : request.launch_configs) {
    const auto machine = cloud::read_machine(words, launch_config);
    if (!machine) {
      diagnosis_.checks.push_back(failed(words, launch_config.worker_pool_id.str(), machine.error(),
                                         "correct the worker configuration"));
      continue;
    }
    needed_.machines[machine->region].push_back(*machine);
    needed_.templates |= machine->section->contains("armDeployment");
    const json::object* properties = table_of(*machine->launch, "properties");
    const json::object* storage = properties ? table_of(*properties, "storageProfile") : nullptr;
    if (const json::object* image = storage ? table_of(*storage, "imageReference") : nullptr) {
      if (const std::string id = text_of(*image, "id"); !id.empty())
        needed_
            .images[target_of_id(
                id, id.find("/galleries/") == std::string::npos ? version::compute : "2023-07-03")]
            .insert(machine->region);
      else if (!text_of(*image, "publisher").empty())
        needed_.images[versions_of(*image, machine->region, settings_)].insert(machine->region);
    }
    const json::object* network = properties ? table_of(*properties, "networkProfile") : nullptr;
    if (!network) continue;
    cloud::for_each_of(*network, "networkInterfaceConfigurations", [&](const json::object& nic) {
      const json::object* inside = table_of(nic, "properties");
      if (!inside) return;
      cloud::for_each_of(*inside, "ipConfigurations", [&](const json::object& address) {
        const json::object* of_address = table_of(address, "properties");
        const json::object* subnet = of_address ? table_of(*of_address, "subnet") : nullptr;
        if (subnet) needed_.subnets[text_of(*subnet, "id")].insert(machine->region);
      });
    });
  }
}

// Whether anything else can be asked.
bool Doctor::check_group(const std::string& group) {
  const auto answer = api_.call(
      {.target = settings_.group_path(group) + "?api-version=" + version::resources}, context_);
  const std::string subject = "resource group " + group;
  if (answer) {
    diagnosis_.checks.push_back(good(subject, "exists, and the credentials may read it"));
    return true;
  }
  const Error& error = answer.error();
  if (error.code == no_answer_code && error.error_class == ErrorClass::transient) {
    diagnosis_.checks.push_back(
        failed(words, "network", error, "check the network path, `proxy` and `endpoints`"));
    return false;
  }
  diagnosis_.checks.push_back(failed(
      words, error.error_class == ErrorClass::auth ? "credentials" : subject, error,
      error.error_class == ErrorClass::not_found || error.code == "ResourceGroupNotFound"
          ? "make the resource group: az group create --name " + group
          : "check tenant, subscription and `credentials`, and give the client a role in the "
            "resource group"));
  return error.error_class != ErrorClass::auth || error.code == "AuthorizationFailed";
}

void Doctor::check_permissions(const std::string& group) {
  const auto answer = api_.call(
      {.target = list_target(settings_.group_path(group), "Microsoft.Authorization/permissions",
                             version::permissions)},
      context_);
  const std::string subject = "permissions in " + group;
  if (!answer) {
    diagnosis_.checks.push_back(not_known(subject, answer.error().message, docs));
    return;
  }
  std::vector<std::string> lacking;
  for (const std::string& action : needed_actions(needed_.templates))
    if (!is_allowed(answer->body, action)) lacking.push_back(action);
  if (lacking.empty())
    diagnosis_.checks.push_back(good(subject, "all that launches need"));
  else
    diagnosis_.checks.push_back(bad(subject, "the credentials lack " + join(lacking),
                                    std::string("add them to the client's role; ") + docs));
}

void Doctor::check_subscription() {
  const auto answer = api_.call(
      {.target = list_target(settings_.subscription_path(), type::machines, version::compute) +
                 "&statusOnly=true"},
      context_);
  if (answer)
    diagnosis_.checks.push_back(good("power states", "evictions are seen by lists"));
  else
    diagnosis_.checks.push_back(
        not_known("power states", answer.error().message,
                  "allow Microsoft.Compute/virtualMachines/read in the subscription; without it "
                  "machines that were stopped or evicted but not deleted are seen only by their "
                  "workers' silence"));
  if (const auto offset = api_.clock_offset())
    diagnosis_.checks.push_back(cloud::check_of_clock(words, *offset));
}

void Doctor::check_exists(const std::string& subject, const std::string& target,
                          const char* remedy) {
  if (!target.starts_with("/subscriptions/")) {
    diagnosis_.checks.push_back(bad(subject,
                                    "\"" + target.substr(0, target.find('?')) +
                                        "\" is no id, which begins with /subscriptions/",
                                    remedy));
    return;
  }
  const auto answer = api_.call({.target = target}, context_);
  if (answer)
    diagnosis_.checks.push_back(good(subject, "exists"));
  else
    diagnosis_.checks.push_back(failed(words, subject, answer.error(), remedy));
}

void Doctor::check_sizes(const std::string& location, const std::vector<cloud::Machine>& machines) {
  const auto sizes = quotas_.sizes_in(location, context_);
  const auto usages = quotas_.usages_in(location, context_);
  if (!sizes || !usages) {
    diagnosis_.checks.push_back(not_known(
        location + ": quotas", (sizes ? usages.error() : sizes.error()).message,
        "allow Microsoft.Compute/skus/read and Microsoft.Compute/locations/usages/read in the "
        "subscription to see quotas before they are reached"));
    return;
  }
  std::set<std::string> seen;
  for (const cloud::Machine& machine : machines) {
    const std::string subject =
        location + ": " + machine.type_and_market() +
        (machine.zone.empty() ? "" : " in zone " + zone_number(machine.zone));
    if (!seen.insert(subject).second) continue;
    const auto size = sizes->find(to_lower(machine.instance_type));
    const std::string zone = zone_number(machine.zone);
    if (size == sizes->end() || size->second.restricted ||
        (!zone.empty() &&
         (!size->second.zones.contains(zone) || size->second.restricted_zones.contains(zone)))) {
      diagnosis_.checks.push_back(
          bad(subject, "Azure does not offer it to this subscription there",
              "leave the size out there, by a rule with the condition region, or ask Azure's "
              "support"));
      continue;
    }
    std::string room;
    bool full = false;
    for (const std::string& name : Quotas::quotas_of(size->second, machine.is_spot()))
      if (const auto usage = usages->find(name); usage != usages->end()) {
        room += (room.empty() ? "" : "; ") + usage->second.title + ": " +
                std::to_string(usage->second.used) + " of " + std::to_string(usage->second.limit) +
                " vCPUs are used";
        full |= usage->second.limit - usage->second.used < size->second.processors;
      }
    if (full)
      diagnosis_.checks.push_back(bad(subject, room, "raise the quota at " + quotas_.quota_page()));
    else
      diagnosis_.checks.push_back(good(subject, room.empty() ? "offered" : room));
  }
}

Diagnosis Doctor::run(const DiagnoseRequest& request) {
  collect(request);
  bool reached = true;
  for (const std::string& group : settings_.groups()) {
    reached = check_group(group);
    if (!reached) break;
    check_permissions(group);
  }
  if (!reached) return std::move(diagnosis_);
  check_subscription();
  for (const auto& [target, locations] : needed_.images)
    check_exists(*locations.begin() + ": image " + target.substr(0, target.find('?')), target,
                 "correct azure.launch.storageProfile.imageReference, or let the client read it");
  for (const auto& [id, locations] : needed_.subnets)
    check_exists(*locations.begin() + ": subnet " + id, target_of_id(id, version::network),
                 "correct the subnet's id in azure.launch.networkProfile, and allow "
                 "Microsoft.Network/virtualNetworks/subnets/read and .../join/action on it");
  for (const auto& [location, machines] : needed_.machines) check_sizes(location, machines);
  if (request.launch_configs.empty()) diagnosis_.checks.push_back(cloud::nothing_to_launch(words));
  return std::move(diagnosis_);
}

}  // namespace muster::azure
