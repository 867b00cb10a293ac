// Checks that a worker is the machine that was launched.
#pragma once

#include <muster/identity_types.hpp>

#include "plugins/cloud/machines/seen_proofs.hpp"
#include "plugins/provider/google/identity_keys.hpp"
#include "plugins/provider/google/settings.hpp"

namespace muster::google {

// The proof is {"token": a JSON Web Token of the instance's metadata server with format=full}. A
// token may be used once.
Result<Identity> identify_worker(const IdentifyRequest& request, const Settings& settings,
                                 IdentityKeys& keys, cloud::SeenProofs& seen,
                                 const Context& context);

}  // namespace muster::google
