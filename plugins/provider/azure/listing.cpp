#include "plugins/provider/azure/listing.hpp"

#include <set>

#include "lib/base/letter_case.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/azure/targets.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::table_of;
using cloud::text_of;

constexpr auto views_retry_after = 10min;
constexpr std::size_t most_questions = 20;  // about machines that a list lacks

std::string id_of(const std::string& group, const std::string& name) {
  return to_lower(group) + "/" + to_lower(name);
}

// ".../resourceGroups/G/providers/Microsoft.Compute/virtualMachines/N" → "g/n"
std::string id_in(std::string_view id) {
  const std::string text = to_lower(id);
  const std::string_view before_group = "/resourcegroups/";
  const std::size_t group = text.find(before_group), name = text.rfind('/');
  if (group == std::string::npos) return {};
  const std::size_t begin = group + before_group.size();
  return id_of(text.substr(begin, text.find('/', begin) - begin), text.substr(name + 1));
}

}  // namespace

void Lister::list_group(const Owner& owner, Group& group, const Context& context) const {
  const auto listed = for_each_listed(
      api_,
      {.target = list_target(settings_.group_path(group.name), type::machines, version::compute)},
      [&](const json::object& document) {
        auto machine = read_virtual_machine(document, group.name, settings_);
        if (!machine || !belongs_to(machine->instance.tags, owner)) return;
        // Some answers have it: of Azure itself where a list is expanded.
        const json::object* properties = table_of(document, "properties");
        const json::object* view = properties ? table_of(*properties, "instanceView") : nullptr;
        if (view) add_statuses(*machine, *view, context.now());
        group.machines.push_back(std::move(*machine));
      },
      context);
  if (!listed) group.error = listed.error();
}

// Azure gives the instance views of many machines only for a whole subscription.
void Lister::add_instance_views(std::vector<Group>& groups, const Context& context) {
  std::map<std::string, VirtualMachine*> by_id;
  for (Group& group : groups)
    for (VirtualMachine& machine : group.machines)
      by_id.emplace(id_of(group.name, machine.instance.worker_id.str()), &machine);
  if (by_id.empty() || context.now() < views_again_) return;
  const auto listed = for_each_listed(
      api_,
      {.target = list_target(settings_.subscription_path(), type::machines, version::compute) +
                 "&statusOnly=true"},
      [&](const json::object& document) {
        const auto found = by_id.find(id_in(text_of(document, "id")));
        const json::object* properties = table_of(document, "properties");
        const json::object* view = properties ? table_of(*properties, "instanceView") : nullptr;
        if (found != by_id.end() && view) add_statuses(*found->second, *view, context.now());
      },
      context);
  if (listed) return;
  // The states of provisioning are enough to know what is there; evictions show a little later.
  context.log(LogLevel::warning,
              "the power states of machines are not known: " + listed.error().message);
  if (listed.error().error_class == ErrorClass::auth)
    views_again_ = context.now() + views_retry_after;
}

void Lister::end(const std::vector<const VirtualMachine*>& machines, const Context& context) const {
  cloud::in_parallel(machines.size(), [&](std::size_t at) {
    const VirtualMachine& machine = *machines[at];
    if (context.cancelled()) return;
    const std::string name = machine.instance.worker_id.str();
    const auto ended = api_.call({.method = "DELETE",
                                  .target = target_of(settings_.group_path(machine.group),
                                                      type::machines, name, version::compute) +
                                            "&forceDeletion=true"},
                                 context);
    context.log(ended ? LogLevel::info : LogLevel::warning,
                name + (ended ? " does not run any more and is deleted"
                              : " does not run any more and could not be deleted: " +
                                    ended.error().message));
  });
}

void Lister::settle(const Owner& owner, Group& group, Listing& listing, const Context& context) {
  std::set<std::string> names, alive;
  for (const VirtualMachine& machine : group.machines)
    names.insert(machine.instance.worker_id.str());
  auto deployments = parts_.deployments.look(owner, group.name, names, context);
  if (!deployments)
    context.log(LogLevel::warning, "the deployments of the resource group " + group.name +
                                       " are not known: " + deployments.error().message);
  else
    alive = deployments->under_way;
  std::vector<const VirtualMachine*> over;
  for (VirtualMachine& machine : group.machines) {
    Instance& instance = machine.instance;
    const auto made_for = names_in(instance.worker_id.str(), owner);
    if (made_for) alive.insert(made_for->suffix);
    if (deployments && made_for && deployments->failed.contains(made_for->suffix))
      instance.state = InstanceState::stopped;
    if (instance.state == InstanceState::running) parts_.follower.settled(instance.worker_id);
    if (instance.state != InstanceState::stopped) continue;
    parts_.follower.failed(machine, LaunchFollower::Teller::bid, context);
    parts_.recent.settled(instance.worker_id);
    parts_.leftovers.suspect(group.name);
    over.push_back(&machine);
  }
  end(over, context);
  if (deployments) {
    for (Instance& pending : deployments->pending) {
      names.insert(pending.worker_id.str());
      listing.instances.push_back(std::move(pending));
    }
    parts_.leftovers.sweep(owner, group.name, alive, context);
  }
  for (VirtualMachine& machine : group.machines)
    listing.instances.push_back(std::move(machine.instance));
}

// What was just launched and is not listed: Azure knows it by its name, or it is gone. Of a
// deployment there may be no machine yet.
void Lister::add_missing(const Owner& owner, const std::string& location, Listing& listing,
                         const Context& context) {
  std::size_t asked = 0;
  for (Instance& late : parts_.recent.missing(owner, location, listing.instances, context.now())) {
    if (parts_.recent.was_terminated(late.worker_id)) {
      parts_.recent.settled(late.worker_id);
      continue;
    }
    if (!late.provider_data.contains("deployment") && ++asked <= most_questions) {
      const auto answer =
          api_.call({.target = target_of(settings_.group_path(settings_.group_of(location)),
                                         type::machines, late.worker_id.str(), version::compute)},
                    context);
      if (!answer && answer.error().error_class == ErrorClass::not_found) {
        parts_.recent.settled(late.worker_id);
        continue;
      }
    }
    listing.instances.push_back(std::move(late));
  }
}

Result<Listing> Lister::list(const Owner& owner, const Context& context) {
  std::vector<Group> groups;
  for (const std::string& name : settings_.groups()) groups.push_back({.name = name});
  cloud::in_parallel(groups.size(),
                     [&](std::size_t at) { list_group(owner, groups[at], context); });
  add_instance_views(groups, context);
  Listing listing;
  std::size_t failed = 0;
  for (Group& group : groups) {
    failed += group.error.has_value();
    if (!group.error) settle(owner, group, listing, context);
  }
  if (failed == groups.size() && failed > 0) return *groups.front().error;
  for (const std::string& location : settings_.locations)
    for (const Group& group : groups)
      if (group.name == settings_.group_of(location)) {
        if (group.error) {
          Error problem = *group.error;
          problem.scope = {};
          problem.scope.region = location;
          listing.problems.push_back(std::move(problem));
          continue;
        }
        add_missing(owner, location, listing, context);
      }
  parts_.recent.correct(listing.instances);
  return listing;
}

}  // namespace muster::azure
