// What registrations share: who failed lately, the challenges,
// and the threads on which providers are asked.
#pragma once

#include "host/registration/challenges.hpp"
#include "host/registration/failed_registrations.hpp"
#include "host/registration/identity_checks.hpp"
#include "host/taskcluster_api/call.hpp"
#include "host/taskcluster_api/meters.hpp"

namespace muster::taskcluster_api {

class Registrations {
 public:
  Registrations(const Parts& parts, FailureLimits limits)
      : failures(limits), challenges(parts.root_url), checks(parts.identify, parts.log) {}

  FailedRegistrations failures;
  Meters meters;
  Challenges challenges;
  IdentityChecks checks;  // last: its threads use the others
};

// The 429 for a peer that has failed too often lately, decided from its address alone, before its
// request is even read.
std::optional<Failure> refuse_peer(const Api& api, const http::Request& request);

}  // namespace muster::taskcluster_api
