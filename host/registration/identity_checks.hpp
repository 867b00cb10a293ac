// Asks providers whether workers are who they say, each on threads of its own: one that hangs keeps
// nobody waiting but its own workers.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "host/taskcluster_api/parts.hpp"

namespace muster::taskcluster_api {

// THREADS: any.
class IdentityChecks {
 public:
  IdentityChecks(Identify identify, Log log);
  ~IdentityChecks();

  // The check runs on a thread that may wait, and asks the provider there. False: too many wait for
  // this provider already, and nothing will happen.
  bool run(const ProviderId& provider, std::function<void(const Identify&)> check);

  // Waits for the calls that run; afterwards nobody is asked any more. Whoever waits for an answer
  // keeps this object alive, so its end may come on one of its own threads: by then it must be
  // stopped. IDEMPOTENT. THREADS: any but its own.
  void stop();

 private:
  const Identify identify_;
  const Log log_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<ProviderId, std::unique_ptr<http::WorkerThreads>> lines_;
};

}  // namespace muster::taskcluster_api
