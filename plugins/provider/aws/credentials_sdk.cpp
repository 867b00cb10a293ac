// The seam over the AWS SDK for C++ (core and sts): its chain of credentials, with those of
// programs and logins, its signer, and its client of STS.
#include <algorithm>
#include <aws/core/Aws.h>
#include <aws/core/Version.h>
#include <aws/core/auth/AWSCredentialsProviderChain.h>
#include <aws/core/auth/SSOCredentialsProvider.h>
#include <aws/core/auth/signer/AWSAuthV4Signer.h>
#include <aws/core/client/DefaultRetryStrategy.h>
#include <aws/core/http/HttpClientFactory.h>
#include <aws/core/http/HttpRequest.h>
#include <aws/core/utils/stream/ResponseStream.h>
#include <aws/sts/STSClient.h>
#include <aws/sts/model/AssumeRoleRequest.h>
#include <mutex>

#include <muster/codec.hpp>

#include "lib/url/url.hpp"
#include "plugins/provider/aws/credential_sources.hpp"
#include "plugins/provider/aws/endpoint.hpp"
#include "plugins/provider/aws/wire.hpp"

namespace muster::aws {
namespace {

constexpr const char* tag = "muster";

// Never undone: another thread may be in the middle of a call.
void initialize_sdk() {
  static std::once_flag once;
  std::call_once(once, [] {
    Aws::SDKOptions options;
    options.httpOptions.installSigPipeHandler = false;
    Aws::InitAPI(options);
  });
}

// Those that never end have the last moment that the SDK can say, or the first. They are read again
// like files.
Result<FetchedCredentials> converted(const Aws::Auth::AWSCredentials& found, const Context& context,
                                     const std::string& if_none) {
  if (found.IsEmpty()) return Error::auth(if_none);
  FetchedCredentials fetched{.value = {.access_key_id = found.GetAWSAccessKeyId(),
                                       .secret_access_key = Secret(found.GetAWSSecretKey()),
                                       .session_token = Secret(found.GetSessionToken())},
                             .end = context.now() + file_life};
  const auto end = found.GetExpiration();
  if (end.Millis() <= 0 || !(end < (std::chrono::system_clock::time_point::max)())) return fetched;
  fetched.end = Time(std::chrono::milliseconds(end.Millis()));
  if (*fetched.end <= context.now())
    return Error::auth("the credentials that the AWS SDK found have expired");
  return fetched;
}

Aws::Auth::AWSCredentials converted(const Credentials& credentials) {
  return {credentials.access_key_id, credentials.secret_access_key.reveal(),
          credentials.session_token.reveal()};
}

// Signs at a time that is given to it.
class Signer final : public Aws::Client::AWSAuthV4Signer {
 public:
  Signer(const Credentials& credentials, const SigningScope& scope, Time time)
      : AWSAuthV4Signer(
            Aws::MakeShared<Aws::Auth::SimpleAWSCredentialsProvider>(tag, converted(credentials)),
            scope.service.c_str(), scope.region, PayloadSigningPolicy::Always),
        time_(time) {}

  Aws::Utils::DateTime GetSigningTimestamp() const override {
    return Aws::Utils::DateTime(static_cast<std::int64_t>(time_.time_since_epoch().count()));
  }

 private:
  const Time time_;
};

Aws::Client::ClientConfiguration client_configuration(const CredentialsParts& parts,
                                                      const Context& context) {
  Aws::Client::ClientConfigurationInitValues values;
  values.shouldDisableIMDS = true;
  Aws::Client::ClientConfiguration configuration(values);
  configuration.region = parts.region;
  if (parts.settings.reach.endpoints.contains("sts/" + parts.region) ||
      parts.settings.reach.endpoints.contains("sts"))
    configuration.endpointOverride =
        Endpoints(parts.settings.reach.endpoints).url("sts", parts.region).value();
  configuration.caFile = parts.settings.reach.ca_file;
  configuration.requestTimeoutMs = static_cast<long>(context.time_left().count());
  configuration.connectTimeoutMs = std::min(10'000L, configuration.requestTimeoutMs);
  configuration.retryStrategy = Aws::MakeShared<Aws::Client::DefaultRetryStrategy>(tag, 2);
  if (parts.settings.reach.proxy && !parts.settings.reach.proxy->empty()) {
    const Url proxy = parse_http_url(*parts.settings.reach.proxy).value();
    configuration.proxyScheme = proxy.tls ? Aws::Http::Scheme::HTTPS : Aws::Http::Scheme::HTTP;
    configuration.proxyHost = proxy.address();
    configuration.proxyPort = proxy.port;
  }
  return configuration;
}

}  // namespace

// The SDK finds its files by the environment alone: with files or an address of metadata that the
// provider's configuration names, our own chain is used.
Result<FetchedCredentials> from_default_chain(const CredentialsParts& parts,
                                              const Context& context) {
  const CredentialsSettings& settings = parts.settings.credentials;
  if (!settings.config_file.empty() || !settings.credentials_file.empty() ||
      !settings.metadata_endpoint.empty())
    return from_own_chain(parts, context);
  initialize_sdk();
  return converted(Aws::Auth::DefaultAWSCredentialsProviderChain().GetAWSCredentials(), context,
                   "there are no AWS credentials: the AWS SDK found none in the plugin's "
                   "environment (it has only "
                   "the variables that `environment` of the provider names), in ~/.aws, from a "
                   "container or as an "
                   "instance's role; configure `credentials` of the provider");
}

std::optional<Result<FetchedCredentials>> from_process_or_login(const Profile& profile,
                                                                const std::string& name,
                                                                const Context& context) {
  const auto process = profile.find("credential_process");
  const bool is_login = profile.contains("sso_session") || profile.contains("sso_start_url");
  if (process == profile.end() && !is_login) return std::nullopt;
  initialize_sdk();
  const auto found = process != profile.end()
                         ? Aws::Auth::GetCredentialsFromProcess(process->second)
                         : Aws::Auth::SSOCredentialsProvider(Aws::String(name)).GetAWSCredentials();
  return converted(found, context,
                   "the profile " + name +
                       (is_login ? " has no login that is valid; log in with `aws sso login`"
                                 : " has a credential_process that gave no credentials"));
}

Result<json::object> assume_role(const CredentialsParts& parts, const json::object& parameters,
                                 CredentialsCache& base, const Context& context) {
  initialize_sdk();
  const auto credentials = base.get(context);
  if (!credentials) return credentials.error();
  Aws::STS::Model::AssumeRoleRequest request;
  const auto text = [&](const char* key) {
    const json::value* const found = parameters.if_contains(key);
    return found ? Aws::String(found->as_string()) : Aws::String();
  };
  request.SetRoleArn(text("RoleArn"));
  request.SetRoleSessionName(text("RoleSessionName"));
  request.SetDurationSeconds(static_cast<int>(parameters.at("DurationSeconds").as_int64()));
  if (parameters.contains("ExternalId")) request.SetExternalId(text("ExternalId"));
  const Aws::STS::STSClient client(converted(**credentials), client_configuration(parts, context));
  const auto outcome = client.AssumeRole(request);
  if (!outcome.IsSuccess()) {
    const auto& error = outcome.GetError();
    return parts.wire.classify("sts AssumeRole in " + parts.region,
                               {.code = error.GetExceptionName(),
                                .message = error.GetMessage(),
                                .status = static_cast<int>(error.GetResponseCode()),
                                .request_id = error.GetRequestId()},
                               parts.region);
  }
  const auto& given = outcome.GetResult().GetCredentials();
  const Time end(std::chrono::milliseconds(given.GetExpiration().Millis()));
  return json::object{{"Credentials", json::object{{"AccessKeyId", given.GetAccessKeyId()},
                                                   {"SecretAccessKey", given.GetSecretAccessKey()},
                                                   {"SessionToken", given.GetSessionToken()},
                                                   {"Expiration", format_time(end)}}}};
}

Result<std::vector<http_client::Header>> sign_request(const http_client::Request& request,
                                                      const Credentials& credentials,
                                                      const SigningScope& scope, Time server_time) {
  initialize_sdk();
  if (const auto url = parse_http_url(request.url); !url)
    return Error::invalid("the URL of AWS " + url.error().message);
  const auto to_sign =
      Aws::Http::CreateHttpRequest(Aws::String(request.url), Aws::Http::HttpMethod::HTTP_POST,
                                   Aws::Utils::Stream::DefaultResponseStreamFactoryMethod);
  for (const http_client::Header& header : request.headers)
    to_sign->SetHeaderValue(header.name, header.value);
  to_sign->AddContentBody(Aws::MakeShared<Aws::StringStream>(tag, request.body.value_or("")));
  if (!Signer(credentials, scope, server_time).SignRequest(*to_sign))
    return Error::internal("the AWS SDK could not sign a request");
  std::vector<http_client::Header> headers;
  for (const auto& [name, value] : to_sign->GetHeaders()) headers.push_back({name, value});
  return headers;
}

std::string credentials_implementation() {
  return std::string("AWS SDK for C++ ") + Aws::Version::GetVersionString();
}

}  // namespace muster::aws
