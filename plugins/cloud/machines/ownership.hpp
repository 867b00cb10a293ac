// Whose machines are whose: the tags (labels) by which muster knows its own, and hosts that another
// start has superseded.
#pragma once

#include <map>
#include <optional>
#include <string>

#include <muster/provider_types.hpp>

namespace muster::cloud {

namespace tag {
inline constexpr const char* host = "muster-host";
inline constexpr const char* provider = "muster-provider";
inline constexpr const char* pool = "muster-pool";
inline constexpr const char* launch_config = "muster-launch-config";
inline constexpr const char* epoch = "muster-epoch";
inline constexpr const char* capacity = "muster-capacity";
inline constexpr const char* keys = "muster-keys";  // as key_list.hpp packs them
}  // namespace tag

using Tags = std::map<std::string, std::string>;

// The tags of all machines of one launch: the team's, the host's, and muster's own, which the
// others cannot replace.
Tags tags_of(const AllocateRequest& request, const json::object* team_tags,
             const std::string& keys);

// Pool, launch configuration, capacity and epoch of a machine from its tags; id, key, state, times
// and provider data are the caller's. Nothing if one of muster's own is not there: somebody has
// removed it.
std::optional<Instance> instance_of(const Tags& tags);

// {"v": 1, "host": ..., "provider": ...}: how provider data of machines begins.
json::object data_of_owner(const Tags& tags);
json::object data_of_owner(const Owner& owner);
// Provider data without an owner belongs to everybody: it is from the host itself.
bool belongs_to(const json::object& provider_data, const Owner& owner);
// For `terminate`: `invalid` that says whose it is.
Error not_yours(const WorkerRef& worker, const Owner& owner);

// The newest start of each host that made a call. In memory: the machines' tags have the epochs
// for longer. THREADS: one at a time.
class Epochs {
 public:
  // `invalid` for a start that another one has superseded.
  Result<void> check(const Owner& owner);

 private:
  std::map<std::string, std::int64_t> newest_;
};

}  // namespace muster::cloud
