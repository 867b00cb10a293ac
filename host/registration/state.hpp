// What all registrations share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "host/registration/challenges.hpp"
#include "host/registration/failed_registrations.hpp"
#include "host/registration/identity_checks.hpp"
#include "host/registration/meters.hpp"

namespace muster::auth {
class Authority;
}
namespace muster::fleet {
class Service;
}

namespace muster::registration {

// A configured provider, as far as it is known without asking it.
struct ProviderState {
  bool running = false;           // else nothing can be asked of it now
  bool declared_workers = false;  // owners declare its workers, nobody launches them (capability)
};

// All pointers are borrowed and outlive the registrar.
struct Dependencies {
  fleet::Service* fleet = nullptr;  // none: nobody can register, because of `problem`
  std::string problem = {};
  const auth::Authority* authority = nullptr;
  std::shared_ptr<const Clock> clock;
  Log log = {};
  std::string root_url;  // how clients reach the host; challenges name it
  // Nothing: no such provider is configured. Does not wait. THREADS: any.
  std::function<std::optional<ProviderState>(const ProviderId&)> find_provider;
  Identify identify;
};

// THREADS: any.
struct State {
  State(Dependencies of_host, FailureLimits limits)
      : host(std::move(of_host)),
        failures(limits),
        challenges(host.root_url),
        checks(host.identify, host.log) {}

  const Dependencies host;
  FailedRegistrations failures;
  Meters meters;
  Challenges challenges;
  IdentityChecks checks;  // last: its threads use the others
};

}  // namespace muster::registration
