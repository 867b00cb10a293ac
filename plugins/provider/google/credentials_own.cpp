// The seam without an SDK: our own sources of access tokens.
#include "plugins/provider/google/access_token.hpp"

namespace muster::google {

Result<FetchedToken> from_default_chain(const TokenParts& parts, const Context& context) {
  return from_own_chain(parts, context);
}

Result<FetchedToken> from_document(const TokenParts& parts, const json::object& document,
                                   const std::string& where, const Context& context) {
  return from_own_document(parts, document, where, context);
}

std::string credentials_implementation() {
  return "built-in";
}

}  // namespace muster::google
