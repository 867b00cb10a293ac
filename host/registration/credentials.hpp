// What a worker gets when it registers, and again each time it renews.
#pragma once

#include <optional>
#include <string>

#include <muster/json.hpp>

#include "host/registration/claim.hpp"
#include "lib/base/secret.hpp"

namespace muster::auth {
class Authority;
}

namespace muster::registration {

struct WorkerCredentials {
  std::string client_id, access_token, certificate /* JSON text */;
};

struct GrantedCredentials {
  Claim claim;
  WorkerCredentials credentials;
  Time expires{};
  json::object worker_config;
  Secret renewal_secret;                     // what the worker shows to renew them
  std::optional<std::string> outdated = {};  // it is to end when its work is done: why
};

// 44 letters that need no quoting anywhere, 264 bits.
Secret make_renewal_secret();

// For the worker's own work and nothing else. They are good from a little before `now`, because
// the clocks of workers are not always right. Takes time: not for the fleet's thread.
WorkerCredentials issue_credentials(const auth::Authority& authority, const Claim& claim, Time now,
                                    Time expires);

}  // namespace muster::registration
