// Asks providers whether workers are who they say, each on threads of its own: a provider that
// hangs delays only its own workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include <muster/provider.hpp>

#include "lib/base/log.hpp"

namespace muster::http {
class WorkerThreads;
}

namespace muster::registration {

// Checks an identity proof with the provider. Blocks up to its deadline. THREADS: any.
using Identify = std::function<Result<Identity>(const ProviderId&, const IdentifyRequest&)>;

// THREADS: any.
class IdentityChecks {
 public:
  IdentityChecks(Identify identify, Log log);
  ~IdentityChecks();

  // Runs the check on a thread that may wait, where it can ask the provider. False: too many checks
  // wait for this provider already, and this one is dropped.
  bool run(const ProviderId& provider, std::function<void(const Identify&)> check);

  // Waits for the checks that run; afterwards no provider is asked any more. The checks share
  // ownership of this object, so the last owner may be one of its own threads: it must be stopped
  // by then. IDEMPOTENT. THREADS: any but its own.
  void stop();

 private:
  const Identify identify_;
  const Log log_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<ProviderId, std::unique_ptr<http::WorkerThreads>> lines_;
};

}  // namespace muster::registration
