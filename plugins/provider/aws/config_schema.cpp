// What operators may write, for the host's checks and for people.
#include "plugins/base/schema_parts.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {
namespace {

json::object list_schema(const char* description, json::object items) {
  json::object schema = of_type("array", description);
  schema["minItems"] = 1;
  schema["items"] = std::move(items);
  return schema;
}

json::object regions_schema() {
  return {{"description",
           "Where to launch: a list of regions, or \"all\" for every region that is enabled for "
           "the account"},
          {"anyOf", json::array{json::object{{"const", "all"}},
                                list_schema("Regions", text_schema("A region: us-east-1"))}}};
}

json::object identity_keys_schema() {
  return {
      {"type", "array"},
      {"description",
       "Certificates that sign instance identity documents, in addition to those that AWS "
       "publishes and that are built in"},
      {"items",
       table_schema(
           "One certificate",
           {{"regions", list_schema("The regions that it is for; \"*\" is all",
                                    text_schema("A region, or *"))},
            {"certificateFile", text_schema("Absolute path of a certificate or public key in PEM")},
            {"certificate", text_schema("The certificate or public key itself, in PEM")}},
           {"regions"})}};
}

json::object launch_limits_schema() {
  json::object per_call =
      of_type("integer", "Machines of one RunInstances call at most; 100 unless given");
  per_call["minimum"] = 1;
  per_call["maximum"] = 1000;
  return table_schema("Bounds of launches", {{"perCall", std::move(per_call)}});
}

}  // namespace

json::object config_schema() {
  json::object properties = connection_properties();
  properties["regions"] = regions_schema();
  properties["homeRegion"] = text_schema(
      "The region that is asked which regions are enabled, and about the account; the first of "
      "regions, or us-east-1, unless given");
  properties["priceSource"] = json::object{{"enum", json::array{"spotHistory", "table"}},
                                           {"description",
                                            "Where spot prices come from: AWS's price history, "
                                            "which it is unless given, or priceTable"}};
  properties["priceTable"] = price_table_schema(
      "Prices in dollars an hour. A key is a type (m5.large), a region or zone and a type "
      "(us-east-1/m5.large), or place, market and type (us-east-1a/spot/m5.large); the most exact "
      "one counts. On-demand prices that are not here are estimated from built-in list prices");
  properties["identityKeys"] = identity_keys_schema();
  properties["identityKeysOnly"] =
      of_type("boolean", "Trust identityKeys alone, and none of the built-in certificates");
  json::object account = text_schema(
      "The account that machines must belong to, 12 digits; that of the credentials unless given");
  account["pattern"] = "^[0-9]{12}$";
  properties["accountId"] = std::move(account);
  properties["launchLimits"] = launch_limits_schema();
  properties["interruptionQueues"] = map_schema(
      "By region: the URL of an SQS queue that gets EC2's interruption warnings, rebalance "
      "recommendations and state changes from EventBridge",
      text_schema("https://sqs.us-east-1.amazonaws.com/123456789012/muster"));
  properties["example"] =
      of_type("boolean", "An EC2 in memory instead of AWS: to try muster and to check this plugin");
  return table_schema("An AWS account", std::move(properties), {"regions"});
}

json::object example_config() {
  return {{"regions", json::array{"us-east-1", "eu-west-1"}},
          {"example", true},
          {"priceTable", json::object{{"m5.large", 0.096}}},
          {"launchLimits", json::object{{"perCall", 50}}}};
}

}  // namespace muster::aws
