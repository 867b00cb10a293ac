// How a simulated machine proves who it is: a keyed hash of its name, with a secret that only the
// cloud's configuration and those who play its workers know.
#include <array>

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulated {

std::string proof_token(const std::string& secret, const WorkerPoolId& pool,
                        const WorkerGroup& group, const WorkerId& worker) {
  const std::string name = pool.str() + "\n" + group.str() + "\n" + worker.str();
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  ::HMAC(::EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
         reinterpret_cast<const unsigned char*>(name.data()), name.size(), digest.data(), &size);
  static constexpr char digits[] = "0123456789abcdef";
  std::string token;
  for (unsigned int i = 0; i < size; ++i) {
    token += digits[digest[i] >> 4];
    token += digits[digest[i] & 15];
  }
  return token;
}

Result<Identity> Cloud::identify(const IdentifyRequest& request, const Context& context) {
  if (const auto begun = begin("identify", context); !begun) return begun.error();
  if (settings_.secret.empty())
    return Error::auth("the cloud has no secret: set `secret` in its configuration");
  const json::value* token = request.proof.if_contains("token");
  if (!token || !token->is_string()) return Error::auth("the proof has no text \"token\"");
  const std::string expected = proof_token(settings_.secret, request.worker_pool_id,
                                           request.worker_group, request.worker_id);
  if (token->get_string().size() != expected.size() ||
      ::CRYPTO_memcmp(token->get_string().data(), expected.data(), expected.size()) != 0)
    return Error::auth("the token is not that of " + request.worker_id.str() + " in " +
                       request.worker_group.str() + " of " + request.worker_pool_id.str());
  const auto found = state_.machines.find(request.worker_id.str());
  if (found == state_.machines.end() || gone(found->second, context.now()))
    return Error::auth("there is no machine " + request.worker_id.str());
  const Machine& machine = found->second;
  if (machine.instance.worker_group != request.worker_group ||
      machine.instance.worker_pool_id != request.worker_pool_id)
    return Error::auth(request.worker_id.str() + " is in " + machine.instance.worker_group.str() +
                       " of " + machine.instance.worker_pool_id.str());
  return Identity{request.worker_group,
                  request.worker_id,
                  {{"zone", machine.zone}, {"instanceType", machine.instance_type}}};
}

}  // namespace muster::simulated
