#include "plugins/provider/google/settings.hpp"

#include <algorithm>
#include <set>

#include <muster/json_schema.hpp>

#include "plugins/base/schema_parts.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/machine_types.hpp"
#include "plugins/provider/google/words.hpp"

namespace muster::google {
namespace {

using cloud::text_of;

bool is_name(std::string_view name) {
  return !name.empty() && name.size() <= 63 && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
  });
}

json::object names_schema(const char* description, const char* one) {
  json::object schema = of_type("array", description);
  schema["minItems"] = 1;
  schema["uniqueItems"] = true;
  schema["items"] = text_schema(one);
  return schema;
}

json::object launch_limits_schema() {
  const auto count = [](const char* description, int least, int most) {
    json::object schema = of_type("integer", description);
    schema["minimum"] = least;
    schema["maximum"] = most;
    return schema;
  };
  return table_schema(
      "Bounds of launches",
      {{"perCall", count("Machines of one bulkInsert call at most; 100 unless given", 1, 1000)},
       {"bulkFrom",
        count("From how many machines on bulkInsert is used; 5 unless given, 0: never", 0, 1000)}});
}

Result<void> read_places(const json::object& config, Settings& settings) {
  const auto read = [&](const char* key) {
    std::vector<std::string> names;
    if (const json::value* listed = config.if_contains(key))
      for (const json::value& name : listed->get_array()) names.emplace_back(name.get_string());
    return names;
  };
  settings.regions = read("regions");
  settings.zones = read("zones");
  if (settings.regions.empty() == settings.zones.empty())
    return Error::invalid(
        "needs either regions, like [\"us-central1\"], for all of their zones, or zones, like "
        "[\"us-central1-a\"]");
  for (const std::string& region : settings.regions)
    if (!is_region(region))
      return Error::invalid("regions: \"" + region +
                            "\" is not the name of a region; write it like us-central1" +
                            (is_zone(region) ? ", or list zones in `zones`" : ""));
  std::set<std::string> of_zones;
  for (const std::string& zone : settings.zones) {
    if (!is_zone(zone))
      return Error::invalid("zones: \"" + zone +
                            "\" is not the name of a zone; write it like us-central1-a");
    of_zones.insert(region_of_zone(zone));
  }
  if (settings.regions.empty()) settings.regions = {of_zones.begin(), of_zones.end()};
  return {};
}

Result<void> read_project(const json::object& config, Settings& settings) {
  settings.project = text_of(config, "project");
  const bool good = settings.project.size() >= 4 && settings.project.size() <= 100 &&
                    std::ranges::all_of(settings.project, [](char letter) {
                      return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') ||
                             letter == '-' || letter == ':' || letter == '.';
                    });
  if (!good || (settings.project.front() >= '0' && settings.project.front() <= '9'))
    return Error::invalid(
        "project: \"" + settings.project +
        "\" is not the id of a project; it is like my-project-123456, and neither the project's "
        "name nor its number");
  return {};
}

Result<void> read_identity(const json::object& config, Settings& settings) {
  settings.worker_service_account = text_of(config, "workerServiceAccount");
  if (!settings.worker_service_account.empty() &&
      settings.worker_service_account.find('@') == std::string::npos)
    return Error::invalid(
        "workerServiceAccount: must be an e-mail address, like "
        "worker@my-project.iam.gserviceaccount.com");
  settings.audience = text_of(config, "audience");
  settings.identity_keys_file = text_of(config, "identityKeysFile");
  if (auto wrong = cloud::mistake_in_path("identityKeysFile", settings.identity_keys_file);
      !wrong.empty())
    return Error::invalid(wrong);
  if (const json::value* only = config.if_contains("identityKeysOnly"))
    settings.published_identity_keys = !only->get_bool();
  if (!settings.published_identity_keys && settings.identity_keys_file.empty())
    return Error::invalid(
        "identityKeysOnly: without identityKeysFile no worker could register; add it, or remove "
        "identityKeysOnly");
  return {};
}

Result<void> read_rest(const json::object& config, Settings& settings) {
  settings.catalogue = text_of(config, "priceSource") == "catalogue";
  auto prices = cloud::read_price_table(
      config, [](std::string_view type) { return is_machine_type(type); },
      "\"n2-standard-4\", \"us-central1/n2-standard-4\" or \"us-central1-a/SPOT/n2-standard-4\"");
  if (!prices) return prices.error();
  settings.price_table = std::move(*prices);
  if (const json::object* limits = cloud::table_of(config, "launchLimits")) {
    if (const auto most = cloud::number_of(*limits, "perCall"); most > 0)
      settings.launch_limits.per_call = static_cast<std::size_t>(most);
    if (limits->contains("bulkFrom"))
      settings.launch_limits.bulk_from =
          static_cast<std::size_t>(cloud::number_of(*limits, "bulkFrom"));
  }
  if (const json::value* example = config.if_contains("example"))
    settings.example = example->get_bool();
  return {};
}

}  // namespace

bool is_region(std::string_view name) {
  return is_name(name) && name.find('-') != name.npos && name.back() >= '0' && name.back() <= '9';
}

bool is_zone(std::string_view name) {
  const auto dash = name.rfind('-');
  return dash != name.npos && dash + 1 < name.size() && is_name(name.substr(dash + 1)) &&
         is_region(name.substr(0, dash)) && !(name.back() >= '0' && name.back() <= '9');
}

bool Settings::uses_zone(const std::string& zone) const {
  if (!zones.empty()) return std::ranges::find(zones, zone) != zones.end();
  return is_zone(zone) && std::ranges::find(regions, region_of_zone(zone)) != regions.end();
}

Result<Settings> read_settings(const json::object& config) {
  const auto schema = json::Schema::compile(config_schema());
  if (!schema) return schema.error();
  if (const auto violations = schema->validate(config); !violations.empty())
    return Error::invalid(json::to_string(violations.front()));
  Settings settings;
  for (const auto read : {read_project, read_places, read_identity, read_rest})
    if (const auto good = read(config, settings); !good) return good.error();
  auto connection = read_connection(config);
  if (!connection) return connection.error();
  settings.connection = std::move(*connection);
  return settings;
}

json::object config_schema() {
  json::object properties = connection_properties();
  properties["project"] = text_schema("The id of the project: my-project-123456");
  properties["regions"] =
      names_schema("Where to launch: all zones of these regions", "A region: us-central1");
  properties["zones"] =
      names_schema("Where to launch, instead of regions: these zones alone", "us-central1-a");
  properties["workerServiceAccount"] = text_schema(
      "The service account of machines whose launch names none; with it they prove who they are");
  properties["audience"] = text_schema(
      "What identity tokens of workers must be made for; the host's public address unless given");
  properties["identityKeysFile"] = text_schema(
      "Absolute path of keys that sign identity tokens: a JSON Web Key Set, or a table of "
      "certificates in PEM by their id");
  properties["identityKeysOnly"] = of_type(
      "boolean", "Trust the keys of identityKeysFile alone: Google is never asked for its keys");
  properties["priceSource"] =
      json::object{{"enum", json::array{"table", "catalogue"}},
                   {"description",
                    "Where prices come from that priceTable lacks: estimates from built-in list "
                    "prices, which it is unless given, or Google's billing catalogue"}};
  properties["priceTable"] = cloud::price_table_schema(
      "Prices in dollars an hour. A key is a type (n2-standard-4), a region or zone and a type "
      "(us-central1/n2-standard-4), or place, market and type (us-central1-a/SPOT/n2-standard-4); "
      "the most exact one counts");
  properties["launchLimits"] = launch_limits_schema();
  properties["example"] =
      of_type("boolean",
              "A Compute Engine in memory instead of Google: to try muster and to check this "
              "plugin");
  return table_schema("A Google Cloud project", std::move(properties), {"project"});
}

json::object example_config() {
  return {{"project", "example-project"},
          {"zones", json::array{"us-central1-a", "us-central1-b", "europe-west1-b"}},
          {"workerServiceAccount", "worker@example-project.iam.gserviceaccount.com"},
          {"priceTable", json::object{{"n2-standard-4", 0.19}}},
          {"launchLimits", json::object{{"perCall", 50}}},
          {"example", true}};
}

}  // namespace muster::google
