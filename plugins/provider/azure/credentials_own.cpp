// The seam without an SDK: our own sources of access tokens.
#include "plugins/provider/azure/token_sources.hpp"

namespace muster::azure {

Result<FetchedToken> by_client_secret(const TokenParts& parts, const std::string& client_id,
                                      const Secret& secret, const std::string& scope,
                                      const Context& context) {
  return from_client_secret(parts, client_id, secret, scope, context);
}

Result<FetchedToken> by_certificate(const TokenParts& parts, const std::string& client_id,
                                    const Secret& pem, const std::string& scope,
                                    const Context& context) {
  return from_certificate(parts, client_id, pem, scope, context);
}

Result<FetchedToken> by_assertion(const TokenParts& parts, const std::string& client_id,
                                  const Secret& assertion, const std::string& scope,
                                  const Context& context) {
  return from_assertion(parts, client_id, assertion, scope, context);
}

Result<FetchedToken> by_managed_identity(const TokenParts& parts, const std::string& client_id,
                                         const std::string& scope, const Context& context) {
  return from_managed_identity(parts, client_id, scope, context);
}

std::string credentials_implementation() {
  return "built-in";
}

}  // namespace muster::azure
