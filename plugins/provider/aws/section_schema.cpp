#include "plugins/provider/aws/section.hpp"

namespace muster::aws {
namespace {

const std::vector<SetByMuster> set_by_muster{
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
};

json::object described(json::object schema, const char* description) {
  schema["description"] = description;
  return schema;
}

json::object launch_schema(const Model& model) {
  json::object schema = schema_of(*model.service("ec2")->action("RunInstances")->input);
  schema.erase("required");
  refuse(schema["properties"].as_object(), set_by_muster);
  return described(std::move(schema),
                   "Parameters of EC2's RunInstances, in its own spelling: ImageId, SubnetId, "
                   "SecurityGroupIds, BlockDeviceMappings, ...");
}

}  // namespace

json::object section_schema(const Model& model) {
  json::object tags = texts_schema(
      "Tags of machines and their volumes. Names that begin with muster- or aws: are not allowed",
      "^([^am]|a($|[^w])|aw($|[^s])|aws($|[^:])|m($|[^u])|mu($|[^s])|mus($|[^t])|must($|[^e])|"
      "muste($|[^r])|muster($|[^-]))",
      256);
  tags["maxProperties"] = 30;
  json::object properties =
      section_properties(words, launch_schema(model), "^[a-z0-9-]+\\.[a-z0-9-]+$");
  properties["product"] = json::object{
      {"enum", json::array{linux_product, "Windows", "Red Hat Enterprise Linux", "SUSE Linux"}},
      {"description", "The system of the image, by which spot prices differ"}};
  properties["zones"] = texts_schema(
      "By availability zone: the subnet to launch into. Zones that are not in it are not used",
      "^[a-z0-9-]+$", 64);
  properties["tags"] = std::move(tags);
  return {
      {"type", "object"}, {"additionalProperties", false}, {"properties", std::move(properties)}};
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

FieldClasses field_classes() {
  FieldClasses classes = field_classes_of(words);
  classes.behavioural_fields.emplace_back("aws.product");
  return classes;
}

}  // namespace muster::aws
