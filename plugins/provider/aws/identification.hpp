// Checks that a worker is the machine that was launched.
#pragma once

#include <muster/identity_types.hpp>

#include "plugins/provider/aws/identity_keys.hpp"

namespace muster::aws {

// The proof is {"document", "rsa2048"}, {"document", "pkcs7"} or {"document", "signature"}. Pure.
Result<Identity> identify_worker(const IdentifyRequest& request, const IdentityKeys& keys,
                                 const std::string& account_id);

}  // namespace muster::aws
