// Proofs of identity that may be used once: tokens and signed documents with an end.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>

namespace muster::cloud {

// In memory: what a restart forgets is still refused by its end and by the worker's registration,
// which the host keeps. Holds digests, not proofs. THREADS: one at a time.
class SeenProofs {
 public:
  // Error::auth if the proof was used before by another machine, or by the same one: `name` says
  // whose it was. A proof is remembered until `end`, after which its own times refuse it.
  //
  // For `again_for` the same machine may show it again: the answer may have been lost, and the host
  // itself registers a worker once.
  Result<void> use_once(std::string_view proof, const std::string& name, Time end, Time now,
                        std::chrono::milliseconds again_for = {});

 private:
  struct Use {
    std::string name;
    Time end{}, first{};
  };
  std::map<std::string, Use> uses_;  // by digest
};

}  // namespace muster::cloud
