#include "lib/ssh/pool_key_proof.hpp"

#include <algorithm>

namespace muster::ssh {
namespace {

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

}  // namespace

Result<const PublicKey*> signer_in(const json::value& pool_key, std::string_view challenge,
                                   const std::vector<PublicKey>& keys) {
  if (!pool_key.is_object()) return Error::auth("poolKey in workerIdentityProof must be an object");
  const json::object& proof = pool_key.get_object();
  const std::string signature = text_in(proof, "signature");
  if (signature.empty()) return Error::auth("poolKey.signature in workerIdentityProof is missing");
  if (challenge.empty())
    return Error::auth(
        "poolKey in workerIdentityProof shows no challenge that this host has made for this "
        "worker: ask for a new one");
  const PublicKey* const signer = signer_of(challenge, signature, keys);
  if (const json::value* const named = proof.if_contains("publicKey")) {
    const auto key =
        PublicKey::parse(named->is_string() ? std::string_view(named->get_string()) : "");
    if (!key)
      return Error::auth("poolKey.publicKey in workerIdentityProof: " + key.error().message);
    if (std::ranges::find(keys, key->blob(), &PublicKey::blob) == keys.end())
      return Error::auth(
          "poolKey.publicKey in workerIdentityProof is not a key of this worker's pool");
    if (signer && signer->blob() != key->blob())
      return Error::auth(
          "poolKey.signature in workerIdentityProof is not one of poolKey.publicKey");
  }
  if (!signer)
    return Error::auth(
        "poolKey.signature in workerIdentityProof is not one of a key of this worker's pool over "
        "the challenge");
  return signer;
}

}  // namespace muster::ssh
