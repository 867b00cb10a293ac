// Our own sources of access tokens, one function for each.
#pragma once

#include "plugins/provider/azure/credentials.hpp"

namespace muster::azure {

// `client_id`, and the tenant of the settings or of AZURE_TENANT_ID.
Result<FetchedToken> from_client_secret(const TokenParts& parts, const std::string& client_id,
                                        const Secret& secret, const std::string& scope,
                                        const Context& context);
// A signed client assertion (RS256) by the certificate and its key in `pem`.
Result<FetchedToken> from_certificate(const TokenParts& parts, const std::string& client_id,
                                      const Secret& pem, const std::string& scope,
                                      const Context& context);
// `assertion` is a token of another issuer that the client trusts.
Result<FetchedToken> from_assertion(const TokenParts& parts, const std::string& client_id,
                                    const Secret& assertion, const std::string& scope,
                                    const Context& context);
// Of the machine that muster runs on: App Service, Azure Arc, or the instance metadata service.
Result<FetchedToken> from_managed_identity(const TokenParts& parts, const std::string& client_id,
                                           const std::string& scope, const Context& context);

// -------------------------------------------------------------------------------------------------
// What the SDK does if there is one (credentials_sdk.cpp), and our own code otherwise
// (credentials_own.cpp). The arguments are those of the functions above.

Result<FetchedToken> by_client_secret(const TokenParts& parts, const std::string& client_id,
                                      const Secret& secret, const std::string& scope,
                                      const Context& context);
Result<FetchedToken> by_certificate(const TokenParts& parts, const std::string& client_id,
                                    const Secret& pem, const std::string& scope,
                                    const Context& context);
Result<FetchedToken> by_assertion(const TokenParts& parts, const std::string& client_id,
                                  const Secret& assertion, const std::string& scope,
                                  const Context& context);
Result<FetchedToken> by_managed_identity(const TokenParts& parts, const std::string& client_id,
                                         const std::string& scope, const Context& context);

// -------------------------------------------------------------------------------------------------
// Parts of both.

// Of the settings or of AZURE_TENANT_ID.
Result<std::string> tenant_of(const TokenParts& parts);

// Sends one request to Entra as often as it helps; the answer is the JSON of a success. `prepare`
// gets Entra's time.
struct LoginRequest {
  std::string name;    // "the token of client x"
  std::string server;  // its URL
  std::function<Result<http_client::Request>(Time server_time)> prepare;
};
Result<json::object> ask_entra(const TokenParts& parts, const LoginRequest& request,
                               const Context& context);

// {"access_token", "expires_in" or "expires_on"}. `where` names the source in messages.
Result<FetchedToken> read_token(const json::object& document, const std::string& where, Time now);

// The assertion that proves a client by its certificate. `now` is Entra's time.
Result<Secret> client_assertion(const std::string& client_id, const std::string& audience,
                                std::string_view pem, Time now);

}  // namespace muster::azure
