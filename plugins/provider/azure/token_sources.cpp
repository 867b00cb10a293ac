#include "plugins/provider/azure/token_sources.hpp"

#include <charconv>
#include <cstdlib>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include "lib/crypto/openssl_pointer.hpp"
#include "lib/hawk/hawk.hpp"
#include "lib/url/url.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/azure/error_reading.hpp"

namespace muster::azure {
namespace {

using namespace std::chrono_literals;
using cloud::text_of;
using Bio = OpensslPointer<BIO, BIO_free_all>;
using Certificate = OpensslPointer<X509, X509_free>;
using PrivateKey = OpensslPointer<EVP_PKEY, EVP_PKEY_free>;
using Digester = OpensslPointer<EVP_MD_CTX, EVP_MD_CTX_free>;

constexpr auto assertion_life = 10min;

std::string base64_url(std::string_view bytes) {
  std::string text = hawk::base64(bytes);
  while (text.ends_with('=')) text.pop_back();
  for (char& letter : text) letter = letter == '+' ? '-' : letter == '/' ? '_' : letter;
  return text;
}

Bio memory_of(std::string_view text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

std::string thumbprint(const X509& certificate, const EVP_MD* digest) {
  unsigned char bytes[EVP_MAX_MD_SIZE];
  unsigned int length = 0;
  if (X509_digest(&certificate, digest, bytes, &length) != 1) return {};
  return base64_url({reinterpret_cast<const char*>(bytes), length});
}

std::string sign(EVP_PKEY& key, std::string_view text) {
  const Digester digester(EVP_MD_CTX_new());
  const auto* bytes = reinterpret_cast<const unsigned char*>(text.data());
  std::size_t length = 0;
  if (EVP_DigestSignInit(digester.get(), nullptr, EVP_sha256(), nullptr, &key) != 1 ||
      EVP_DigestSign(digester.get(), nullptr, &length, bytes, text.size()) != 1)
    return {};
  std::string signature(length, '\0');
  if (EVP_DigestSign(digester.get(), reinterpret_cast<unsigned char*>(signature.data()), &length,
                     bytes, text.size()) != 1)
    return {};
  signature.resize(length);
  return signature;
}

using Form = std::vector<std::pair<std::string, std::string>>;

std::string written(const Form& form) {
  std::string text;
  for (const auto& [name, value] : form)
    text += (text.empty() ? "" : "&") + name + "=" + encode_segment(value);
  return text;
}

std::string describe_page(std::string_view body) {
  return body.starts_with('<') ? "a web page" : "something that is no JSON";
}

// What Entra answers: a token or an error with a number.
struct LoginAnswer {
  std::optional<json::object> token;
};

cloud::Reading read_login(const http_client::Response& response, const std::string& name,
                          const cloud::Redactor& redactor, LoginAnswer& answer) {
  using Next = cloud::Reading::Next;
  auto document = json::parse_object(response.body);
  if (document && response.is_success()) {
    answer.token = std::move(*document);
    return {};
  }
  if (!document) {
    const Error error =
        Error::transient(name + " answered with HTTP status " + std::to_string(response.status) +
                         " and " + describe_page(response.body) +
                         "; is there a proxy or a login page in between? See the provider's "
                         "endpoints and proxy");
    return {response.status >= 500 ? Next::repeat : Next::done, error};
  }
  cloud::CloudError said = innermost_error(*document);
  said.status = response.status;
  said.message = redactor.redact(said.message);
  Error error = ErrorReader().classify(name, std::move(said), {});
  if (error.error_class == ErrorClass::config) error.error_class = ErrorClass::auth;
  if (error.error_class == ErrorClass::throttle) return {Next::slow_down, std::move(error)};
  return {response.status >= 500 ? Next::repeat : Next::done, std::move(error)};
}

Result<FetchedToken> ask_login(const TokenParts& parts, const std::string& client_id,
                               const std::string& scope,
                               const std::function<Result<Form>(const std::string&, Time)>& proof,
                               const Context& context) {
  const auto tenant = tenant_of(parts);
  if (!tenant) return tenant.error();
  const std::string server = parts.settings.endpoint("login");
  const std::string url = server + "/" + encode_segment(*tenant) + "/oauth2/v2.0/token";
  const std::string name = "the token of client " + client_id;
  Time asked{};
  const auto answer = ask_entra(
      parts,
      {name, server,
       [&](Time server_time) -> Result<http_client::Request> {
         Form form{
             {"grant_type", "client_credentials"}, {"client_id", client_id}, {"scope", scope}};
         auto added = proof(url, server_time);
         if (!added) return added.error();
         for (auto& field : *added) form.push_back(std::move(field));
         asked = context.now();
         return http_client::Request{
             .url = url,
             .method = "POST",
             .headers = {{"Content-Type", "application/x-www-form-urlencoded"}},
             .body = written(form)};
       }},
      context);
  if (!answer) return answer.error();
  return read_token(*answer, name, asked);
}

}  // namespace

Result<std::string> tenant_of(const TokenParts& parts) {
  std::string tenant = parts.settings.tenant;
  if (tenant.empty()) tenant = parts.environment("AZURE_TENANT_ID").value_or("");
  if (tenant.empty())
    return Error::auth("the tenant is not known; set tenant in the provider's configuration");
  return tenant;
}

Result<json::object> ask_entra(const TokenParts& parts, const LoginRequest& request,
                               const Context& context) {
  LoginAnswer answer;
  const auto outcome =
      parts.session.run({.api = "login",
                         .name = request.name,
                         .server = request.server,
                         .repeatable = true,
                         .prepare = request.prepare,
                         .read =
                             [&](const http_client::Response& response) {
                               return read_login(response, request.name, parts.redactor, answer);
                             }},
                        context);
  if (!outcome) return outcome.error();
  return std::move(*answer.token);
}

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<FetchedToken> read_token(const json::object& document, const std::string& where, Time now) {
  const std::string token = text_of(document, "access_token");
  if (token.empty()) return Error::auth(where + ": the answer has no access_token");
  // Numbers are texts in the answers of some metadata services.
  const auto number = [&](const char* key) -> std::optional<std::int64_t> {
    const json::value* found = document.if_contains(key);
    if (found && found->is_int64()) return found->get_int64();
    const std::string text = text_of(document, key);
    std::int64_t read = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), read);
    if (text.empty() || error != std::errc() || end != text.data() + text.size())
      return std::nullopt;
    return read;
  };
  FetchedToken fetched{.value = {Secret(token)}};
  if (const auto seconds = number("expires_in"))
    fetched.end = now + std::chrono::seconds(*seconds);
  else if (const auto at = number("expires_on"))
    fetched.end = Time(std::chrono::seconds(*at));
  else
    return Error::auth(where + ": the answer does not say when the token ends");
  return fetched;
}

Result<Secret> client_assertion(const std::string& client_id, const std::string& audience,
                                std::string_view pem, Time now) {
  const Certificate certificate(PEM_read_bio_X509(memory_of(pem).get(), nullptr, nullptr, nullptr));
  char no_password[] = "";
  const PrivateKey key(
      PEM_read_bio_PrivateKey(memory_of(pem).get(), nullptr, nullptr, no_password));
  ERR_clear_error();
  if (!certificate || !key)
    return Error::auth(
        "the file of the client's certificate must have the certificate and its private key "
        "(without a password) in PEM");
  if (EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_RSA || EVP_PKEY_get_bits(key.get()) < 2048)
    return Error::auth("the client's key must be an RSA key of at least 2048 bits");
  if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    ERR_clear_error();
    return Error::auth("the private key is not the one of the client's certificate");
  }
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count();
  const json::object header{{"alg", "RS256"},
                            {"typ", "JWT"},
                            {"x5t", thumbprint(*certificate, EVP_sha1())},
                            {"x5t#S256", thumbprint(*certificate, EVP_sha256())}};
  const json::object claims{{"aud", audience},
                            {"iss", client_id},
                            {"sub", client_id},
                            {"jti", random_token().reveal()},
                            {"nbf", seconds - 60},
                            {"iat", seconds},
                            {"exp", seconds + std::chrono::seconds(assertion_life).count()}};
  std::string text = base64_url(json::write(header)) + "." + base64_url(json::write(claims));
  const std::string signature = sign(*key, text);
  if (signature.empty()) return Error::auth("the client's key cannot sign");
  return Secret(text + "." + base64_url(signature));
}

Result<FetchedToken> from_client_secret(const TokenParts& parts, const std::string& client_id,
                                        const Secret& secret, const std::string& scope,
                                        const Context& context) {
  parts.redactor.add(secret.reveal());
  return ask_login(
      parts, client_id, scope,
      [&](const std::string&, Time) {
        return Form{{"client_secret", secret.reveal()}};
      },
      context);
}

Result<FetchedToken> from_assertion(const TokenParts& parts, const std::string& client_id,
                                    const Secret& assertion, const std::string& scope,
                                    const Context& context) {
  parts.redactor.add(assertion.reveal());
  return ask_login(
      parts, client_id, scope,
      [&](const std::string&, Time) {
        return Form{
            {"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
            {"client_assertion", assertion.reveal()}};
      },
      context);
}

Result<FetchedToken> from_certificate(const TokenParts& parts, const std::string& client_id,
                                      const Secret& pem, const std::string& scope,
                                      const Context& context) {
  return ask_login(
      parts, client_id, scope,
      [&](const std::string& url, Time server_time) -> Result<Form> {
        const auto assertion = client_assertion(client_id, url, pem.reveal(), server_time);
        if (!assertion) return assertion.error();
        parts.redactor.add(assertion->reveal());
        return Form{
            {"client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"},
            {"client_assertion", assertion->reveal()}};
      },
      context);
}

}  // namespace muster::azure
