// The parts of the fleet, in the order in which they depend on each other. For Fleet's own files.
#pragma once

#include "host/fleet/allocation/dispatcher.hpp"
#include "host/fleet/bidding/auction.hpp"
#include "host/fleet/bidding/launch_limits.hpp"
#include "host/fleet/configuration/pool_configuration.hpp"
#include "host/fleet/configuration/provider_configuration.hpp"
#include "host/fleet/fleet.hpp"
#include "host/fleet/holds/provider_holds.hpp"
#include "host/fleet/lifecycle/declared_machines.hpp"
#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/lifecycle/quarantine.hpp"
#include "host/fleet/lifecycle/renewal.hpp"
#include "host/fleet/lifecycle/termination.hpp"
#include "host/fleet/lifecycle/worker_registration.hpp"
#include "host/fleet/lifecycle/worker_timers.hpp"
#include "host/fleet/outcomes/task_outcomes.hpp"
#include "host/fleet/queue_link/queue_demand.hpp"
#include "host/fleet/queue_link/queue_link.hpp"
#include "host/fleet/reconciliation/absent_workers.hpp"
#include "host/fleet/reconciliation/listed_machines.hpp"
#include "host/fleet/reconciliation/reconciliation.hpp"
#include "host/fleet/verdict_inputs/verdict_inputs.hpp"
#include "host/fleet/workers/measurements.hpp"
#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

struct Fleet::Parts {
  Parts(Settings with, std::string host_id, std::int64_t epoch, Now now)
      : settings(std::move(with)), identity{std::move(host_id), epoch}, clock(settings, now) {}
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  Settings settings;
  HostIdentity identity;
  FleetClock clock;
  Registry registry;
  Outbox outbox{identity, clock, registry};
  PendingCalls calls{clock};
  PoolAgenda agenda{settings, clock, registry};
  Deadlines deadlines{settings, identity, clock, registry};
  WorkerTable table{clock, deadlines, registry};
  StageContext context{settings, identity, clock,  deadlines, registry,
                       outbox,   calls,    agenda, table};

  Measurements measurements{context};
  ProviderHolds holds{context};
  QueueLink queue_link{context, measurements};
  QueueDemand queue_demand{context, queue_link, holds};

  WorkerTermination termination{context, holds, queue_link};
  Draining draining{context, termination};
  Quarantine quarantine{context, termination, draining};
  TaskOutcomes task_outcomes{context, quarantine};
  Renewal renewal{context, termination, draining};
  DeclaredMachines declared_machines{context, termination};
  WorkerRegistration registration{context,     holds,    queue_link, measurements,
                                  termination, draining, quarantine, declared_machines};
  WorkerTimers worker_timers{context, termination, draining, quarantine};

  Dispatcher dispatcher{context, holds, termination};
  LaunchLimits limits{context, holds, task_outcomes};
  Auction auction{context, holds, limits, draining, dispatcher};

  ListedMachines listed_machines{context, termination, declared_machines};
  AbsentWorkers absent_workers{context, termination};
  Reconciliation reconciliation{context,    termination,    draining,
                                dispatcher, absent_workers, listed_machines};
  PoolConfiguration pool_configuration{context, queue_link, renewal, listed_machines};
  ProviderConfiguration provider_configuration{context, renewal, dispatcher, reconciliation};
  VerdictInputs verdict_inputs{context, queue_link, limits};

  Time pruned{};
  Time heard_noted{};
};

}  // namespace muster::fleet
