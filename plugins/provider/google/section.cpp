#include "plugins/provider/google/section.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::for_each_of;
using cloud::table_of;
using cloud::text_of;

constexpr std::size_t most_metadata = 256 << 10;  // bytes of one value, Google's limit
constexpr std::int64_t most_labels = 40;          // Google takes 64; muster adds its own

const std::vector<cloud::SetByMuster> set_by_muster{
    {"name", "muster makes it, so that nothing is launched twice; remove it"},
    {"hostname", "several machines cannot share a name; remove it"},
    {"machineType", "use google.machineTypes"},
    {"labels", "use google.labels"},
    {"deletionProtection", "muster could not end the machine; remove it"},
};
const std::vector<cloud::SetByMuster> scheduling_set_by_muster{
    {"provisioningModel", "use google.market"},
    {"preemptible", "use google.market"},
    {"automaticRestart", "muster sets it to false: a worker that ends is replaced; remove it"},
};

json::object launch_schema() {
  const json::value document = documents.read("launch");
  json::object properties = document.as_object().at("properties").as_object();
  cloud::refuse(properties, set_by_muster);
  cloud::refuse(properties.at("scheduling").as_object().at("properties").as_object(),
                scheduling_set_by_muster);
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"description",
           "The body of Compute Engine's instances.insert, in its own spelling: disks, "
           "networkInterfaces, serviceAccounts, scheduling, metadata, ..."}};
}

Result<void> check_metadata(const json::object& launch) {
  const json::object* metadata = table_of(launch, "metadata");
  Result<void> outcome;
  if (!metadata) return outcome;
  for_each_of(*metadata, "items", [&](const json::object& item) {
    const std::string key = text_of(item, "key");
    if (!outcome) return;
    if (key == "taskcluster")
      outcome = Error::invalid(
          "google.launch.metadata.items: muster writes the item taskcluster; remove it");
    else if (key.empty())
      outcome = Error::invalid("google.launch.metadata.items: an item lacks its key");
    else if (text_of(item, "value").size() > most_metadata)
      outcome = Error::invalid("google.launch.metadata.items: the value of \"" + key +
                               "\" has more than 262144 bytes");
  });
  return outcome;
}

// False: no disk has an image, so nothing is launched there.
Result<bool> check_disks(const json::object& launch) {
  bool has_image = launch.contains("sourceMachineImage");
  Result<void> outcome;
  for_each_of(launch, "disks", [&](const json::object& disk) {
    const json::object* fresh = table_of(disk, "initializeParams");
    if (fresh && fresh->contains("diskName"))
      outcome = Error::invalid(
          "google.launch.disks: several machines cannot share a disk; remove diskName");
    const std::string source = text_of(disk, "source"), mode = text_of(disk, "mode");
    if (!source.empty() && mode != "READ_ONLY")
      outcome = Error::invalid(
          "google.launch.disks: the disk \"" + source +
          "\" can be written by one machine only; set mode = \"READ_ONLY\", or make a new disk "
          "with initializeParams");
    has_image |= fresh && (fresh->contains("sourceImage") || fresh->contains("sourceSnapshot"));
  });
  if (!outcome) return outcome.error();
  return has_image;
}

Result<void> check_network(const json::object& launch) {
  Result<void> outcome;
  for_each_of(launch, "networkInterfaces", [&](const json::object& interface) {
    if (interface.contains("networkIP"))
      outcome = Error::invalid(
          "google.launch.networkInterfaces: several machines cannot share an address; remove "
          "networkIP");
  });
  return outcome;
}

Result<void> check_identity(const json::object& launch, const Settings& settings) {
  const json::value* accounts = launch.if_contains("serviceAccounts");
  if (accounts && accounts->is_array() && accounts->get_array().size() > 1)
    return Error::invalid(
        "google.launch.serviceAccounts: Compute Engine takes one service account of a machine; "
        "remove the others");
  if (!service_account_of(launch, settings).empty()) return {};
  return Error::invalid(
      "google.launch.serviceAccounts: is missing, and the provider has no workerServiceAccount: "
      "without one a machine cannot prove who it is");
}

}  // namespace

std::string service_account_of(const json::object& launch, const Settings& settings) {
  std::string email;
  for_each_of(launch, "serviceAccounts",
              [&](const json::object& account) { email = text_of(account, "email"); });
  return email.empty() ? settings.worker_service_account : email;
}

cloud::SectionRules section_rules(const Settings& settings) {
  return {.words = words,
          .user_data = {.most = most_metadata},
          .complete = [&settings](json::object& launch, const json::object&,
                                  const Placement&) -> Result<bool> {
            auto has_image = check_disks(launch);
            if (!has_image || !*has_image) return has_image;
            for (const auto check : {check_metadata, check_network})
              if (const auto good = check(launch); !good) return good.error();
            if (const auto good = check_identity(launch, settings); !good) return good.error();
            return true;
          },
          .kept = {"labels"}};
}

json::object section_schema() {
  json::object properties =
      cloud::section_properties(words, launch_schema(), "^[a-z][a-z0-9]*(-[a-z0-9]+)+$");
  properties.erase("userData");  // metadata is in `launch`
  json::object labels = cloud::texts_schema(
      "Labels of machines and their disks, as Google spells them. Names that begin with muster- "
      "are not allowed",
      "^([a-ln-z]|m($|[^u])|mu($|[^s])|mus($|[^t])|must($|[^e])|muste($|[^r])|muster($|[^-]))"
      "[a-z0-9_-]*$",
      63);
  labels["maxProperties"] = most_labels;
  labels["additionalProperties"] =
      json::object{{"type", "string"}, {"pattern", "^[a-z0-9_-]{0,63}$"}};
  properties["labels"] = std::move(labels);
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
}

json::object example_section() {
  const json::object disk{
      {"boot", true},
      {"initializeParams",
       json::object{{"sourceImage", "projects/debian-cloud/global/images/family/debian-12"},
                    {"diskSizeGb", 50}}}};
  return {
      {"launch", json::object{{"disks", json::array{disk}},
                              {"networkInterfaces",
                               json::array{json::object{{"network", "global/networks/default"}}}}}},
      {"machineTypes", json::array{json::object{{"type", "n2-standard-4"}, {"capacity", 2}},
                                   json::object{{"type", "e2-standard-4"}}}},
      {"market", json::array{words.spot, words.on_demand}},
      {"maxPrice", 0.5},
      {"labels", json::object{{"team", "build"}}}};
}

// What a machine is launched from is static: a change makes workers outdated.
FieldClasses field_classes() {
  return {.static_fields = {"google.launch", "google.machineType", "google.market"},
          .dynamic_fields = {},
          .behavioural_fields = {"google.labels", "google.maxPrice"}};
}

}  // namespace muster::google
