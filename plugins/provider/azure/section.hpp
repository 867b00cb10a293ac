// The section `azure` of a worker configuration: what a team may write, and the launch documents
// that are made of it.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include "plugins/cloud/machines/section.hpp"

namespace muster::azure {

inline constexpr cloud::Words words{.cloud = "Azure",
                                    .section = "azure",
                                    .zone_fact = "availabilityZone",
                                    .types_key = "vmSizes",
                                    .type_key = "vmSize",
                                    .spot = "Spot",
                                    .on_demand = "Regular",
                                    .example_type = "Standard_D2s_v5",
                                    .entry_key = "size"};
inline constexpr cloud::UserDataLimits user_data_limits{.most = 65'535};  // of customData

// Tags that muster-agent and worker-runner read on their machine.
inline constexpr std::array<std::string_view, 5> image_tags{
    "root-url", "worker-pool-id", "provider-id", "worker-group", "launch-config-id"};

// Made from Microsoft's own description of virtual machines (model.json).
json::object section_schema();
json::object example_section();
FieldClasses field_classes();

// What muster sets among the parameters of a template, and those of them that each must declare.
inline constexpr const char* template_parameters[] = {
    "tags", "vmName", "computerName", "adminUsername", "adminPassword", "customData"};

// The template's own value of a parameter ({"value": ...}); empty if it is no text.
std::string parameter_text(const json::object& arm_deployment, const char* name);

// THREADS: any; it does not change.
class AzureSection {
 public:
  AzureSection();

  // Pure. `launch` of the documents is a PUT's body: members of `properties` that stand beside it
  // are moved there.
  Result<Expansion> expand(const ExpandRequest& request) const;

 private:
  const cloud::SectionReader reader_;
};

}  // namespace muster::azure
