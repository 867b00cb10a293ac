// Where access tokens come from: the seam behind which google-cloud-cpp is used where it was found
// (credentials_sdk.cpp), and our own code otherwise (credentials_own.cpp).
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <muster/json.hpp>

#include "lib/base/secret.hpp"
#include "plugins/cloud/redaction.hpp"
#include "plugins/cloud/refreshed_value.hpp"
#include "plugins/cloud/session.hpp"
#include "plugins/provider/google/connection.hpp"
#include "plugins/provider/google/endpoint.hpp"

namespace muster::google {

struct AccessToken {
  Secret text;  // "ya29...."
};
using TokenCache = cloud::RefreshedValue<AccessToken>;
using FetchedToken = TokenCache::Fetched;

// Reads variables of the environment; an argument, so that tests have one of their own.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;
Environment process_environment();

// What fetching tokens rests on. Everything is borrowed and outlives what is made from it.
struct TokenParts {
  const ConnectionSettings& settings;
  const Endpoints& endpoints;
  Environment environment = process_environment();
  cloud::Session& session;    // for Google's services of tokens
  cloud::Session& metadata;   // for the metadata server: near, without a proxy
  cloud::Redactor& redactor;  // learns every secret before it is sent
};

// How tokens are fetched, as the settings say. An error of it is `auth` or `transient` and says
// which sources there are and what to do.
TokenCache::Fetch token_fetch(TokenParts parts);

// What a token is good for. Narrower rights are a matter of roles, as Google advises.
inline constexpr const char* token_scope = "https://www.googleapis.com/auth/cloud-platform";

// -------------------------------------------------------------------------------------------------
// Our own sources. All read and fetch anew with each call.

// GOOGLE_APPLICATION_CREDENTIALS, the file that gcloud writes, the metadata server. The first
// source that is configured counts, whether it works or not: falling through to another account
// would be worse than an error.
Result<FetchedToken> from_own_chain(const TokenParts& parts, const Context& context);
// By the document's `type`: service_account, authorized_user, external_account,
// impersonated_service_account. `where` names it in messages.
Result<FetchedToken> from_own_document(const TokenParts& parts, const json::object& document,
                                       const std::string& where, const Context& context);
Result<FetchedToken> from_metadata(const TokenParts& parts, const Context& context);
Result<FetchedToken> from_external_account(const TokenParts& parts, const json::object& document,
                                           const std::string& where, const Context& context);
// A token of another service account, by IAM's generateAccessToken with the token of `base`.
Result<FetchedToken> impersonate(const TokenParts& parts, const Impersonation& who,
                                 const FetchedToken& base, const Context& context);

// A document with credentials that only its owner may read. `auth` says what is wrong with it.
Result<json::object> read_credentials_file(const std::string& path);

// Posts to one of Google's services of tokens; the answer is its JSON. `what` begins messages.
Result<json::object> ask_for_token(const TokenParts& parts, const http_client::Request& request,
                                   const std::string& what, const Context& context);
// For a request that says its time: it is made again if the answer shows that our clock is wrong.
// `prepare` gets the server's time.
Result<json::object> ask_for_token(const TokenParts& parts, const std::string& url,
                                   const std::function<Result<http_client::Request>(Time)>& prepare,
                                   const std::string& what, const Context& context);
// {"access_token": ..., "expires_in": 3599}
Result<FetchedToken> read_token(const TokenParts& parts, const json::object& answer,
                                const std::string& what, const Context& context);

// -------------------------------------------------------------------------------------------------
// What the SDK does if there is one (credentials_sdk.cpp), and our own code otherwise
// (credentials_own.cpp).

Result<FetchedToken> from_default_chain(const TokenParts& parts, const Context& context);
Result<FetchedToken> from_document(const TokenParts& parts, const json::object& document,
                                   const std::string& where, const Context& context);

}  // namespace muster::google
