#include "plugins/provider/azure/leftovers.hpp"

#include "plugins/cloud/json_access.hpp"
#include "plugins/cloud/parallel.hpp"
#include "plugins/provider/azure/targets.hpp"
#include "plugins/provider/azure/virtual_machines.hpp"

namespace muster::azure {
namespace {

using cloud::table_of;
using cloud::text_of;

// Of a network interface, an address or a disk.
bool is_attached(const json::object& document) {
  if (!text_of(document, "managedBy").empty()) return true;
  const json::object* properties = table_of(document, "properties");
  if (!properties) return false;
  if (table_of(*properties, "virtualMachine") || table_of(*properties, "ipConfiguration"))
    return true;
  const std::string state = text_of(*properties, "diskState");
  return state == "Attached" || state == "Reserved" || state == "ActiveSAS";
}

// The worker that it was made for; nothing if it is none of the owner's.
std::optional<Names> worker_of(const json::object& document, const Owner& owner) {
  const cloud::Tags tags = tags_in(document);
  if (belongs_to(tags, owner))
    if (const auto key = tags.find(cloud::tag::keys); key != tags.end())
      return names_of(owner, IdempotencyKey(key->second));
  return names_in(text_of(document, "name"), owner);
}

}  // namespace

void Leftovers::sweep(const Owner& owner, const std::string& group,
                      const std::set<std::string>& alive, const Context& context) {
  const Time now = context.now();
  if (const auto next = next_.find(group); next != next_.end() && now < next->second) return;
  const auto found = find(owner, group, alive, context);
  next_[group] = now + settings_.leftover_grace / 2;
  if (!found) {
    context.log(LogLevel::warning, "what is left over in the resource group " + group +
                                       " is not known: " + found.error().message);
    return;
  }
  std::map<std::string, Time> seen;
  std::vector<Found> over;
  for (const Found& each : *found) {
    const auto known = first_seen_[group].find(each.id);
    const Time first = known == first_seen_[group].end() ? now : known->second;
    seen.emplace(each.id, first);
    if (now - first >= settings_.leftover_grace) over.push_back(each);
  }
  first_seen_[group] = std::move(seen);
  remove(over, context);
}

Result<std::vector<Leftovers::Found>> Leftovers::find(const Owner& owner, const std::string& group,
                                                      const std::set<std::string>& alive,
                                                      const Context& context) {
  std::vector<Found> found;
  for (const Kind kind :
       {Kind{type::network_interfaces, version::network},
        Kind{type::public_addresses, version::network}, Kind{type::disks, version::disks}}) {
    const auto listed = for_each_listed(
        api_, {.target = list_target(settings_.group_path(group), kind.type, kind.api_version)},
        [&](const json::object& document) {
          const auto names = worker_of(document, owner);
          if (names && !alive.contains(names->suffix) && !is_attached(document))
            found.push_back({target_of(settings_.group_path(group), kind.type,
                                       text_of(document, "name"), kind.api_version),
                             kind});
        },
        context);
    if (!listed) return listed.error();
  }
  return found;
}

void Leftovers::remove(const std::vector<Found>& found, const Context& context) {
  cloud::in_parallel(found.size(), [&](std::size_t at) {
    if (context.cancelled()) return;
    const std::string id = found[at].id.substr(0, found[at].id.find('?'));
    const auto removed = api_.call({.method = "DELETE", .target = found[at].id}, context);
    const bool gone = removed || removed.error().error_class == ErrorClass::not_found;
    context.log(gone ? LogLevel::info : LogLevel::warning,
                id + (gone ? " was left over and is removed"
                           : " is left over and could not be removed: " + removed.error().message));
  });
}

}  // namespace muster::azure
