// The seam over google-cloud-cpp (oauth2): it signs for service accounts, whose tokens then need no
// call, and takes workload identities of AWS, which our own code cannot. Its calls cannot be
// cancelled and know nothing of the provider's proxy and endpoints, so our own sources do the rest.
#include <google/cloud/credentials.h>
#include <google/cloud/oauth2/access_token_generator.h>
#include <google/cloud/version.h>

#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/access_token.hpp"
#include "plugins/provider/google/jwt.hpp"

namespace muster::google {
namespace {

namespace sdk = ::google::cloud;
using cloud::text_of;

Result<FetchedToken> token_of(const TokenParts& parts, const sdk::Credentials& credentials,
                              const std::string& where) {
  const auto token = sdk::oauth2::MakeAccessTokenGenerator(credentials)->GetToken();
  if (!token) {
    const bool may_pass = token.status().code() == sdk::StatusCode::kUnavailable ||
                          token.status().code() == sdk::StatusCode::kDeadlineExceeded;
    return Error{may_pass ? ErrorClass::transient : ErrorClass::auth,
                 parts.redactor.redact(where + ": google-cloud-cpp got no token: " +
                                       cloud::printable(token.status().message(), 500))};
  }
  // It becomes a header.
  if (token->token.empty() || token->token.find_first_of("\r\n \t") != std::string::npos)
    return Error::transient(where + ": google-cloud-cpp gave a token that is none");
  parts.redactor.add(token->token);
  return FetchedToken{.value = {Secret(token->token)},
                      .end = Time(std::chrono::duration_cast<std::chrono::milliseconds>(
                          token->expiration.time_since_epoch()))};
}

// Files are judged as our own code does it: one that was changed must not send tokens to somebody
// else.
Result<void> check_address(const TokenParts& parts, const json::object& document,
                           const char* service, const char* path, const char* key,
                           const std::string& where) {
  const auto url = parts.endpoints.named_in_file(service, path, text_of(document, key));
  if (!url) return Error::auth(where + ": " + url.error().message);
  return {};
}

Result<FetchedToken> from_service_account(const TokenParts& parts, const json::object& document,
                                          const std::string& where) {
  const Secret key(text_of(document, "private_key"));
  parts.redactor.add(key.reveal());
  if (const auto fine = check_address(parts, document, "oauth2", "/token", "token_uri", where);
      !fine)
    return fine.error();
  if (const auto usable = sign_jwt({{"alg", "RS256"}}, {}, key); !usable)
    return Error::auth(where + ": " + usable.error().message);
  return token_of(parts, *sdk::MakeServiceAccountCredentials(json::write(document)), where);
}

Result<FetchedToken> from_aws(const TokenParts& parts, const json::object& document,
                              const std::string& where) {
  if (const auto fine = check_address(parts, document, "sts", "/v1/token", "token_url", where);
      !fine)
    return fine.error();
  sdk::Options options;
  if (!parts.settings.reach.ca_file.empty())
    options.set<sdk::CARootsFilePathOption>(parts.settings.reach.ca_file);
  return token_of(parts, *sdk::MakeExternalAccountCredentials(json::write(document), options),
                  where);
}

bool is_from_aws(const json::object& document) {
  const json::object* const source = cloud::table_of(document, "credential_source");
  return text_of(document, "type") == "external_account" && source &&
         source->contains("environment_id");
}

}  // namespace

Result<FetchedToken> from_default_chain(const TokenParts& parts, const Context& context) {
  const auto file = parts.environment("GOOGLE_APPLICATION_CREDENTIALS");
  if (!file) return from_own_chain(parts, context);
  const auto document = read_credentials_file(*file);
  if (!document) return document.error();
  return from_document(parts, *document, "the file " + *file, context);
}

Result<FetchedToken> from_document(const TokenParts& parts, const json::object& document,
                                   const std::string& where, const Context& context) {
  if (text_of(document, "type") == "service_account" && !parts.endpoints.is_overridden("oauth2") &&
      !text_of(document, "client_email").empty())
    return from_service_account(parts, document, where);
  if (is_from_aws(document) && !parts.endpoints.is_overridden("sts"))
    return from_aws(parts, document, where);
  return from_own_document(parts, document, where, context);
}

std::string credentials_implementation() {
  return "google-cloud-cpp " + sdk::version_string();
}

}  // namespace muster::google
