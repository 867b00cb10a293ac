#include <array>
#include <stdexcept>

#include "plugins/provider/aws/section.hpp"

namespace muster::aws {
namespace {

// What muster sets itself, and what to write instead.
struct SetByMuster {
  const char* name;
  const char* instead;
};
constexpr std::array<SetByMuster, 10> set_by_muster{{
    {"MinCount", "muster decides how many machines are launched; remove it"},
    {"MaxCount", "muster decides how many machines are launched; remove it"},
    {"ClientToken", "muster makes it, so that nothing is launched twice; remove it"},
    {"DryRun", "muster launches for good; `muster provider doctor` tries; remove it"},
    {"UserData", "muster writes it; use aws.userData"},
    {"InstanceType", "use aws.instanceTypes"},
    {"InstanceMarketOptions", "use aws.market and aws.maxPrice"},
    {"TagSpecifications", "use aws.tags"},
    {"PrivateIpAddress", "several machines cannot share an address; remove it"},
    {"DisableApiTermination", "muster could not end the machine; remove it"},
}};

json::object described(json::object schema, const char* description) {
  schema["description"] = description;
  return schema;
}

json::object launch_schema(const Model& model) {
  json::object schema = schema_of(*model.service("ec2")->action("RunInstances")->input);
  schema.erase("required");
  json::object& properties = schema["properties"].as_object();
  for (const auto& [name, instead] : set_by_muster)
    properties[name] = json::object{{"enum", json::array{instead}}, {"description", instead}};
  return described(std::move(schema),
                   "Parameters of EC2's RunInstances, in its own spelling: ImageId, SubnetId, "
                   "SecurityGroupIds, BlockDeviceMappings, ...");
}

json::object price_schema(const char* description) {
  return {{"type", "number"}, {"exclusiveMinimum", 0}, {"description", description}};
}

json::object instance_types_schema() {
  json::object type{
      {"type", "object"},
      {"additionalProperties", false},
      {"required", json::array{"type"}},
      {"properties",
       json::object{
           {"type", json::object{{"type", "string"},
                                 {"pattern", "^[a-z0-9-]+\\.[a-z0-9-]+$"},
                                 {"description", "As EC2 calls it: m5.large"}}},
           {"capacity",
            json::object{{"type", "integer"},
                         {"minimum", 1},
                         {"description",
                          "Tasks at once; workerManager.capacityPerInstance, or 1, unless given"}}},
           {"maxPrice", price_schema("Instead of aws.maxPrice")},
           {"launch", json::object{{"$ref", "#/properties/launch"},
                                   {"description", "Laid over aws.launch for this type"}}}}}};
  return {{"type", "array"},
          {"minItems", 1},
          {"items", std::move(type)},
          {"description", "What may be launched, each a launch configuration of its own"}};
}

json::object market_schema() {
  return {{"type", "array"},
          {"minItems", 1},
          {"uniqueItems", true},
          {"items", json::object{{"enum", json::array{spot, on_demand}}}},
          {"description",
           "How machines are bought, each a launch configuration of its own; on demand unless "
           "given"}};
}

json::object texts(const char* description, const char* pattern_of_keys, std::int64_t longest) {
  return {{"type", "object"},
          {"propertyNames", json::object{{"pattern", pattern_of_keys}, {"maxLength", 128}}},
          {"additionalProperties", json::object{{"type", "string"}, {"maxLength", longest}}},
          {"description", description}};
}

}  // namespace

json::object section_schema(const Model& model) {
  json::object tags = texts(
      "Tags of machines and their volumes. Names that begin with muster- or aws: are not allowed",
      "^([^am]|a($|[^w])|aw($|[^s])|aws($|[^:])|m($|[^u])|mu($|[^s])|mus($|[^t])|must($|[^e])|"
      "muste($|[^r])|muster($|[^-]))",
      256);
  tags["maxProperties"] = 30;
  return {
      {"type", "object"},
      {"additionalProperties", false},
      {"properties",
       json::object{
           {"launch", launch_schema(model)},
           {"instanceTypes", instance_types_schema()},
           {"market", market_schema()},
           {"maxPrice", price_schema("Dollars that an hour of a machine may cost at most")},
           {"product",
            json::object{{"enum", json::array{linux_product, "Windows", "Red Hat Enterprise Linux",
                                              "SUSE Linux"}},
                         {"description", "The system of the image, by which spot prices differ"}}},
           {"zones", texts("By availability zone: the subnet to launch into. Zones that are not in "
                           "it are not used",
                           "^[a-z0-9-]+$", 64)},
           {"userData",
            json::object{{"type", json::array{"object", "string"}},
                         {"description",
                          "A table: added to the user data that muster writes. A text: the user "
                          "data, in which {{registration}} is filled in"}}},
           {"tags", std::move(tags)}}}};
}

json::object example_section() {
  return {{"launch", json::object{{"ImageId", "ami-00000000000000001"},
                                  {"SecurityGroupIds", json::array{"sg-00000000000000001"}}}},
          {"instanceTypes", json::array{json::object{{"type", "m5.large"}, {"capacity", 2}},
                                        json::object{{"type", "c5.large"}}}},
          {"market", json::array{spot, on_demand}},
          {"maxPrice", 0.5},
          {"tags", json::object{{"team", "build"}}}};
}

// What a machine is launched from is static: a change makes workers outdated.
FieldClasses field_classes() {
  return {.static_fields = {"aws.launch", "aws.instanceType", "aws.market", "aws.userData"},
          .dynamic_fields = {},
          .behavioural_fields = {"aws.tags", "aws.maxPrice", "aws.product"}};
}

}  // namespace muster::aws
