// Asks providers whether workers are who they say, each on threads of its own: one that hangs keeps
// nobody waiting but its own workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/worker_manager/parts.hpp"

namespace muster::worker_manager {

// THREADS: any.
class IdentityChecks {
 public:
  IdentityChecks(Identify identify, Log log);
  ~IdentityChecks();  // waits for the calls that run

  // `done` gets the answer on a thread that may wait. False: too many wait for this provider
  // already, and nothing will happen.
  bool check(const ProviderId& provider, IdentifyRequest request,
             std::function<void(Result<Identity>)> done);

 private:
  const Identify identify_;
  const Log log_;
  std::mutex mutex_;
  std::map<ProviderId, std::unique_ptr<http::WorkerThreads>> lines_;
};

}  // namespace muster::worker_manager
