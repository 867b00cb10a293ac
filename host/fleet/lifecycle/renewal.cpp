#include "host/fleet/lifecycle/renewal.hpp"

#include <algorithm>
#include <tuple>

#include <muster/codec.hpp>

#include "host/fleet/lifecycle/conformance.hpp"
#include "host/fleet/lifecycle/cycling.hpp"

namespace muster::fleet {

// Once for each launch configuration, not for each worker.
void Renewal::judge_conformance(Index index) {
  Pool& pool = pools_[index];
  bool changed = false;
  for (const Index at : pool.launch_configs) {
    LaunchConfigState& launch_config = launch_configs_[at];
    std::optional<std::string> outdated;
    const ProviderState& provider = providers_[launch_config.provider];
    if (launch_config.status == LaunchConfigStatus::archived) {
      std::vector<const LaunchConfig*> current;
      for (const Index other : pool.launch_configs)
        if (launch_configs_[other].status != LaunchConfigStatus::archived &&
            launch_configs_[other].provider == launch_config.provider)
          current.push_back(&launch_configs_[other].spec->launch_config);
      // At a start the provider may not have said yet which changes matter.
      if (pool.spec && !current.empty() && !provider.classes_known) continue;
      outdated = pool.spec ? lifecycle::why_outdated(launch_config.spec->launch_config, current,
                                                     provider.field_classes)
                           : "its pool is no longer configured";
    }
    changed |= outdated != launch_config.outdated;
    launch_config.outdated = std::move(outdated);
  }
  if (changed) cycle(index);
}

// Tells outdated workers to end, as many as the budget allows and inside the windows: those that
// have not registered first, then idle ones, then the oldest. A worker that conforms again serves
// on.
void Renewal::cycle(Index index) {
  Pool& pool = pools_[index];
  std::vector<Index> back, unregistered;
  std::vector<std::tuple<bool, Time, Index>> outdated;
  for (const Index at : pool.workers) {
    const Worker& worker = workers_[at];
    const auto& why = launch_configs_[worker.launch_config].outdated;
    if (worker.drain == Drain::outdated && worker.state == WorkerState::running && !why)
      back.push_back(at);
    if (!why) continue;
    if (worker.state == WorkerState::requested) unregistered.push_back(at);
    if (worker.state == WorkerState::running &&
        (worker.drain == Drain::none || (worker.drain == Drain::surplus && worker.busy != 0)))
      outdated.emplace_back(worker.busy != 0, worker.created, at);
  }
  for (const Index at : back) draining_.end(at, "its configuration came back");
  const Lifecycle life = pool.spec ? pool.spec->lifecycle : Lifecycle{};
  if (outdated.empty() && unregistered.empty()) return;
  if (!lifecycle::inside_window(life.cycling_windows, clock_.now()))
    return agenda_.set_timer(index,
                             lifecycle::next_window_edge(life.cycling_windows, clock_.now()));
  for (const Index at : unregistered)
    termination_.stop(at, "outdated before it registered: " +
                              *launch_configs_[workers_[at].launch_config].outdated);
  const auto workers = static_cast<std::int64_t>(pool.workers.size());
  const std::int64_t room =
      lifecycle::cycling_room(life.cycling_budget, workers) - pool.outdated_draining;
  std::ranges::sort(outdated);
  std::int64_t ended = 0;
  for (const auto& [busy, created, at] : outdated) {
    if (ended >= room) break;
    draining_.start(at, Drain::outdated, *launch_configs_[workers_[at].launch_config].outdated);
    ++ended;
  }
  if (ended > 0)
    outbox_.journal(pools_[index], "lifecycle",
                    "told " + std::to_string(ended) + " of " + std::to_string(outdated.size()) +
                        " outdated workers to end",
                    {{"outdated", outdated.size()}, {"room", room}}, {});
}

}  // namespace muster::fleet
