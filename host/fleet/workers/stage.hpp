// What every stage of the fleet works on. The parts belong to Fleet, which makes its decisions with
// one writer at a time.
#pragma once

#include "host/fleet/model/settings.hpp"
#include "host/fleet/state/outbox.hpp"
#include "host/fleet/state/pending_calls.hpp"
#include "host/fleet/state/pool_agenda.hpp"
#include "host/fleet/workers/worker_table.hpp"

namespace muster::fleet {

struct StageContext {
  const Settings& settings;
  const HostIdentity& identity;
  const FleetClock& clock;
  const Deadlines& deadlines;
  Registry& registry;
  Outbox& outbox;
  PendingCalls& calls;
  PoolAgenda& agenda;
  WorkerTable& table;
};

// The base of the stages: short names for the parts.
class Stage {
 protected:
  explicit Stage(const StageContext& context)
      : settings_(context.settings),
        identity_(context.identity),
        clock_(context.clock),
        deadlines_(context.deadlines),
        registry_(context.registry),
        outbox_(context.outbox),
        calls_(context.calls),
        agenda_(context.agenda),
        table_(context.table),
        pools_(context.registry.pools()),
        launch_configs_(context.registry.launch_configs()),
        providers_(context.registry.providers()),
        workers_(context.table.all()) {}

  // What became of a launch is to be found out.
  void list_soon(Index provider) {
    registry_.list_by(provider, clock_.now() + settings_.list_soon);
  }

  const Settings& settings_;
  const HostIdentity& identity_;
  const FleetClock& clock_;
  const Deadlines& deadlines_;
  Registry& registry_;
  Outbox& outbox_;
  PendingCalls& calls_;
  PoolAgenda& agenda_;
  WorkerTable& table_;
  Slots<Pool>& pools_;
  Slots<LaunchConfigState>& launch_configs_;
  Slots<ProviderState>& providers_;
  const std::vector<Worker>& workers_;
};

}  // namespace muster::fleet
