// Launch configurations of Taskcluster's provider google: the body of instances.insert with region,
// zone and workerConfig beside it.
#include "cli/import/documents.hpp"
#include "cli/import/launch_choice.hpp"

namespace muster::importing {
namespace {

// What muster writes into every machine, or what Taskcluster itself overwrites.
constexpr std::pair<const char*, const char*> refused_for_google[] = {
    {"name", "muster names machines"},
    {"description", "muster describes machines"},
    {"serviceAccounts",
     "Taskcluster replaces it by the provider's workerServiceAccountId; set the "
     "service account of machines in the section google"},
};

// "zones/us-west1-a/machineTypes/n2-standard-4" → "n2-standard-4"
std::string last_part(const std::string& name) {
  const auto slash = name.rfind('/');
  return slash == name.npos ? name : name.substr(slash + 1);
}

// Taken out of `scheduling`: the market says it.
std::string market_in(json::object& launch) {
  json::value* scheduling = launch.if_contains("scheduling");
  json::object* table = scheduling ? scheduling->if_object() : nullptr;
  if (!table) return "STANDARD";
  const json::value preemptible = take(*table, "preemptible");
  const json::value model = take(*table, "provisioningModel");
  take(*table, "automaticRestart");  // never: a machine that ends is replaced
  if (table->empty()) take(launch, "scheduling");
  const bool spot = preemptible == json::value(true) || model == json::value("SPOT");
  return spot ? "SPOT" : "STANDARD";
}

Result<LaunchChoice> read_google(json::object document, const Knowledge&,
                                 std::vector<Loss>& losses) {
  LaunchChoice choice{.region = text_in(document, "region"),
                      .zone = text_in(document, "zone"),
                      .type = last_part(text_in(document, "machineType"))};
  if (choice.zone.empty()) return Error::invalid("zone is missing");
  if (choice.type.empty()) return Error::invalid("machineType is missing");
  for (const char* key : {"region", "zone", "machineType"}) take(document, key);
  for (const auto& [key, reason] : refused_for_google)
    if (!take(document, key).is_null()) losses.push_back({"", key, reason});
  choice.market = market_in(document);
  const json::value labels = take(document, "labels");
  if (labels.is_object() && !labels.get_object().empty()) choice.section["labels"] = labels;
  choice.launch = std::move(document);
  return choice;
}

}  // namespace

const Cloud google_cloud{"google", "availabilityZone", "machineTypes",
                         "type",   read_google,        nullptr};

}  // namespace muster::importing
