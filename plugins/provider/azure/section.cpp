#include "plugins/provider/azure/section.hpp"

#include <algorithm>

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"

namespace muster::azure {
namespace {

using cloud::table_of;
using cloud::text_of;

bool has_image(const json::object& properties) {
  const json::object* storage = table_of(properties, "storageProfile");
  if (!storage) return false;
  if (const json::object* image = table_of(*storage, "imageReference")) return !image->empty();
  const json::object* disk = table_of(*storage, "osDisk");
  return disk && disk->contains("image");
}

bool has_network(const json::object& properties) {
  const json::object* network = table_of(properties, "networkProfile");
  bool has_subnet = false;
  if (!network) return false;
  cloud::for_each_of(*network, "networkInterfaceConfigurations", [&](const json::object& nic) {
    const json::object* inside = table_of(nic, "properties");
    if (!inside) return;
    cloud::for_each_of(*inside, "ipConfigurations", [&](const json::object& address) {
      const json::object* of_address = table_of(address, "properties");
      const json::object* subnet = of_address ? table_of(*of_address, "subnet") : nullptr;
      has_subnet |= subnet && !text_of(*subnet, "id").empty();
    });
  });
  return has_subnet;
}

// Microsoft's clients write the members of `properties` beside its siblings, and so do pools of
// Taskcluster: both ways are read.
void gather_properties(json::object& launch) {
  json::object properties;
  if (const json::object* given = table_of(launch, "properties")) properties = *given;
  json::object body;
  for (const auto& [key, value] : launch) {
    if (key == "plan" || key == "identity" || key == "extendedLocation")
      body[key] = value;
    else if (key != "properties")
      cloud::lay_over(properties, {{key, value}});
  }
  body["properties"] = std::move(properties);
  launch = std::move(body);
}

Result<bool> complete_template(const json::object& deployment, const Placement& placement) {
  const std::string location = parameter_text(deployment, "location");
  if (deployment.contains("template") == deployment.contains("templateLink"))
    return Error::invalid("azure.armDeployment: needs one of template and templateLink");
  if (const json::object* inside = table_of(deployment, "template")) {
    const json::object* declared = table_of(*inside, "parameters");
    for (const char* needed : {"tags", "vmName", "customData"})
      if (!declared || !declared->contains(needed))
        return Error::invalid(std::string("azure.armDeployment.template.parameters: lacks \"") +
                              needed +
                              "\"; muster passes vmName (the machine's name), tags (for all "
                              "resources) and customData (for osProfile), and finds what was made "
                              "by them");
  }
  return location.empty() || location == cloud::fact(placement, "region");
}

Result<bool> complete(json::object& launch, const json::object& section,
                      const Placement& placement) {
  if (const json::object* deployment = table_of(section, "armDeployment")) {
    if (!launch.empty())
      return Error::invalid(
          "azure.armDeployment: machines are made by launch or by armDeployment; remove one");
    return complete_template(*deployment, placement);
  }
  gather_properties(launch);
  const json::object& properties = launch.at("properties").as_object();
  return has_image(properties) && has_network(properties);
}

// A template says its size itself, as Taskcluster's pools do, unless vmSizes does.
Result<json::object> with_size_of_template(const json::object& section) {
  const json::object* deployment = table_of(section, "armDeployment");
  if (!deployment || section.contains(words.types_key)) return section;
  const std::string size = parameter_text(*deployment, "vmSize");
  if (size.empty())
    return Error::invalid(
        "azure.vmSizes: is missing; write for example [{ size = \"Standard_D2s_v5\" }], which is "
        "passed to the template as vmSize, or set azure.armDeployment.parameters.vmSize");
  json::object made = section;
  made[words.types_key] = json::array{json::object{{words.entry_key, size}}};
  if (!made.contains("market") && parameter_text(*deployment, "priority") == words.spot)
    made["market"] = json::array{words.spot};
  return made;
}

// Azure takes names of tags that differ in case for the same.
Result<void> check_tags(const json::object& section) {
  const json::object* tags = table_of(section, "tags");
  if (!tags) return {};
  for (const auto& entry : *tags) {
    const std::string name = to_lower(std::string_view(entry.key()));
    if (name.starts_with("muster-") || std::ranges::find(image_tags, name) != image_tags.end())
      return Error::invalid("azure.tags." + std::string(entry.key()) +
                            ": muster sets it; remove it");
  }
  return {};
}

cloud::SectionRules rules() {
  return {.words = words,
          .user_data = user_data_limits,
          .complete = complete,
          .kept = {"armDeployment", "osType"}};
}

}  // namespace

std::string parameter_text(const json::object& arm_deployment, const char* name) {
  const json::object* parameters = table_of(arm_deployment, "parameters");
  const json::object* parameter = parameters ? table_of(*parameters, name) : nullptr;
  return parameter ? text_of(*parameter, "value") : std::string();
}

AzureSection::AzureSection() : reader_(rules(), section_schema()) {}

Result<Expansion> AzureSection::expand(const ExpandRequest& request) const {
  const json::object* section = table_of(request.document, words.section);
  if (section)
    if (const auto good = check_tags(*section); !good) return good.error();
  if (!section || !section->contains("armDeployment")) return reader_.expand(request);
  auto made = with_size_of_template(*section);
  if (!made) return made.error();
  ExpandRequest with_size = request;
  with_size.document[words.section] = std::move(*made);
  return reader_.expand(with_size);
}

}  // namespace muster::azure
