// EC2's instances as muster's.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/provider/aws/words.hpp"

namespace muster::aws {

// muster's tags, and the name that AWS's console shows.
Tags tags_of_launch(const AllocateRequest& request, const json::object* team_tags,
                    const std::string& keys);

// [{"Key": ..., "Value": ...}]
json::array tag_list(const Tags& tags);

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
