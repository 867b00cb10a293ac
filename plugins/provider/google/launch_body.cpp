#include "plugins/provider/google/launch_body.hpp"

#include <functional>
#include <set>

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/machines/user_data.hpp"
#include "plugins/provider/google/instances.hpp"
#include "plugins/provider/google/section.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::set_default;
using cloud::table_in;
using cloud::table_of;
using cloud::text_of;

constexpr std::size_t most_metadata_bytes = 256 << 10;
const char* const all_of_google = "https://www.googleapis.com/auth/cloud-platform";

json::object document_of(const Labels& labels) {
  json::object document;
  for (const auto& [name, value] : labels) document[name] = value;
  return document;
}

// A new disk ends with its machine, unless the team wants to keep it: nothing else ends it.
void complete_disks(json::object& body, const Labels& labels) {
  json::value* disks = body.if_contains("disks");
  if (!disks || !disks->is_array()) return;
  for (json::value& entry : disks->get_array()) {
    if (!entry.is_object()) continue;
    json::object& disk = entry.get_object();
    if (!table_of(disk, "initializeParams")) continue;
    set_default(disk, "autoDelete", true);
    if (text_of(disk, "type") == "SCRATCH") continue;  // local disks take no labels
    json::object& own = table_in(table_in(disk, "initializeParams"), "labels");
    for (const auto& [name, value] : labels) set_default(own, name, json::value(value));
  }
}

// Those of a launch lack what Google wants, if the team wrote only the address.
void set_service_account(json::object& body, const Settings& settings) {
  const std::string email = service_account_of(body, settings);
  json::array scopes{all_of_google};
  cloud::for_each_of(body, "serviceAccounts", [&](const json::object& account) {
    const json::value* given = account.if_contains("scopes");
    if (given && given->is_array()) scopes = given->get_array();
  });
  if (!email.empty())
    body["serviceAccounts"] =
        json::array{json::object{{"email", email}, {"scopes", std::move(scopes)}}};
}

Result<void> set_metadata(json::object& body, const cloud::Machine& machine,
                          const AllocateRequest& request) {
  const std::string id = request.launch_config.launch_config_id.str();
  std::string text = json::write(cloud::registration_of(request.registration, machine.zone, id));
  if (text.size() > most_metadata_bytes)
    return Error::config("the metadata item taskcluster has " + std::to_string(text.size()) +
                         " bytes, and Compute Engine takes " + std::to_string(most_metadata_bytes) +
                         "; make workerConfig smaller, or let workers fetch what is large")
        .of_launch_config(id);
  json::value& items = table_in(body, "metadata")["items"];
  if (!items.is_array()) items.emplace_array();
  items.get_array().push_back(json::object{{"key", "taskcluster"}, {"value", std::move(text)}});
  return {};
}

}  // namespace

Labels launch_labels(const cloud::Machine& machine, const AllocateRequest& request,
                     const Settings& settings) {
  cloud::Tags tags = cloud::tags_of(request, nullptr, {});
  tags.erase(cloud::tag::keys);
  const std::string address =
      settings.audience.empty() ? text_of(request.registration, "rootUrl") : settings.audience;
  if (!address.empty()) tags[tag::audience] = audience_digest(address);
  Labels labels = labels_of(tags);
  if (const json::object* own = table_of(*machine.section, "labels"))
    for (const auto& [name, value] : *own)
      if (value.is_string()) labels.try_emplace(std::string(name), value.get_string());
  return labels;
}

Result<json::object> launch_body(const cloud::Machine& machine, const AllocateRequest& request,
                                 const Settings& settings) {
  json::object body = *machine.launch;
  const Labels labels = launch_labels(machine, request, settings);
  body["labels"] = document_of(labels);
  complete_disks(body, labels);
  set_service_account(body, settings);
  if (const auto fits = set_metadata(body, machine, request); !fits) return fits.error();
  json::object& scheduling = table_in(body, "scheduling");
  scheduling["automaticRestart"] = false;
  scheduling["provisioningModel"] = machine.market;
  if (machine.is_spot()) {
    // A machine that is stopped would keep its disks, which cost money.
    set_default(scheduling, "instanceTerminationAction", "DELETE");
    scheduling["onHostMaintenance"] = "TERMINATE";
  }
  set_default(body, "description",
              json::value("worker of " + request.launch_config.worker_pool_id.str() +
                          ", launched by muster"));
  return body;
}

bool fits_bulk(const json::object& body) {
  static const std::set<std::string> known = [] {
    std::set<std::string> names;
    const json::value document = documents.read("launch");
    for (const json::value& name : document.as_object().at("bulk").as_array())
      names.emplace(name.as_string());
    return names;
  }();
  for (const auto& member : body)
    if (!known.contains(std::string(member.key()))) return false;
  return true;
}

namespace {

// instances.insert wants types with their zone, bulkInsert their names alone; teams may write
// either.
void name_types(json::object& body, const std::string& zone, bool with_zone) {
  const auto rename = [&](json::object& place, const char* key, const char* kind) {
    const std::string given = text_of(place, key);
    if (given.empty() || given.find("regions/") != std::string::npos) return;
    const std::string name = last_part(given);
    place[key] = with_zone ? "zones/" + zone + "/" + kind + "/" + name : name;
  };
  const auto each = [&](const char* list, const std::function<void(json::object&)>& change) {
    json::value* found = body.if_contains(list);
    if (!found || !found->is_array()) return;
    for (json::value& entry : found->get_array())
      if (entry.is_object()) change(entry.get_object());
  };
  each("disks", [&](json::object& disk) {
    if (table_of(disk, "initializeParams"))
      rename(table_in(disk, "initializeParams"), "diskType", "diskTypes");
  });
  each("guestAccelerators", [&](json::object& accelerator) {
    rename(accelerator, "acceleratorType", "acceleratorTypes");
  });
}

}  // namespace

json::object insert_body(json::object body, const cloud::Machine& machine, const std::string& name,
                         const IdempotencyKey* key_in_label) {
  body["name"] = name;
  name_types(body, machine.zone, true);
  body["machineType"] = "zones/" + machine.zone + "/machineTypes/" + machine.instance_type;
  if (key_in_label)
    for (const auto& [label, value] : labels_of({{tag::key, key_in_label->str()}}))
      table_in(body, "labels")[label] = value;
  return body;
}

json::object bulk_body(json::object body, const cloud::Machine& machine,
                       const std::vector<std::string>& names) {
  body["machineType"] = machine.instance_type;
  name_types(body, machine.zone, false);
  json::object each;
  for (const std::string& name : names) each[name] = json::object{};
  return {{"count", std::to_string(names.size())},
          {"minCount", "1"},
          {"instanceProperties", std::move(body)},
          {"perInstanceProperties", std::move(each)}};
}

}  // namespace muster::google
