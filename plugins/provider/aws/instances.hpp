// EC2's instances as muster's, and the tags by which muster knows its own.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <muster/provider_types.hpp>

namespace muster::aws {

namespace tag {
inline constexpr const char* host = "muster-host";
inline constexpr const char* provider = "muster-provider";
inline constexpr const char* pool = "muster-pool";
inline constexpr const char* launch_config = "muster-launch-config";
inline constexpr const char* epoch = "muster-epoch";
inline constexpr const char* capacity = "muster-capacity";
inline constexpr const char* keys = "muster-keys";
inline constexpr const char* name = "Name";
}  // namespace tag

// The tags of all machines of one launch. Those of the team cannot replace muster's own.
std::map<std::string, std::string> tags_of(const AllocateRequest& request,
                                           const json::object* team_tags, const std::string& keys);

// [{"Key": ..., "Value": ...}]
json::array tag_list(const std::map<std::string, std::string>& tags);

// Of an instance of RunInstances' or DescribeInstances' answer. `account` is the OwnerId of its
// reservation. Nothing if it lacks an id or muster's own tags: somebody has removed them.
std::optional<Instance> read_instance(const json::object& instance, const std::string& account,
                                      const std::string& region);

// Calls `take` with each instance of an answer of DescribeInstances, and its OwnerId.
void for_each_instance(const json::object& answer,
                       const std::function<void(const json::object&, const std::string&)>& take);

// The filters that find all machines of an owner; more may be added.
json::array owner_filters(const Owner& owner);
json::object filter(const std::string& name, json::array values);

}  // namespace muster::aws
