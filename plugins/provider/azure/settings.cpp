#include "plugins/provider/azure/settings.hpp"

#include <algorithm>
#include <set>

#include <muster/json_schema.hpp>

#include "plugins/base/files.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/documents.hpp"

namespace muster::azure {
namespace {

using cloud::table_of;
using cloud::text_of;

// "West Europe" is its display name; "westeurope" its name.
bool is_location(std::string_view name) {
  return !name.empty() && name.size() <= 40 && std::ranges::all_of(name, [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9');
  });
}

Error not_a_location(const std::string& path, const std::string& name) {
  return Error::invalid(path + ": \"" + name +
                        "\" is not the name of a location; write it in small letters without "
                        "spaces, like westeurope");
}

bool is_size(std::string_view type) {
  return type.find('_') != std::string_view::npos;
}

std::vector<std::string> texts_in(const json::object& object, const char* key) {
  std::vector<std::string> texts;
  if (const json::value* list = object.if_contains(key))
    for (const json::value& text : list->as_array()) texts.emplace_back(text.as_string());
  return texts;
}

Result<void> check_against_schema(const json::object& config) {
  const auto schema = json::Schema::compile(config_schema());
  if (!schema) return schema.error();
  const auto violations = schema->validate(config);
  if (violations.empty()) return {};
  return Error::invalid(json::to_string(violations.front()));
}

Result<void> read_locations(const json::object& config, Settings& settings) {
  std::set<std::string> seen;
  for (const std::string& name : texts_in(config, "locations")) {
    if (!is_location(name)) return not_a_location("locations", name);
    if (!seen.insert(name).second)
      return Error::invalid("locations: \"" + name + "\" is there twice; remove one");
    settings.locations.push_back(name);
  }
  for (const char* key : {"zones", "resourceGroups"})
    if (const json::object* table = table_of(config, key))
      for (const auto& entry : *table)
        if (!seen.contains(std::string(entry.key())))
          return Error::invalid(std::string(key) + ": \"" + std::string(entry.key()) +
                                "\" is not in locations");
  if (const json::object* zones = table_of(config, "zones"))
    for (const auto& [location, list] : *zones)
      settings.zones[std::string(location)] = texts_in(*zones, std::string(location).c_str());
  return {};
}

Result<void> read_groups(const json::object& config, Settings& settings) {
  settings.resource_group = text_of(config, "resourceGroup");
  if (const json::object* groups = table_of(config, "resourceGroups"))
    for (const auto& [location, group] : *groups)
      settings.resource_groups.emplace(location, group.as_string());
  if (!settings.resource_group.empty()) return {};
  for (const std::string& location : settings.locations)
    if (!settings.resource_groups.contains(location))
      return Error::invalid("resourceGroup: is missing, and resourceGroups has none for " +
                            location + "; make a resource group of muster's own and name it here");
  return {};
}

Result<void> read_prices(const json::object& config, Settings& settings) {
  settings.retail_prices = text_of(config, "priceSource") != "table";
  auto table = cloud::read_price_table(config, is_size,
                                       "\"Standard_D2s_v5\", \"westeurope/Standard_D2s_v5\" or "
                                       "\"westeurope-1/Spot/Standard_D2s_v5\"");
  if (!table) return table.error();
  settings.price_table = std::move(*table);
  return {};
}

Result<std::string> read_pem(const json::object& config, const char* key) {
  const std::string file = text_of(config, key);
  if (file.empty()) return std::string();
  if (const auto wrong = cloud::mistake_in_path(key, file); !wrong.empty())
    return Error::invalid(wrong);
  auto text = read_if_there(file);
  if (!text) return Error::invalid(std::string(key) + ": " + text.error().message);
  if (!*text) return Error::invalid(std::string(key) + ": there is no file " + file);
  if ((*text)->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
    return Error::invalid(std::string(key) + ": " + file + " has no certificate in PEM");
  return std::move(**text);
}

Result<void> read_identity(const json::object& config, Settings& settings) {
  IdentitySettings& identity = settings.identity;
  auto roots = read_pem(config, "identityRoots");
  if (!roots) return roots.error();
  identity.roots = std::move(*roots);
  auto intermediates = read_pem(config, "identityIntermediates");
  if (!intermediates) return intermediates.error();
  identity.intermediates = std::move(*intermediates);
  if (const json::value* only = config.if_contains("identityRootsOnly"))
    identity.system_roots = !only->as_bool();
  if (!identity.system_roots && identity.roots.empty())
    return Error::invalid(
        "identityRootsOnly: without identityRoots no worker could register; add the file, or "
        "remove identityRootsOnly");
  const json::value issuers = documents.read("issuers");
  identity.issuer_urls = config.contains("issuerUrls") ? texts_in(config, "issuerUrls")
                                                       : texts_in(issuers.as_object(), "urls");
  for (const std::string& url : identity.issuer_urls)
    if (!url.starts_with("http://") && !url.starts_with("https://"))
      return Error::invalid("issuerUrls: \"" + url + "\" is not the beginning of a URL");
    else if (url.find('/', url.find("//") + 2) == std::string::npos)
      return Error::invalid("issuerUrls: \"" + url +
                            "\" must end its host with a slash, or other hosts that begin like it "
                            "would be allowed, too");
  const json::value clouds = documents.read("clouds");
  identity.names = texts_in(clouds.at(settings.connection.cloud).as_object(), "metadataNames");
  return {};
}

}  // namespace

bool Settings::uses(const std::string& location) const {
  return std::ranges::find(locations, location) != locations.end();
}

const std::string& Settings::group_of(const std::string& location) const {
  const auto found = resource_groups.find(location);
  return found == resource_groups.end() ? resource_group : found->second;
}

std::vector<std::string> Settings::groups() const {
  std::set<std::string> all;
  for (const std::string& location : locations) all.insert(group_of(location));
  return {all.begin(), all.end()};
}

std::string Settings::group_path(const std::string& group) const {
  return subscription_path() + "/resourceGroups/" + group;
}

Result<Settings> read_settings(const json::object& config) {
  if (const auto good = check_against_schema(config); !good) return good.error();
  Settings settings;
  auto connection = read_connection(config);
  if (!connection) return connection.error();
  settings.connection = std::move(*connection);
  settings.subscription = text_of(config, "subscription");
  for (const auto read : {read_locations, read_groups, read_prices, read_identity})
    if (const auto good = read(config, settings); !good) return good.error();
  if (const json::value* example = config.if_contains("example"))
    settings.example = example->as_bool();
  if (const json::value* grace = config.if_contains("leftoverGraceSeconds"))
    settings.leftover_grace = std::chrono::seconds(grace->as_int64());
  return settings;
}

}  // namespace muster::azure
