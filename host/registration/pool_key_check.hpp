// Pools with keys: a machine that joins signs a challenge with one of them. It proves that in
// addition to what its provider checks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/registration/application.hpp"

namespace muster::registration {

// Where a proof has a challenge that nobody signed with a key of the pool: the metadata service of
// a cloud has put its digest into the document that it signed.
inline constexpr const char* challenge_member = "registrationChallenge";

// The challenge that was signed, as the machine gives it back; null: none.
const json::value* challenge_in(const json::object& proof);

// Whether the application has a signature at all. The refusal tells what to do.
std::optional<Refusal> check_pool_key_is_shown(const Application& application);

// The fingerprint of the key, one of `pool_keys`, that signed the challenge. Takes time.
boost::system::result<std::string, Refusal> check_pool_key(
    const json::object& proof, const std::string& challenge,
    const std::vector<std::string>& pool_keys);

}  // namespace muster::registration
