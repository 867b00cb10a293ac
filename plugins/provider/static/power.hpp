// Machines that sleep until they are needed: bid, woken, listed, switched off.
#pragma once

#include <functional>
#include <vector>

#include <muster/provider.hpp>

#include "plugins/provider/static/awake_machines.hpp"
#include "plugins/provider/static/run_commands.hpp"
#include "plugins/provider/static/settings.hpp"

namespace muster::static_machines {

// What a call does is as provider.hpp says. Borrows the settings. THREADS: one at a time; another
// process may use the same file meanwhile, and no lock is held while a command runs.
class Power {
 public:
  explicit Power(const Settings& settings) : settings_(settings), kept_(settings.state_file) {}

  Result<Bids> bid(const BidRequest& request, const Context& context);
  Result<Allocation> allocate(const AllocateRequest& request, const Context& context);
  Result<std::vector<Instance>> list(const ListRequest& request, const Context& context);
  Result<Termination> terminate(const TerminateRequest& request, const Context& context);

  // It was launched, for this pool, and not ended since.
  Result<bool> is_awake(const Machine& machine, const WorkerPoolId& pool);

 private:
  struct Wake {
    const Machine* machine;
    IdempotencyKey key;
  };
  struct Ending {
    const Machine* machine;
    LaunchConfigId launch_config_id;
  };

  Launch begin_launch(PowerState& state, const AllocateRequest& request, const IdempotencyKey& key,
                      Time now, std::vector<Wake>& wakes) const;
  const Machine* sleeping(const PowerState& state, const WorkerPoolId& pool, Time now) const;
  std::string why_none_sleeps(const PowerState& state, const WorkerPoolId& pool, Time now) const;
  // Runs the wake commands and keeps what came of them. One outcome for each.
  Result<std::vector<CommandOutcome>> wake(const std::vector<Wake>& wakes, const Context& context);
  Result<void> wake_those_that_were_forgotten(const Owner& owner, const Context& context);
  Result<std::vector<Ending>> begin_ending(const TerminateRequest& request, const Context& context);
  void end(PowerState& state, const WorkerId& id, const Owner& owner, Time now) const;

  const Settings& settings_;
  KeptPowerState kept_;
};

}  // namespace muster::static_machines
