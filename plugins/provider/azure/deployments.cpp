#include "plugins/provider/azure/deployments.hpp"

#include <muster/codec.hpp>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/names.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using cloud::table_of;
using cloud::text_of;

bool is_over(const std::string& state) {
  return state == "Succeeded" || state == "Failed" || state == "Canceled";
}

// A deployment's tags are those of its machine.
std::optional<Instance> expected_machine(const json::object& document, const Names& names,
                                         const std::string& group, const Settings& settings) {
  const cloud::Tags tags = tags_in(document);
  const auto location = tags.find("worker-group");
  const json::object* properties = table_of(document, "properties");
  if (location == tags.end() || !properties) return std::nullopt;
  auto machine = read_virtual_machine({{"name", names.machine()},
                                       {"location", location->second},
                                       {"tags", document.at("tags")},
                                       {"properties", json::object{}}},
                                      group, settings);
  if (!machine) return std::nullopt;
  machine->instance.provider_data["deployment"] = names.deployment();
  machine->instance.created = parse_time(text_of(*properties, "timestamp")).value_or(Time{});
  return std::move(machine->instance);
}

}  // namespace

Result<Deployments::Outcome> Deployments::look(const Owner& owner, const std::string& group,
                                               const std::set<std::string>& machines,
                                               const Context& context) {
  Outcome outcome;
  if (idle_.contains(group)) return outcome;
  std::vector<Names> over;
  const auto listed = for_each_listed(
      api_,
      {.target = list_target(settings_.group_path(group), type::deployments, version::resources)},
      [&](const json::object& document) {
        const auto names = names_in(text_of(document, "name"), owner);
        const json::object* properties = table_of(document, "properties");
        if (!names || !properties) return;
        const std::string state = text_of(*properties, "provisioningState");
        const auto machine = expected_machine(document, *names, group, settings_);
        if (is_over(state))
          over.push_back(*names);
        else
          outcome.under_way.insert(names->suffix);
        if (!is_over(state) && machine && !machines.contains(names->machine()))
          outcome.pending.push_back(*machine);
        if (!is_over(state) || state == "Succeeded") return;
        outcome.failed.insert(names->suffix);
        const json::object* error = table_of(*properties, "error");
        using enum LaunchFollower::Teller;
        if (machine && error && state == "Failed")
          follower_.failed(*machine, *error, machines.contains(names->machine()) ? bid : notice,
                           context);
      },
      context);
  if (!listed) return listed.error();
  for (const Names& names : over) {
    // The record of a failure goes last, when its machine does.
    if (outcome.failed.contains(names.suffix) && machines.contains(names.machine())) continue;
    (void)api_.call({.method = "DELETE",
                     .target = target_of(settings_.group_path(group), type::deployments,
                                         names.deployment(), version::resources)},
                    context);
  }
  if (over.empty() && outcome.under_way.empty()) idle_.insert(group);
  return outcome;
}

}  // namespace muster::azure
