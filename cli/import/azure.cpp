// Launch configurations of Taskcluster's provider azure: properties of a virtual machine with
// location, subnetId and tags beside them, or an ARM template deployment.
#include <algorithm>

#include "cli/import/documents.hpp"
#include "cli/import/launch_choice.hpp"

namespace muster::importing {
namespace {

// "East US" → "eastus"
std::string location_name(std::string name) {
  std::erase(name, ' ');
  for (char& c : name)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return name;
}

// The network interface that Taskcluster makes for each machine, as part of the machine.
json::object network_profile(const std::string& subnet_id, bool public_address) {
  json::object address{{"name", "ipconfig"},
                       {"properties", json::object{{"subnet", json::object{{"id", subnet_id}}}}}};
  if (public_address)
    address["properties"].as_object()["publicIPAddressConfiguration"] =
        json::object{{"name", "address"},
                     {"sku", json::object{{"name", "Standard"}}},
                     {"properties", json::object{{"deleteOption", "Delete"}}}};
  return {
      {"networkInterfaceConfigurations",
       json::array{json::object{
           {"name", "interface"},
           {"properties", json::object{{"primary", true},
                                       {"deleteOption", "Delete"},
                                       {"ipConfigurations", json::array{std::move(address)}}}}}}}};
}

Result<LaunchChoice> read_deployment(const json::object& document, LaunchChoice choice,
                                     std::vector<Loss>& losses) {
  const json::object* deployment = table_in(document, "armDeployment");
  const json::object* parameters = deployment ? table_in(*deployment, "parameters") : nullptr;
  const json::object* location = parameters ? table_in(*parameters, "location") : nullptr;
  const json::object* size = parameters ? table_in(*parameters, "vmSize") : nullptr;
  if (choice.region.empty() && location) choice.region = location_name(text_in(*location, "value"));
  choice.type = size ? text_in(*size, "value") : "";
  if (choice.region.empty())
    return Error::invalid("armDeployment.parameters.location.value is missing");
  if (choice.type.empty())
    return Error::invalid(
        "armDeployment.parameters.vmSize.value is missing; muster must know the "
        "size to buy it");
  choice.market = "Regular";
  if (const json::object* priority = table_in(*parameters, "priority");
      priority && text_in(*priority, "value") == "Spot")
    choice.market = "Spot";
  // The size is passed by muster, so that one template serves all sizes.
  json::object kept = *deployment;
  take(kept["parameters"].as_object(), "vmSize");
  choice.section["armDeployment"] = std::move(kept);
  if (document.contains("armDeploymentResourceGroup"))
    losses.push_back({"", "armDeploymentResourceGroup",
                      "deployments are made in the resource group of the provider"});
  return choice;
}

Result<LaunchChoice> read_azure(json::object document, const Knowledge&,
                                std::vector<Loss>& losses) {
  LaunchChoice choice{.region = location_name(text_in(document, "location"))};
  take(document, "location");
  const json::value public_address = take(document, "publicIp");
  if (const json::value tags = take(document, "tags");
      tags.is_object() && !tags.get_object().empty())
    choice.section["tags"] = tags;
  if (document.contains("armDeployment"))
    return read_deployment(document, std::move(choice), losses);

  json::value* hardware = document.if_contains("hardwareProfile");
  if (!hardware || !hardware->is_object()) return Error::invalid("hardwareProfile is no table");
  choice.type = text_in(hardware->get_object(), "vmSize");
  if (choice.type.empty()) return Error::invalid("hardwareProfile.vmSize is missing");
  take(hardware->get_object(), "vmSize");
  if (hardware->get_object().empty()) take(document, "hardwareProfile");
  choice.market = take(document, "priority") == json::value("Spot") ? "Spot" : "Regular";
  if (json::value billing = take(document, "billingProfile"); billing.is_object()) {
    const json::value price = take(billing.get_object(), "maxPrice");
    if (price.is_number() && price.to_number<double>() > 0)
      choice.max_price = price.to_number<double>();
  }
  const std::string subnet = text_in(document, "subnetId");
  take(document, "subnetId");
  if (subnet.empty()) return Error::invalid("subnetId is missing");
  if (document.contains("networkProfile"))
    losses.push_back({"", "networkProfile", "Taskcluster replaces it by an interface in subnetId"});
  document["networkProfile"] = network_profile(subnet, public_address == json::value(true));
  choice.launch = std::move(document);
  return choice;
}

}  // namespace

const Cloud azure_cloud{"azure", "", "vmSizes", "size", read_azure, nullptr};

}  // namespace muster::importing
