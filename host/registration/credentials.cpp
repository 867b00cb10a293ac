#include "host/registration/credentials.hpp"

#include <chrono>
#include <vector>

#include "host/auth/authority.hpp"

namespace muster::registration {
namespace {

constexpr std::chrono::minutes clock_tolerance{15};

std::vector<std::string> scopes_of(const Claim& claim) {
  const std::string& pool = claim.name.worker_pool_id.str();
  const std::string worker = claim.in_words();
  return {"assume:worker-type:" + pool,
          "assume:worker-pool:" + pool,
          "assume:worker-id:" + worker,
          "queue:worker-id:" + worker,
          "secrets:get:worker-type:" + pool,
          "secrets:get:worker-pool:" + pool,
          "queue:claim-work:" + pool,
          "worker-manager:remove-worker:" + pool + "/" + worker,
          "worker-manager:reregister-worker:" + pool + "/" + worker,
          "worker-manager:should-worker-terminate:" + pool + "/" + worker};
}

}  // namespace

Secret make_renewal_secret() {
  return Secret(random_token().reveal() + random_token().reveal().substr(0, 1));
}

WorkerCredentials issue_credentials(const auth::Authority& authority, const Claim& claim, Time now,
                                    Time expires) {
  auto issued =
      authority.issue(claim.client_id(), scopes_of(claim), now - clock_tolerance, expires);
  return {std::move(issued.client_id), std::move(issued.access_token),
          std::move(issued.certificate)};
}

}  // namespace muster::registration
