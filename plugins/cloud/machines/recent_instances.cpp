#include "plugins/cloud/machines/recent_instances.hpp"

#include <set>

#include "plugins/cloud/machines/ownership.hpp"

namespace muster::cloud {
void RecentInstances::launched(const Instance& instance, Time now) {
  forget(now);
  launched_[instance.worker_id] = {instance, now};
}

void RecentInstances::terminated(const WorkerId& id, Time now) {
  forget(now);
  terminated_[id] = now;
}

bool RecentInstances::was_just_launched(const WorkerId& id, Time now) const {
  const auto found = launched_.find(id);
  return found != launched_.end() && now < found->second.at + longest_delay_of_lists;
}

std::vector<Instance> RecentInstances::missing(const Owner& owner, const std::string& region,
                                               const std::vector<Instance>& listed, Time now) {
  forget(now);
  if (launched_.empty()) return {};
  std::set<WorkerId> seen;
  for (const Instance& instance : listed) seen.insert(instance.worker_id);
  std::vector<Instance> lacked;
  for (const auto& [id, launched] : launched_)
    if (!seen.contains(id) && launched.instance.worker_group.str() == region &&
        belongs_to(launched.instance.provider_data, owner))
      lacked.push_back(launched.instance);
  return lacked;
}

void RecentInstances::correct(std::vector<Instance>& listed) const {
  if (terminated_.empty()) return;
  for (Instance& instance : listed)
    if (terminated_.contains(instance.worker_id) && instance.state != InstanceState::stopped)
      instance.state = InstanceState::stopping;
}

void RecentInstances::forget(Time now) {
  std::erase_if(launched_,
                [&](const auto& entry) { return entry.second.at + longest_delay_of_lists <= now; });
  std::erase_if(terminated_,
                [&](const auto& entry) { return entry.second + longest_delay_of_lists <= now; });
}

}  // namespace muster::cloud
