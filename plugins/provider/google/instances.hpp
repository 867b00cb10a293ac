// Compute Engine's instances as muster's.
#pragma once

#include <optional>
#include <string>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/ownership.hpp"

namespace muster::google {

namespace tag {
inline constexpr const char* key = "muster-key";            // only where the name has none
inline constexpr const char* call = "muster-call";          // the requestId of a bulkInsert
inline constexpr const char* audience = "muster-audience";  // a digest of the host's address
}  // namespace tag

// What is asked for of each machine; metadata, which may be long, is not.
inline constexpr const char* instance_fields =
    "id,name,zone,status,labels,creationTimestamp,machineType,scheduling/provisioningModel,"
    "serviceAccounts/email,networkInterfaces/networkIP";

// The filters that find all machines of an owner, of one bulkInsert, and of one launch
// configuration.
std::string owner_filter(const Owner& owner);
std::string call_filter(const Owner& owner, const std::string& request_id);
std::string launch_config_filter(const Owner& owner, const LaunchConfigId& launch_config);

// The digest by which identity tokens are compared with the address of the host at the launch.
std::string audience_digest(const std::string& address);

// Nothing if it lacks an id or muster's own labels: somebody has removed them.
std::optional<Instance> read_instance(const json::object& instance, const std::string& project);

}  // namespace muster::google
