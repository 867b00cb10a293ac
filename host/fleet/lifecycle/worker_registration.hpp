// What workers say: they register, renew their credentials, report their work and sign off. See
// Fleet for the promises of each.
#pragma once

#include <string>

#include "host/fleet/lifecycle/declared_machines.hpp"
#include "host/fleet/lifecycle/draining.hpp"
#include "host/fleet/lifecycle/quarantine.hpp"
#include "host/fleet/lifecycle/termination.hpp"

namespace muster::fleet {

class WorkerRegistration : Stage {
 public:
  WorkerRegistration(const StageContext& context, ProviderHolds& holds, QueueLink& link,
                     Measurements& measurements, WorkerTermination& termination, Draining& draining,
                     Quarantine& quarantine, DeclaredMachines& machines)
      : Stage(context),
        holds_(holds),
        link_(link),
        measurements_(measurements),
        termination_(termination),
        draining_(draining),
        quarantine_(quarantine),
        machines_(machines) {}

  Result<Registered> register_worker(const WorkerName& name, const ProviderId& provider,
                                     const Sha256& secret, const Proven& proven);
  Result<Registered> reregister_worker(const WorkerName& name, const Sha256& secret,
                                       const Sha256& next_secret);
  // See Fleet.
  Result<Registered> renewal_without_store(const WorkerName& name, const Sha256& secret,
                                           Time now) const;
  void renewed_without_store(const WorkerName& name, Time credentials_expire);
  Result<void> worker_active(const WorkerName& name, std::int64_t busy);
  Result<ShouldTerminate> should_terminate(const WorkerName& name);
  Result<PoolErrorRow> report_error(const WorkerName& name, const std::string& kind,
                                    const std::string& title, const std::string& description,
                                    json::object extra);
  Result<void> interrupt(const WorkerName& name, const Interruption& interruption);
  Result<void> remove(const WorkerName& name, const std::string& reason);
  Result<void> sign_off(const WorkerName& name, const std::string& reason);

 private:
  // A worker that was launched registers once; again only with the key that it showed then, which
  // the tasks on it cannot read as they can read the proofs of clouds.
  bool may_register(const Worker& worker, const Sha256& key) const;
  // It is outdated, but has work and time for it.
  bool may_finish(const Worker& worker, Time now) const;
  Time renewed_until(const Worker& worker, Time now) const;
  void became_running(Index worker);
  // It uses credentials that this host gave: if it was found at its provider, or if the store lost
  // its registration, it runs from now on.
  void came_back(Index worker);
  // Of one that may renew its credentials with this secret, unless it is outdated.
  Result<Index> renewing(const WorkerName& name, const Sha256& secret) const;
  Registered renew(Index worker, const Sha256& secret, const Sha256& next_secret);

  ProviderHolds& holds_;
  QueueLink& link_;
  Measurements& measurements_;
  WorkerTermination& termination_;
  Draining& draining_;
  Quarantine& quarantine_;
  DeclaredMachines& machines_;
};

}  // namespace muster::fleet
