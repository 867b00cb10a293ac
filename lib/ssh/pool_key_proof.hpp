// How a worker shows that it has a key of its pool: `poolKey` in its identity proof.
#pragma once

#include <muster/json.hpp>

#include "lib/ssh/public_key.hpp"

namespace muster::ssh {

// The member of an identity proof, `{"challenge": C, "signature": S, "publicKey": K}`; the last is
// optional and says which of the keys it is.
inline constexpr std::string_view pool_key_member = "poolKey";

// Which of the keys has signed the challenge. `challenge` is what the host has made for this worker
// and takes now; empty: the worker showed none. Fails as `auth`, in words for the person who set it
// up.
Result<const PublicKey*> signer_in(const json::value& pool_key, std::string_view challenge,
                                   const std::vector<PublicKey>& keys);

}  // namespace muster::ssh
