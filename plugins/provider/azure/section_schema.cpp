#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/documents.hpp"
#include "plugins/provider/azure/section.hpp"

namespace muster::azure {
namespace {

json::object& properties_of(json::object& definitions, const char* name) {
  return definitions.at(name).as_object().at("properties").as_object();
}

// What muster sets itself, and what would leave something behind, by Microsoft's definitions.
void refuse_in(json::object& definitions) {
  const auto refuse = [&](const char* name, const std::vector<cloud::SetByMuster>& set_by_muster) {
    cloud::refuse(properties_of(definitions, name), set_by_muster);
  };
  refuse("HardwareProfile", {{"vmSize", "use azure.vmSizes"}});
  refuse("VirtualMachineProperties",
         {{"priority", "use azure.market"}, {"billingProfile", "use azure.maxPrice"}});
  refuse("OSProfile", {{"customData", "muster writes it; use azure.userData"},
                       {"computerName", "muster names machines; remove it"},
                       {"adminPassword", "muster sets one that nobody knows; remove it"}});
  refuse("NetworkProfile",
         {{"networkInterfaces", "use networkInterfaceConfigurations, one for each machine"},
          {"networkApiVersion", "muster sets it; remove it"}});
  refuse("OSDisk", {{"name", "muster names disks; remove it"},
                    {"vhd", "it would stay behind; use managedDisk"}});
  refuse("DataDisk", {{"name", "muster names disks; remove it"},
                      {"vhd", "it would stay behind; use managedDisk"}});
  // Everything ends with its machine.
  definitions["DeleteOption"] =
      json::object{{"enum", json::array{"Delete"}},
                   {"description", "Everything that is made for a machine ends with it"}};
  for (const char* name : {"VirtualMachineNetworkInterfaceConfigurationProperties",
                           "VirtualMachinePublicIPAddressConfigurationProperties"})
    properties_of(definitions, name)["deleteOption"] =
        json::object{{"$ref", "#/$defs/DeleteOption"}};
  // A disk of an image unless the team says otherwise; names are muster's.
  for (const char* name : {"OSDisk", "DataDisk", "VirtualMachineNetworkInterfaceConfiguration",
                           "VirtualMachineNetworkInterfaceIPConfiguration",
                           "VirtualMachinePublicIPAddressConfiguration"})
    definitions.at(name).as_object().erase("required");
}

json::object launch_schema(json::object& definitions) {
  json::object properties = properties_of(definitions, "VirtualMachine");
  for (const auto& [key, value] : properties_of(definitions, "VirtualMachineProperties"))
    properties[key] = value;
  cloud::refuse(properties, {{"location", "the provider's locations say it; remove it"},
                             {"tags", "use azure.tags"},
                             {"zones", "the provider's zones say it; remove it"}});
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"description",
           "The body of the PUT of a virtual machine, in its own spelling: hardwareProfile, "
           "storageProfile, networkProfile, ... in `properties` or beside it"}};
}

json::object deployment_schema(json::object& definitions) {
  json::object schema = definitions.at("DeploymentProperties").as_object();
  schema.erase("required");
  json::object& properties = schema["properties"].as_object();
  properties["mode"] = json::object{
      {"enum", json::array{"Incremental"}},
      {"description", "Complete would remove what is in the resource group: all other workers"}};
  cloud::refuse(properties,
                {{"parametersLink", "muster adds parameters; write them in parameters"}});
  json::object& parameters = properties["parameters"].as_object();
  json::object refused;
  for (const char* name : template_parameters)
    refused[name] = json::object{{"enum", json::array{"muster sets it; remove it"}}};
  parameters["properties"] = std::move(refused);
  schema["description"] =
      "Instead of launch: a deployment of an ARM template for each machine, with the parameters "
      "that Taskcluster passes (vmName, computerName, tags, customData, ...)";
  return schema;
}

}  // namespace

json::object section_schema() {
  json::object definitions = documents.read("model").as_object().at("$defs").as_object();
  refuse_in(definitions);
  json::object properties =
      cloud::section_properties(words, launch_schema(definitions), "^[A-Za-z]+_[A-Za-z0-9_-]+$");
  properties["armDeployment"] = deployment_schema(definitions);
  json::object tags = cloud::texts_schema(
      "Tags of machines and their disks. Names that begin with muster- are not allowed, nor those "
      "that workers' images read (root-url, worker-pool-id, ...)",
      "^[^<>%&?/\\\\]+$", 256);
  tags["maxProperties"] = 30;
  properties["tags"] = std::move(tags);
  properties["osType"] = json::object{
      {"enum", json::array{"Linux", "Windows"}},
      {"description", "The system of the image, by which prices differ; by launch unless given"}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"properties", std::move(properties)},
          {"$defs", std::move(definitions)}};
}

json::object example_section() {
  const json::object subnet{
      {"id",
       "/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/muster/providers/"
       "Microsoft.Network/virtualNetworks/workers/subnets/default"}};
  return {{"launch",
           json::object{
               {"storageProfile",
                json::object{{"imageReference", json::object{{"publisher", "Debian"},
                                                             {"offer", "debian-12"},
                                                             {"sku", "12-gen2"},
                                                             {"version", "latest"}}}}},
               {"networkProfile",
                json::object{{"networkInterfaceConfigurations",
                              json::array{json::object{
                                  {"name", "nic"},
                                  {"properties",
                                   json::object{{"primary", true},
                                                {"ipConfigurations",
                                                 json::array{json::object{
                                                     {"name", "ip"},
                                                     {"properties",
                                                      json::object{{"subnet", subnet}}}}}}}}}}}}}}},
          {"vmSizes", json::array{json::object{{"size", "Standard_D2s_v5"}, {"capacity", 2}},
                                  json::object{{"size", "Standard_F4s_v2"}}}},
          {"market", json::array{"Spot", "Regular"}},
          {"maxPrice", 0.5},
          {"tags", json::object{{"team", "build"}}}};
}

FieldClasses field_classes() {
  FieldClasses classes = cloud::field_classes_of(words);
  classes.static_fields.push_back("azure.armDeployment");
  classes.behavioural_fields.push_back("azure.osType");
  return classes;
}

}  // namespace muster::azure
