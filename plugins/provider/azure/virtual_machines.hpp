// Azure's virtual machines as muster's instances.
#pragma once

#include <optional>
#include <string>

#include "plugins/cloud/error_table.hpp"
#include "plugins/cloud/machines/ownership.hpp"
#include "plugins/provider/azure/settings.hpp"

namespace muster::azure {

// A machine as a list or the answer of its PUT has it.
struct VirtualMachine {
  Instance instance;
  std::string group;                              // its resource group
  std::optional<cloud::CloudError> failure = {};  // why it was not made
  bool spot = false;
};

// The document of a virtual machine, with its instance view if that is known. Nothing if it lacks
// muster's own tags, or if somebody has removed them.
std::optional<VirtualMachine> read_virtual_machine(const json::object& document,
                                                   const std::string& group,
                                                   const Settings& settings);

// `statuses` of an instance view say more than the list: whether it runs, was stopped or evicted.
void add_statuses(VirtualMachine& machine, const json::object& instance_view, Time now);

cloud::Tags tags_in(const json::object& document);
json::object tags_document(const cloud::Tags& tags);
bool belongs_to(const cloud::Tags& tags, const Owner& owner);

// "westeurope-1" → "1"; empty for a location.
std::string zone_number(const std::string& zone);

}  // namespace muster::azure
