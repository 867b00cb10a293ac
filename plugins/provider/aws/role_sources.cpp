#include "lib/base/atomic_file.hpp"
#include "plugins/provider/aws/credential_sources.hpp"
#include "plugins/provider/aws/wire.hpp"

namespace muster::aws {
namespace {

constexpr std::size_t most_web_token_bytes = 64 << 10;

Result<FetchedCredentials> read_answer(const Result<json::object>& answer, const std::string& arn) {
  if (!answer) {
    Error error = answer.error();
    error.message = "the role " + arn + " cannot be assumed: " + error.message;
    return error;
  }
  const json::value* const credentials = answer->if_contains("Credentials");
  if (!credentials || !credentials->is_object())
    return Error::transient("STS answered without credentials for the role " + arn);
  return read_credentials(credentials->get_object(), "STS");
}

}  // namespace

Result<FetchedCredentials> from_web_identity(const CredentialsParts& parts,
                                             const WebIdentity& identity, const Context& context) {
  auto token = read_file(identity.token_file, most_web_token_bytes);
  if (!token) return Error::auth("the web identity token cannot be read: " + token.error().message);
  while (token->ends_with('\n') || token->ends_with('\r') || token->ends_with(' '))
    token->pop_back();
  if (token->empty())
    return Error::auth("the web identity token " + identity.token_file + " is empty");
  parts.wire.redactor().add(*token);
  return read_answer(parts.wire.call({.service = "sts",
                                      .region = parts.region,
                                      .action = "AssumeRoleWithWebIdentity",
                                      .parameters = {{"RoleArn", identity.role_arn},
                                                     {"RoleSessionName", identity.session_name},
                                                     {"WebIdentityToken", *token}}},
                                     nullptr, context),
                     identity.role_arn);
}

Result<FetchedCredentials> from_role(const CredentialsParts& parts, const AssumeRole& role,
                                     CredentialsCache::Fetch base, const Context& context) {
  CredentialsCache cache(std::move(base));
  json::object parameters{{"RoleArn", role.arn},
                          {"RoleSessionName", role.session_name},
                          {"DurationSeconds", role.duration_seconds}};
  if (!role.external_id.empty()) parameters["ExternalId"] = role.external_id;
  return read_answer(assume_role(parts, parameters, cache, context), role.arn);
}

}  // namespace muster::aws
