#include "host/plugin_loader/instance_lanes.hpp"

#include <algorithm>
#include <utility>

namespace muster::plugin_loader {

std::vector<InstanceSpec> lanes_of(std::vector<InstanceSpec> instances) {
  std::vector<InstanceSpec> lanes;
  for (InstanceSpec& spec : instances) {
    const std::int64_t count = std::max<std::int64_t>(std::exchange(spec.concurrency, 1), 1);
    for (std::int64_t lane = 1; lane <= count; ++lane) {
      lanes.push_back(spec);
      if (lane > 1) lanes.back().instance_id += "#" + std::to_string(lane);
    }
  }
  return lanes;
}

std::string_view instance_of_lane(std::string_view lane_id) {
  return lane_id.substr(0, lane_id.find('#'));
}

void InstanceLanes::set(const std::vector<std::shared_ptr<PluginInstance>>& lanes) {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Lane>> next;
  for (const auto& instance : lanes) {
    const auto known = std::find_if(lanes_.begin(), lanes_.end(),
                                    [&](const auto& lane) { return lane->instance == instance; });
    next.push_back(known == lanes_.end() ? std::make_shared<Lane>(Lane{instance}) : *known);
  }
  lanes_ = std::move(next);
}

// With the lock held. A lane that is being restarted or is quarantined is taken only if no other
// one serves: it would answer with its error at once, and so look idle all the time.
std::shared_ptr<InstanceLanes::Lane> InstanceLanes::choose() {
  std::shared_ptr<Lane> best;
  std::pair<PluginState, int> best_rank;
  for (const auto& lane : lanes_) {
    const std::pair rank(lane->instance->state(), lane->calls_under_way);
    if (best && rank >= best_rank) continue;
    best = lane;
    best_rank = rank;
  }
  return best;
}

Result<std::string> InstanceLanes::call(std::string_view method, std::string_view request,
                                        const Context& context) {
  std::shared_ptr<Lane> lane;
  {
    const std::lock_guard lock(mutex_);
    lane = choose();
    if (!lane)
      return Error::transient("the plugin instance " + instance_id_ + " is no longer configured");
    ++lane->calls_under_way;
    served_by_[std::this_thread::get_id()] = lane->instance;
  }
  auto result = lane->instance->call(method, request, context);
  const std::lock_guard lock(mutex_);
  --lane->calls_under_way;
  return result;
}

void InstanceLanes::answer_was_wrong(std::string_view method, const std::string& why) noexcept {
  std::shared_ptr<PluginInstance> instance;
  {
    const std::lock_guard lock(mutex_);
    const auto served = served_by_.find(std::this_thread::get_id());
    if (served != served_by_.end()) instance = served->second.lock();
    if (!instance && !lanes_.empty()) instance = lanes_.front()->instance;
  }
  if (instance) instance->answer_was_wrong(method, why);
}

}  // namespace muster::plugin_loader
