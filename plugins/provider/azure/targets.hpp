// Where things are in Resource Manager. Pure.
#pragma once

#include <string>

#include "lib/url/url.hpp"
#include "plugins/provider/azure/api.hpp"

namespace muster::azure {

namespace type {
inline constexpr const char* machines = "Microsoft.Compute/virtualMachines";
inline constexpr const char* disks = "Microsoft.Compute/disks";
inline constexpr const char* network_interfaces = "Microsoft.Network/networkInterfaces";
inline constexpr const char* public_addresses = "Microsoft.Network/publicIPAddresses";
inline constexpr const char* deployments = "Microsoft.Resources/deployments";
}  // namespace type

// "/subscriptions/1/resourceGroups/g" and "Microsoft.Compute/virtualMachines" → the list of them.
inline std::string list_target(const std::string& scope, const std::string& type,
                               const char* api_version) {
  return scope + "/providers/" + type + "?api-version=" + api_version;
}

inline std::string target_of(const std::string& scope, const std::string& type,
                             const std::string& name, const char* api_version,
                             const char* action = "") {
  return scope + "/providers/" + type + "/" + encode_segment(name) + action +
         "?api-version=" + api_version;
}

// A resource id that a document has ("/subscriptions/...").
inline std::string target_of_id(const std::string& id, const char* api_version) {
  return id + "?api-version=" + api_version;
}

}  // namespace muster::azure
