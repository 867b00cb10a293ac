// What is left of machines that are gone or never were: network interfaces, addresses, disks. They
// cost money, and nothing else would remove them.
#pragma once

#include <map>
#include <set>
#include <string>

#include "plugins/provider/azure/names.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// THREADS: one at a time.
class Leftovers {
 public:
  Leftovers(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // Removes what has the owner's tags or names, is attached to nothing, belongs to no worker of
  // `alive` (Names::suffix) and was so for the grace time. Three lists of the resource group, and
  // those not with every call. What cannot be removed yet, or was missed because this process
  // ended, is found by a later call.
  void sweep(const Owner& owner, const std::string& group, const std::set<std::string>& alive,
             const Context& context);

  // Something went wrong: look again soon.
  void suspect(const std::string& group) { next_.erase(group); }

 private:
  struct Kind {
    const char* type;
    const char* api_version;
  };
  struct Found {
    std::string id;
    Kind kind;
  };

  Result<std::vector<Found>> find(const Owner& owner, const std::string& group,
                                  const std::set<std::string>& alive, const Context& context);
  void remove(const std::vector<Found>& found, const Context& context);

  const Settings& settings_;
  Api& api_;
  std::map<std::string, Time> next_;                               // by group: the next look
  std::map<std::string, std::map<std::string, Time>> first_seen_;  // by group and id
};

}  // namespace muster::azure
