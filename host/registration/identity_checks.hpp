// Asks providers whether workers are who they say, each on threads of its own: a provider that
// hangs delays only its own workers. Those who wait for the same provider take turns, so that one
// who asks a thousand times delays the others by one turn.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include <muster/provider.hpp>

#include "lib/base/log.hpp"

namespace muster::registration {

// Checks an identity proof with the provider. Blocks up to its deadline. THREADS: any.
using Identify = std::function<Result<Identity>(const ProviderId&, const IdentifyRequest&,
                                                const std::string& trace_parent)>;

// Who waits, in the line of a provider.
struct Turn {
  // Those with the same text share a turn, and at most `most` of them wait.
  std::string who;
  std::size_t most = 1;
  // A worker that the fleet has. Strangers never take the places of these.
  bool known = false;

  static Turn of_worker(const std::string& address, const std::string& worker) {
    return {address + "\n" + worker, 2, true};
  }
  static Turn of_stranger(const std::string& address) { return {address, 100, false}; }
};

// THREADS: any.
class IdentityChecks {
 public:
  IdentityChecks(Identify identify, Log log);
  ~IdentityChecks();

  // Runs the check on a thread that may wait, where it can ask the provider. False: too many checks
  // of this one, or of all, wait for this provider already, and this one is dropped.
  bool run(const ProviderId& provider, const Turn& turn,
           std::function<void(const Identify&)> check);

  // Waits for the checks that run; afterwards no provider is asked any more. The checks share
  // ownership of this object, so the last owner may be one of its own threads: it must be stopped
  // by then. IDEMPOTENT. THREADS: any but its own.
  void stop();

 private:
  class Line;

  const Identify identify_;
  const Log log_;
  std::mutex mutex_;
  bool stopped_ = false;
  std::map<ProviderId, std::unique_ptr<Line>> lines_;
};

}  // namespace muster::registration
