// What the fleet should look like: pools and their launch configurations come, change, are paused
// and go.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "host/fleet/lifecycle/renewal.hpp"
#include "host/fleet/queue_link/queue_link.hpp"
#include "host/fleet/reconciliation/listed_machines.hpp"

namespace muster::fleet {

class PoolConfiguration : Stage {
 public:
  PoolConfiguration(const StageContext& context, QueueLink& link, Renewal& renewal,
                    ListedMachines& machines)
      : Stage(context), link_(link), renewal_(renewal), machines_(machines) {}

  // All pools that files configure.
  void configure(const Configuration& configuration);
  // Pools of the API: see Fleet::put_api_pool and Fleet::remove_api_pool.
  Result<void> put(const std::shared_ptr<const PoolSpec>& spec, json::object document);
  Result<void> remove(const WorkerPoolId& pool);
  const ApiPoolRow* find(const WorkerPoolId& id) const;

  Result<void> pause(const WorkerPoolId& pool, const LaunchConfigId& id, Time until,
                     const std::string& reason);
  Result<void> resume(const WorkerPoolId& pool, const LaunchConfigId& id);
  // Those of the pool whose time is over.
  void end_pauses(Index pool);

  // Forgets launch configurations that are archived and have no workers, and pools that have no
  // launch configurations and are not configured.
  void expire();

  void write_everything(store::Batch& out) const;
  // The registry is loaded.
  Result<void> load(const store::Store& store);

 private:
  // Whether events also tell of launch configurations that stay as they are, as clients of the API
  // know it.
  enum class Report { changes, all };
  struct LaunchConfigChanges {
    std::vector<std::pair<Index, std::shared_ptr<const LaunchConfigSpec>>> kept;
    std::vector<std::shared_ptr<const LaunchConfigSpec>> created;
    std::vector<Index> archived;
    bool updated = false;  // some of those that are kept
    bool any() const { return updated || !created.empty() || !archived.empty(); }
  };
  void report_dead_providers(const Pool& pool, const PoolSpec& spec);
  std::shared_ptr<const PoolSpec> with_unasked(const Pool& pool,
                                               const std::shared_ptr<const PoolSpec>& spec) const;
  LaunchConfigChanges changes_of(const Pool& pool, const PoolSpec& spec) const;
  void take_pool(Index pool, const std::shared_ptr<const PoolSpec>& spec,
                 Report report = Report::changes);
  void keep_launch_config(Index known, const std::shared_ptr<const LaunchConfigSpec>& spec,
                          Report report);
  void create_launch_config(Index pool, const std::shared_ptr<const LaunchConfigSpec>& spec);
  void drop_pool(Index pool);
  void archive(Index launch_config);
  std::optional<Error> refuse_file_pool(const WorkerPoolId& pool) const;
  Result<Index> active_launch_config(const WorkerPoolId& pool, const LaunchConfigId& id) const;
  void end_pause(Index launch_config, const char* why);
  std::optional<std::pair<Time, std::string>> pause_of(const Pool& pool) const;

  QueueLink& link_;
  Renewal& renewal_;
  ListedMachines& machines_;
  std::map<WorkerPoolId, std::shared_ptr<const PoolSpec>> api_pools_;
  std::map<WorkerPoolId, ApiPoolRow> api_rows_;
};

}  // namespace muster::fleet
