#include <cstdlib>

#include <muster/codec.hpp>

#include "lib/base/secret_file.hpp"
#include "lib/url/url.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/access_token.hpp"
#include "plugins/provider/google/jwt.hpp"

namespace muster::google {
namespace {

using cloud::text_of;
using Next = cloud::Reading::Next;
using namespace std::chrono_literals;

constexpr auto assertion_life = 1h;
const http_client::Header form_header{"Content-Type", "application/x-www-form-urlencoded"};

std::string form(const std::map<std::string, std::string>& fields) {
  std::string text;
  for (const auto& [name, value] : fields)
    text += (text.empty() ? "" : "&") + name + "=" + encode_segment(value);
  return text;
}

// "invalid_grant: Token has been expired or revoked." What is no answer of Google is described.
std::string words_of(const http_client::Response& response) {
  const auto document = json::parse_object(response.body);
  if (document) {
    if (const json::object* error = cloud::table_of(*document, "error"))
      return text_of(*error, "status") + ": " + text_of(*error, "message");
    if (const std::string code = text_of(*document, "error"); !code.empty())
      return code + ": " + text_of(*document, "error_description");
  }
  return response.body.starts_with('<') ? "a web page; is there a proxy or a login page in between?"
                                        : "an answer that is not Google's";
}

Result<FetchedToken> from_service_account(const TokenParts& parts, const json::object& document,
                                          const std::string& where, const Context& context) {
  const std::string email = text_of(document, "client_email");
  const Secret key(text_of(document, "private_key"));
  if (email.empty() || key.reveal().empty())
    return Error::auth(where + " is of a service account and lacks client_email or private_key");
  parts.redactor.add(key.reveal());
  const std::string named = text_of(document, "token_uri");
  const auto url = parts.endpoints.named_in_file("oauth2", "/token", named);
  if (!url) return Error::auth(where + ": " + url.error().message);
  const auto seconds = [](Time time) {
    return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
  };
  json::object header{{"alg", "RS256"}, {"typ", "JWT"}};
  if (const std::string id = text_of(document, "private_key_id"); !id.empty()) header["kid"] = id;
  const auto prepare = [&](Time now) -> Result<http_client::Request> {
    const auto assertion = sign_jwt(
        header,
        {{"iss", email},
         {"scope", token_scope},
         {"aud", named.empty() ? std::string("https://oauth2.googleapis.com/token") : named},
         {"iat", seconds(now)},
         {"exp", seconds(now + assertion_life)}},
        key);
    if (!assertion) return Error::auth(where + ": " + assertion.error().message);
    parts.redactor.add(*assertion);
    return http_client::Request{
        .url = *url,
        .method = "POST",
        .headers = {form_header},
        .body = form({{"grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer"},
                      {"assertion", *assertion}})};
  };
  const std::string what = "the token of the service account " + email;
  const auto answer = ask_for_token(parts, *url, prepare, what, context);
  if (!answer) return answer.error();
  return read_token(parts, *answer, what, context);
}

Result<FetchedToken> from_user(const TokenParts& parts, const json::object& document,
                               const std::string& where, const Context& context) {
  const std::string refresh = text_of(document, "refresh_token"),
                    secret = text_of(document, "client_secret"),
                    id = text_of(document, "client_id");
  if (refresh.empty() || id.empty())
    return Error::auth(where +
                       " is a login of a person and lacks client_id or refresh_token; run "
                       "`gcloud auth application-default login` again");
  parts.redactor.add(refresh);
  parts.redactor.add(secret);
  const std::string what = "the token of the login in " + where;
  const auto url =
      parts.endpoints.named_in_file("oauth2", "/token", text_of(document, "token_uri"));
  if (!url) return Error::auth(where + ": " + url.error().message);
  const auto answer = ask_for_token(parts,
                                    {.url = *url,
                                     .method = "POST",
                                     .headers = {form_header},
                                     .body = form({{"grant_type", "refresh_token"},
                                                   {"client_id", id},
                                                   {"client_secret", secret},
                                                   {"refresh_token", refresh}})},
                                    what, context);
  if (!answer) return answer.error();
  return read_token(parts, *answer, what, context);
}

// ".../serviceAccounts/name@project.iam.gserviceaccount.com:generateAccessToken" → the address
std::string account_in(const std::string& url) {
  const auto begin = url.rfind('/');
  const auto end = url.rfind(":generateAccessToken");
  if (begin == url.npos || end == url.npos || end < begin) return {};
  return url.substr(begin + 1, end - begin - 1);
}

Result<FetchedToken> from_impersonated(const TokenParts& parts, const json::object& document,
                                       const std::string& where, const Context& context) {
  const json::object* source = cloud::table_of(document, "source_credentials");
  const std::string account = account_in(text_of(document, "service_account_impersonation_url"));
  if (!source || account.empty())
    return Error::auth(where +
                       " lacks source_credentials or a "
                       "service_account_impersonation_url of generateAccessToken");
  if (text_of(*source, "type") == "impersonated_service_account")
    return Error::auth(where +
                       ": source_credentials are themselves impersonated; name the "
                       "accounts in between as delegates");
  auto base = from_own_document(parts, *source, where, context);
  if (!base) return base;
  Impersonation who{.service_account = account};
  if (const json::value* listed = document.if_contains("delegates"); listed && listed->is_array())
    for (const json::value& each : listed->get_array())
      if (each.is_string()) who.delegates.emplace_back(each.get_string());
  return impersonate(parts, who, *base, context);
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* const value = std::getenv(name.c_str());
    return value && *value ? std::optional<std::string>(value) : std::nullopt;
  };
}

Result<json::object> ask_for_token(const TokenParts& parts, const http_client::Request& request,
                                   const std::string& what, const Context& context) {
  return ask_for_token(
      parts, request.url, [&](Time) { return request; }, what, context);
}

Result<json::object> ask_for_token(const TokenParts& parts, const std::string& url,
                                   const std::function<Result<http_client::Request>(Time)>& prepare,
                                   const std::string& what, const Context& context) {
  json::object answer;
  const auto sent = parts.session.run(
      {.api = "tokens",
       .name = what,
       .server = url,
       .repeatable = true,
       .prepare = prepare,
       .read = [&](const http_client::Response& response) -> cloud::Reading {
         const bool may_pass = response.status >= 500 || response.status == 429;
         if (response.is_success()) {
           auto document = json::parse_object(response.body);
           if (document) return answer = std::move(*document), cloud::Reading{};
         }
         return {may_pass ? Next::repeat : Next::refused,
                 Error{may_pass ? ErrorClass::transient : ErrorClass::auth,
                       what + " cannot be had: " + url + " answered with HTTP status " +
                           std::to_string(response.status) + " and " +
                           cloud::printable(words_of(response))}};
       }},
      context);
  if (sent) return answer;
  Error error = sent.error();
  error.message = parts.redactor.redact(error.message);
  return error;
}

Result<FetchedToken> read_token(const TokenParts& parts, const json::object& answer,
                                const std::string& what, const Context& context) {
  const std::string token = text_of(answer, "access_token");
  const std::int64_t seconds = cloud::number_of(answer, "expires_in");
  // It becomes a header.
  if (token.empty() || token.find_first_of("\r\n \t") != token.npos)
    return Error::transient(what + ": the answer has no access_token");
  parts.redactor.add(token);
  return FetchedToken{.value = {Secret(token)},
                      .end = context.now() + std::chrono::seconds(seconds > 0 ? seconds : 300)};
}

Result<json::object> read_credentials_file(const std::string& path) {
  const auto text = read_secret_file(path, "the Google credentials", SecretText::document);
  if (!text) return Error::auth(text.error().message);
  auto document = json::parse_object(text->reveal());
  if (!document) return Error::auth("the file " + path + " is not JSON with credentials of Google");
  return document;
}

Result<FetchedToken> from_own_document(const TokenParts& parts, const json::object& document,
                                       const std::string& where, const Context& context) {
  const std::string type = text_of(document, "type");
  if (type == "service_account") return from_service_account(parts, document, where, context);
  if (type == "authorized_user") return from_user(parts, document, where, context);
  if (type == "external_account") return from_external_account(parts, document, where, context);
  if (type == "impersonated_service_account")
    return from_impersonated(parts, document, where, context);
  return Error::auth(where + " has the type \"" + cloud::printable(type, 50) +
                     "\"; known are service_account, authorized_user, external_account and "
                     "impersonated_service_account");
}

Result<FetchedToken> from_metadata(const TokenParts& parts, const Context& context) {
  std::string base = parts.endpoints.url("metadata");
  if (!parts.endpoints.is_overridden("metadata"))
    if (const auto host = parts.environment("GCE_METADATA_HOST")) base = "http://" + *host;
  const std::string what = "the token of this machine's service account";
  const TokenParts near{parts.settings, parts.endpoints, parts.environment,
                        parts.metadata, parts.metadata,  parts.redactor};
  const auto answer = ask_for_token(
      near,
      {.url = base + "/computeMetadata/v1/instance/service-accounts/default/token?scopes=" +
              encode_segment(token_scope),
       .headers = {{"Metadata-Flavor", "Google"}}},
      what, context);
  if (!answer) return answer.error();
  return read_token(parts, *answer, what, context);
}

Result<FetchedToken> impersonate(const TokenParts& parts, const Impersonation& who,
                                 const FetchedToken& base, const Context& context) {
  const std::string what = "the token of the service account " + who.service_account;
  json::array delegates;
  for (const std::string& each : who.delegates)
    delegates.push_back(json::value("projects/-/serviceAccounts/" + each));
  json::object body{{"scope", json::array{token_scope}},
                    {"lifetime", std::to_string(who.lifetime_seconds) + "s"}};
  if (!delegates.empty()) body["delegates"] = std::move(delegates);
  const auto answer = ask_for_token(
      parts,
      {.url = parts.endpoints.url("iamcredentials") + "/v1/projects/-/serviceAccounts/" +
              encode_segment(who.service_account) + ":generateAccessToken",
       .method = "POST",
       .headers = {{"Content-Type", "application/json"},
                   {"Authorization", "Bearer " + base.value.text.reveal()}},
       .body = json::write(body)},
      what, context);
  if (!answer) return answer.error();
  const std::string token = text_of(*answer, "accessToken");
  const auto end = parse_time(text_of(*answer, "expireTime"));
  if (token.empty() || !end) return Error::transient(what + ": the answer has no accessToken");
  parts.redactor.add(token);
  return FetchedToken{.value = {Secret(token)}, .end = end};
}

Result<FetchedToken> from_own_chain(const TokenParts& parts, const Context& context) {
  if (const auto file = parts.environment("GOOGLE_APPLICATION_CREDENTIALS")) {
    const auto document = read_credentials_file(*file);
    if (!document) return document.error();
    return from_own_document(parts, *document, "the file " + *file, context);
  }
  std::string folder = parts.environment("CLOUDSDK_CONFIG").value_or("");
  if (const auto home = parts.environment("HOME"); folder.empty() && home)
    folder = *home + "/.config/gcloud";
  const std::string file = folder + "/application_default_credentials.json";
  if (std::error_code none; !folder.empty() && std::filesystem::exists(file, none)) {
    const auto document = read_credentials_file(file);
    if (!document) return document.error();
    return from_own_document(parts, *document, "the file " + file, context);
  }
  auto of_machine = from_metadata(parts, context);
  if (of_machine || of_machine.error().error_class == ErrorClass::cancelled) return of_machine;
  return Error::auth(
      "there are no Google credentials: no GOOGLE_APPLICATION_CREDENTIALS in the plugin's "
      "environment (it has only the variables that `environment` of the provider names), no file " +
      file + " of gcloud, and " + of_machine.error().message +
      "; configure `credentials` of the provider");
}

TokenCache::Fetch token_fetch(TokenParts parts) {
  return [parts](const Context& context) -> Result<FetchedToken> {
    const CredentialsSettings& settings = parts.settings.credentials;
    auto base = [&]() -> Result<FetchedToken> {
      if (settings.metadata) return from_metadata(parts, context);
      if (settings.file.empty()) return from_default_chain(parts, context);
      const auto document = read_credentials_file(settings.file);
      if (!document) return document.error();
      return from_document(parts, *document, "the file " + settings.file, context);
    }();
    if (!base || !settings.impersonate) return base;
    return impersonate(parts, *settings.impersonate, *base, context);
  };
}

}  // namespace muster::google
