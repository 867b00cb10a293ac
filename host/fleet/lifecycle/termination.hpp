// The end of a worker: it is stopped, its provider is asked to terminate it, and it is gone.
#pragma once

#include <string>
#include <vector>

#include "host/fleet/holds/provider_holds.hpp"
#include "host/fleet/queue_link/queue_link.hpp"
#include "host/fleet/workers/stage.hpp"

namespace muster::fleet {

class WorkerTermination : Stage {
 public:
  WorkerTermination(const StageContext& context, ProviderHolds& holds, QueueLink& link)
      : Stage(context), holds_(holds), link_(link) {}

  // It is to end. IDEMPOTENT. A worker whose instance is not known (yet) is stopping, too: a
  // listing tells its end.
  void stop(Index worker, std::string reason);
  // The same because of an error, which counts against its launch configuration.
  void stop_with_error(Index worker, const char* kind, const char* title,
                       const std::string& description);
  // It has ended. IDEMPOTENT.
  void stopped(Index worker, std::string reason);
  // It seems to have ended at its provider, and the host did not ask for that: an error of the
  // pool. The provider is asked to terminate it all the same, so that nothing is left if it lives.
  void vanished(Index worker, std::string reason);
  // A worker that was given up turns out to have an instance: it is stopping again.
  void revive(Index worker);
  // Nothing is known of it any more.
  void forget(Index worker);

  // Its provider is asked with the next call. IDEMPOTENT.
  void request(Index worker);
  // Instances that are no workers are terminated.
  void end_instances(Index provider, std::vector<WorkerRef> instances, std::string reason);
  // A second instance of a launch. `told`: the pool gets an error.
  void end_duplicate(Index worker, const Instance& instance, bool told = true);
  // Asks the provider for all that wait.
  void send(Index provider);
  void answered(const PendingCall& call, const Result<Termination>& answer);
  std::size_t waiting(Index provider) const;

 private:
  void report_end(Index worker, const std::string& reason);

  ProviderHolds& holds_;
  QueueLink& link_;
  std::vector<std::vector<std::int64_t>> waiting_;  // workers by number, by provider
};

}  // namespace muster::fleet
