// Who answers questions about names.
#pragma once

#include <functional>

#include "lib/base/clock.hpp"
#include "relay/name_verification.hpp"

namespace muster::relay {

// THREADS: ask() may be called from any thread.
class Resolver {
 public:
  using Done = std::function<void(DnsAnswer)>;
  virtual ~Resolver() = default;

  // Calls `done` exactly once, from any thread, also from inside of ask(); soon after the deadline
  // at the latest, then with timed_out.
  virtual void ask(const Question& question, SteadyTime deadline, Done done) = 0;
};

}  // namespace muster::relay
