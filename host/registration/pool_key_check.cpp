#include "host/registration/pool_key_check.hpp"

#include "host/queue/pool_keys.hpp"
#include "lib/ssh/pool_key_proof.hpp"

namespace muster::registration {

const json::value* challenge_in(const json::object& proof) {
  const json::value* key = proof.if_contains(ssh::pool_key_member);
  const json::object* members = key ? key->if_object() : nullptr;
  if (members) return members->if_contains("challenge");
  return proof.if_contains(challenge_member);
}

// A machine that comes through a relay does not know yet which worker it is, so it cannot have
// signed a challenge.
std::optional<Refusal> check_pool_key_is_shown(const Application& application) {
  const std::string pool =
      "Worker pool " + application.claim.name.worker_pool_id.str() + " requires a key to join";
  if (application.voucher)
    return Refusal::invalid(pool + ", which a relay cannot show: the machine has to register by " +
                            "itself, with a private key of the pool");
  if (application.proof.contains(ssh::pool_key_member)) return std::nullopt;
  return Refusal::invalid(pool +
                          ": ask for a challenge (POST /api/muster/v1/registration-challenges), " +
                          "sign it with a private key of the pool, and send it as poolKey in " +
                          "workerIdentityProof (poolKeyFile in the configuration of muster-agent)");
}

boost::system::result<std::string, Refusal> check_pool_key(
    const json::object& proof, const std::string& challenge,
    const std::vector<std::string>& pool_keys) {
  const auto keys = queue::read_pool_keys("publicKeys", pool_keys);
  if (!keys) return Refusal::unavailable(keys.error().message);
  const auto signer = ssh::signer_in(proof.at(ssh::pool_key_member), challenge, *keys);
  if (!signer) return Refusal::invalid(signer.error().message);
  return (*signer)->fingerprint();
}

}  // namespace muster::registration
