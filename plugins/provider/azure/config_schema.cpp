// What operators may write, for the host's checks and for people.
#include "plugins/base/schema_parts.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {
namespace {

json::object list_schema(const char* description, json::object items) {
  json::object schema = of_type("array", description);
  schema["minItems"] = 1;
  schema["items"] = std::move(items);
  return schema;
}

json::object group_schema(const char* description) {
  json::object schema = text_schema(description);
  schema["pattern"] = "^[A-Za-z0-9_().-]{0,89}[A-Za-z0-9_()-]$";
  return schema;
}

}  // namespace

json::object config_schema() {
  json::object properties = connection_properties();
  json::object subscription = text_schema("The subscription's id");
  subscription["pattern"] =
      "^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$";
  properties["subscription"] = std::move(subscription);
  properties["resourceGroup"] = group_schema("Where machines are made: one of muster's own");
  properties["resourceGroups"] = map_schema(
      "By location: a resource group instead of resourceGroup", group_schema("A resource group"));
  properties["locations"] = list_schema("Where to launch", text_schema("A location: westeurope"));
  json::object zone = text_schema("A zone: 1, 2 or 3");
  zone["pattern"] = "^[0-9]$";
  properties["zones"] = map_schema(
      "By location: the availability zones to launch in, each a place of its own. Locations that "
      "are not in it launch without a zone",
      list_schema("Zones", std::move(zone)));
  properties["priceSource"] = json::object{{"enum", json::array{"retail", "table"}},
                                           {"default", "retail"},
                                           {"description",
                                            "Where prices come from: Azure's public retail prices, "
                                            "or priceTable alone"}};
  properties["priceTable"] = cloud::price_table_schema(
      "Prices in dollars an hour, before Azure's retail prices. A key is a size "
      "(Standard_D2s_v5), a location or zone and a size (westeurope/Standard_D2s_v5), or place, "
      "market and size (westeurope-1/Spot/Standard_D2s_v5); the most exact one counts");
  properties["identityRoots"] = text_schema(
      "Absolute path of root certificates in PEM that attested documents may lead to, in addition "
      "to the system's");
  properties["identityRootsOnly"] =
      of_type("boolean", "Trust identityRoots alone, and none of the system's");
  properties["identityIntermediates"] = text_schema(
      "Absolute path of intermediate certificates in PEM: with them no issuer is ever asked");
  properties["issuerUrls"] = of_type("array",
                                     "The beginnings of URLs from which missing intermediate "
                                     "certificates may be fetched; those of "
                                     "Azure's issuers unless given; []: none");
  properties["issuerUrls"].as_object()["items"] = text_schema("http://cacerts.digicert.com/");
  json::object grace = of_type(
      "integer",
      "Seconds after which network interfaces, disks, addresses and deployments without a machine "
      "are removed; 300 unless given");
  grace["minimum"] = 1;
  grace["maximum"] = 86400;
  properties["leftoverGraceSeconds"] = std::move(grace);
  properties["example"] =
      of_type("boolean",
              "An Azure in memory instead of the real one: to try muster and to check this plugin");
  return table_schema("An Azure subscription", std::move(properties),
                      {"subscription", "locations"});
}

json::object example_config() {
  return {{"subscription", "00000000-0000-0000-0000-000000000000"},
          {"resourceGroup", "muster"},
          {"locations", json::array{"westeurope", "northeurope"}},
          {"zones", json::object{{"westeurope", json::array{"1", "2"}}}},
          {"example", true},
          {"priceTable", json::object{{"Standard_D2s_v5", 0.115}}}};
}

}  // namespace muster::azure
