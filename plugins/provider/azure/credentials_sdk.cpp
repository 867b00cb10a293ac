// The seam over the Azure SDK for C++ (azure-identity): it makes the requests that prove a client.
// They are sent by our own session, so proxies, certificates, deadlines, repeats and messages are
// those of all other calls.
#include <azure/core/http/http.hpp>
#include <azure/core/http/transport.hpp>
#include <azure/core/io/body_stream.hpp>
#include <azure/identity/client_assertion_credential.hpp>
#include <azure/identity/client_certificate_credential.hpp>
#include <azure/identity/client_secret_credential.hpp>

#include "plugins/provider/azure/token_sources.hpp"

namespace muster::azure {
namespace {

namespace sdk = Azure::Core;

// Carries the one request of a token. THREADS: that of the call.
class SessionTransport final : public sdk::Http::HttpTransport {
 public:
  SessionTransport(const TokenParts& parts, std::string name, const Context& context)
      : parts_(parts), name_(std::move(name)), context_(context) {}

  std::unique_ptr<sdk::Http::RawResponse> Send(sdk::Http::Request& request,
                                               const sdk::Context& context) override {
    http_client::Request made{.url = request.GetUrl().GetAbsoluteUrl(),
                              .method = request.GetMethod().ToString()};
    for (const auto& [name, value] : request.GetHeaders())
      if (name != "content-length" && name != "host") made.headers.push_back({name, value});
    if (sdk::IO::BodyStream* const body = request.GetBodyStream()) {
      body->Rewind();
      const auto bytes = body->ReadToEnd(context);
      made.body = std::string(bytes.begin(), bytes.end());
    }
    answer_ = ask_entra(parts_,
                        {name_, parts_.settings.endpoint("login"),
                         [&](Time) -> Result<http_client::Request> {
                           asked_ = context_.now();
                           return made;
                         }},
                        context_);
    if (!*answer_) throw sdk::Http::TransportException(answer_->error().message);
    const std::string text = json::write(**answer_);
    body_.assign(text.begin(), text.end());
    auto response =
        std::make_unique<sdk::Http::RawResponse>(1, 1, sdk::Http::HttpStatusCode::Ok, "OK");
    response->SetBodyStream(std::make_unique<sdk::IO::MemoryBodyStream>(body_));
    return response;
  }

  // What the SDK gave, or why it gave nothing. The end of a token is counted from when it was asked
  // for, by the host's clock.
  Result<FetchedToken> token(const std::string& if_nothing_was_sent) const {
    if (!answer_) return Error::auth(if_nothing_was_sent);
    if (!*answer_) return answer_->error();
    return read_token(**answer_, name_, asked_);
  }

 private:
  const TokenParts& parts_;
  const std::string name_;
  const Context& context_;
  Time asked_{};
  std::optional<Result<json::object>> answer_;
  std::vector<std::uint8_t> body_;
};

// The SDK refuses servers that speak no TLS, such as tests have.
bool is_for_sdk(const TokenParts& parts) {
  return parts.settings.endpoint("login").starts_with("https://");
}

// `make` gets the tenant and the options, and returns the SDK's credential.
template <class Options>
Result<FetchedToken> fetch(const TokenParts& parts, const std::string& client_id,
                           const std::string& scope, const Context& context, const auto& make) {
  const auto tenant = tenant_of(parts);
  if (!tenant) return tenant.error();
  const auto transport =
      std::make_shared<SessionTransport>(parts, "the token of client " + client_id, context);
  Options options;
  options.AuthorityHost = parts.settings.endpoint("login");
  options.Transport.Transport = transport;
  options.Retry.MaxRetries = 0;  // the session repeats
  sdk::Credentials::TokenRequestContext wanted;
  wanted.Scopes = {scope};
  std::string failure = "the Azure SDK asked for no token";
  try {
    (void)make(*tenant, options).GetToken(wanted, sdk::Context());
  } catch (const std::exception& error) {
    failure = std::string("the Azure SDK refuses the credentials: ") + error.what();
  }
  return transport->token(parts.redactor.redact(failure));
}

}  // namespace

Result<FetchedToken> by_client_secret(const TokenParts& parts, const std::string& client_id,
                                      const Secret& secret, const std::string& scope,
                                      const Context& context) {
  if (!is_for_sdk(parts)) return from_client_secret(parts, client_id, secret, scope, context);
  parts.redactor.add(secret.reveal());
  using namespace Azure::Identity;
  return fetch<ClientSecretCredentialOptions>(
      parts, client_id, scope, context, [&](const std::string& tenant, const auto& options) {
        return ClientSecretCredential(tenant, client_id, secret.reveal(), options);
      });
}

Result<FetchedToken> by_certificate(const TokenParts& parts, const std::string& client_id,
                                    const Secret& pem, const std::string& scope,
                                    const Context& context) {
  if (!is_for_sdk(parts)) return from_certificate(parts, client_id, pem, scope, context);
  using namespace Azure::Identity;
  // What is wrong with a certificate is said by us: the SDK says that OpenSSL failed.
  if (const auto usable = client_assertion(client_id, "", pem.reveal(), context.now()); !usable)
    return usable.error();
  return fetch<ClientCertificateCredentialOptions>(
      parts, client_id, scope, context, [&](const std::string& tenant, const auto& options) {
        return ClientCertificateCredential(tenant, client_id, pem.reveal(), pem.reveal(), options);
      });
}

Result<FetchedToken> by_assertion(const TokenParts& parts, const std::string& client_id,
                                  const Secret& assertion, const std::string& scope,
                                  const Context& context) {
  if (!is_for_sdk(parts)) return from_assertion(parts, client_id, assertion, scope, context);
  parts.redactor.add(assertion.reveal());
  using namespace Azure::Identity;
  return fetch<ClientAssertionCredentialOptions>(
      parts, client_id, scope, context, [&](const std::string& tenant, const auto& options) {
        return ClientAssertionCredential(
            tenant, client_id, [&](const sdk::Context&) { return assertion.reveal(); }, options);
      });
}

// The SDK finds the kind of machine by the environment of its process, and an address of metadata
// cannot be given to it: our own code does the same with what the provider's configuration says.
Result<FetchedToken> by_managed_identity(const TokenParts& parts, const std::string& client_id,
                                         const std::string& scope, const Context& context) {
  return from_managed_identity(parts, client_id, scope, context);
}

std::string credentials_implementation() {
  return "Azure SDK for C++, azure-identity " MUSTER_AZURE_IDENTITY_VERSION;
}

}  // namespace muster::azure
