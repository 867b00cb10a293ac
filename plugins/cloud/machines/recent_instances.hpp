// Clouds' lists are late: what was just launched may not be in them, and what was just terminated
// may still run in them. This remembers both for a while.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

namespace muster::cloud {

inline constexpr std::chrono::minutes longest_delay_of_lists{5};

// THREADS: one at a time.
class RecentInstances {
 public:
  void launched(const Instance& instance, Time now);
  void terminated(const WorkerId& id, Time now);

  bool was_just_launched(const WorkerId& id, Time now) const;
  bool was_terminated(const WorkerId& id) const { return terminated_.contains(id); }

  // Those of the owner in the region that the list lacks and could lack because it is late.
  std::vector<Instance> missing(const Owner& owner, const std::string& region,
                                const std::vector<Instance>& listed, Time now);
  // The list shows it in the end, or it has ended.
  void settled(const WorkerId& id) { launched_.erase(id); }
  // What was terminated is stopping, whatever the list says.
  void correct(std::vector<Instance>& listed) const;

 private:
  struct Launched {
    Instance instance;
    Time at{};
  };
  void forget(Time now);

  std::map<WorkerId, Launched> launched_;
  std::map<WorkerId, Time> terminated_;
};

}  // namespace muster::cloud
