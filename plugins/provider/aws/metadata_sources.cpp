#include <muster/codec.hpp>

#include "lib/base/atomic_file.hpp"
#include "lib/url/url.hpp"
#include "plugins/provider/aws/credential_sources.hpp"

namespace muster::aws {
namespace {

using Next = cloud::Reading::Next;

constexpr std::size_t most_token_bytes = 64 << 10;

std::string text_in(const json::object& document, const char* key) {
  const json::value* const found = document.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

// One small answer of a service on this machine.
Result<std::string> ask(const CredentialsParts& parts, http_client::Request request,
                        const std::string& what, const Context& context) {
  const auto answer = parts.metadata.run(
      {.api = "metadata",
       .name = what,
       .server = request.url,
       .repeatable = true,
       .prepare = [&](Time) { return request; },
       .read = [&](const http_client::Response& response) -> cloud::Reading {
         if (response.status == 200) return {};
         const bool may_pass = response.status >= 500 || response.status == 429;
         return {may_pass ? Next::repeat : Next::done,
                 Error{may_pass ? ErrorClass::transient : ErrorClass::auth,
                       what + ": " + request.url + " answered with HTTP status " +
                           std::to_string(response.status)}};
       }},
      context);
  if (!answer) return answer.error();
  return answer->body;
}

Result<FetchedCredentials> read_document_of(const Result<std::string>& answer,
                                            const std::string& where) {
  if (!answer) return answer.error();
  const auto document = json::parse_object(*answer);
  if (!document) return Error::transient(where + " answered with something that is not JSON");
  const std::string code = text_in(*document, "Code");
  if (!code.empty() && code != "Success")
    return Error::auth(where + " has no credentials: " + cloud::printable(code));
  return read_credentials(*document, where);
}

// A URI with secrets in it goes to this machine or to AWS's own addresses only, or over TLS.
bool may_be_asked(const Url& url) {
  const std::string address = url.address();
  return url.tls || url.is_loopback() || address == "169.254.170.2" ||
         address == "169.254.170.23" || address == "fd00:ec2::23";
}

Result<std::string> container_token(const Environment& environment) {
  const auto file = environment("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE");
  if (!file) return environment("AWS_CONTAINER_AUTHORIZATION_TOKEN").value_or("");
  auto token = read_file(*file, most_token_bytes);
  if (!token)
    return Error::auth("the file of AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE cannot be read: " +
                       token.error().message);
  while (token->ends_with('\n') || token->ends_with('\r')) token->pop_back();
  return token;
}

}  // namespace

Result<FetchedCredentials> read_credentials(const json::object& document,
                                            const std::string& where) {
  FetchedCredentials fetched{
      .value = {.access_key_id = text_in(document, "AccessKeyId"),
                .secret_access_key = Secret(text_in(document, "SecretAccessKey")),
                .session_token = Secret(text_in(document, "Token"))}};
  if (fetched.value.session_token.reveal().empty())
    fetched.value.session_token = Secret(text_in(document, "SessionToken"));
  if (fetched.value.access_key_id.empty() || fetched.value.secret_access_key.reveal().empty())
    return Error::auth(where + " gave credentials without AccessKeyId or SecretAccessKey");
  const std::string expiration = text_in(document, "Expiration");
  if (!expiration.empty()) {
    fetched.end = parse_time(expiration);
    if (!fetched.end) return Error::auth(where + " gave credentials whose Expiration is no time");
  }
  return fetched;
}

std::optional<Result<FetchedCredentials>> from_container(const CredentialsParts& parts,
                                                         const Context& context) {
  std::string uri;
  if (const auto relative = parts.environment("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI"))
    uri = "http://169.254.170.2" + *relative;
  else if (const auto full = parts.environment("AWS_CONTAINER_CREDENTIALS_FULL_URI"))
    uri = *full;
  else
    return std::nullopt;
  const std::string what = "the credentials of the container";
  const auto url = parse_http_url(uri);
  if (!url) return Error::auth(what + ": their URI " + url.error().message);
  if (!may_be_asked(*url))
    return Error::auth(what +
                       ": AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https:// nor on "
                       "this machine");
  http_client::Request request{.url = uri};
  const auto token = container_token(parts.environment);
  if (!token) return token.error();
  if (!token->empty()) request.headers.push_back({"Authorization", *token});
  return read_document_of(ask(parts, std::move(request), what, context), what);
}

Result<FetchedCredentials> from_instance(const CredentialsParts& parts, const Context& context) {
  const std::string what = "the role of this EC2 instance";
  const CredentialsSettings& settings = parts.settings.credentials;
  if (parts.environment("AWS_EC2_METADATA_DISABLED") == "true" &&
      settings.metadata_endpoint.empty())
    return Error::auth(what + ": AWS_EC2_METADATA_DISABLED is set");
  std::string base = settings.metadata_endpoint;
  if (base.empty()) base = parts.environment("AWS_EC2_METADATA_SERVICE_ENDPOINT").value_or("");
  if (base.empty()) base = "http://169.254.169.254";
  while (base.ends_with('/')) base.pop_back();
  const auto token = ask(parts,
                         {.url = base + "/latest/api/token",
                          .method = "PUT",
                          .headers = {{"X-aws-ec2-metadata-token-ttl-seconds", "300"}},
                          .body = ""},
                         what, context);
  if (!token) return token.error();
  const std::vector<http_client::Header> headers = {{"X-aws-ec2-metadata-token", *token}};
  const std::string roles = base + "/latest/meta-data/iam/security-credentials/";
  auto role = ask(parts, {.url = roles, .headers = headers}, what, context);
  if (!role) return role.error();
  role = role->substr(0, role->find_first_of("\r\n"));
  if (role->empty()) return Error::auth(what + ": it has none; give it an instance profile");
  return read_document_of(
      ask(parts, {.url = roles + encode_segment(*role), .headers = headers}, what, context), what);
}

}  // namespace muster::aws
