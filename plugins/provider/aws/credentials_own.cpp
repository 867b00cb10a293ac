// The seam without an SDK: our own sources of credentials and our own signer.
#include "lib/url/url.hpp"
#include "plugins/provider/aws/credential_sources.hpp"
#include "plugins/provider/aws/wire.hpp"

namespace muster::aws {

Result<FetchedCredentials> from_default_chain(const CredentialsParts& parts,
                                              const Context& context) {
  return from_own_chain(parts, context);
}

std::optional<Result<FetchedCredentials>> from_process_or_login(const Profile& profile,
                                                                const std::string& name,
                                                                const Context&) {
  if (profile.contains("credential_process"))
    return Error::auth("the profile " + name +
                       " uses credential_process, which muster runs only if it was built with the "
                       "AWS SDK for C++; use keys, a role or a web identity");
  if (profile.contains("sso_session") || profile.contains("sso_start_url"))
    return Error::auth("the profile " + name +
                       " uses the login of a person (SSO), which muster reads only if it was built "
                       "with the AWS SDK for C++; use keys, a role or a web identity");
  return std::nullopt;
}

Result<json::object> assume_role(const CredentialsParts& parts, const json::object& parameters,
                                 CredentialsCache& base, const Context& context) {
  return parts.wire.call(
      {.service = "sts", .region = parts.region, .action = "AssumeRole", .parameters = parameters},
      &base, context);
}

Result<std::vector<http_client::Header>> sign_request(const http_client::Request& request,
                                                      const Credentials& credentials,
                                                      const SigningScope& scope, Time server_time) {
  const auto url = parse_http_url(request.url);
  if (!url) return Error::invalid("the URL of AWS " + url.error().message);
  const auto question = url->target.find('?');
  RequestToSign to_sign{.method = request.method,
                        .path = url->target.substr(0, question),
                        .query = url->has_query ? url->target.substr(question + 1) : "",
                        .headers = request.headers,
                        .body = request.body.value_or("")};
  to_sign.headers.push_back({"Host", url->host_header()});
  return std::move(sign(to_sign, credentials, scope, server_time).headers);
}

std::string credentials_implementation() {
  return "built-in";
}

}  // namespace muster::aws
