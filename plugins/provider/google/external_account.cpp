// Workload identity federation: a token of somebody else's is exchanged for one of Google's.
#include "lib/base/atomic_file.hpp"
#include "lib/url/url.hpp"
#include "plugins/cloud/json_access.hpp"
#include "plugins/provider/google/access_token.hpp"

namespace muster::google {
namespace {

using cloud::table_of;
using cloud::text_of;

constexpr std::size_t most_token_bytes = 64 << 10;

std::string trimmed(std::string text) {
  while (!text.empty() && std::string_view(" \r\n\t").find(text.back()) != std::string_view::npos)
    text.pop_back();
  return text;
}

// Plain, or a member of a JSON document, as `format` says.
Result<std::string> token_in(const std::string& text, const json::object& source,
                             const std::string& where) {
  const json::object* format = table_of(source, "format");
  if (!format || text_of(*format, "type") != "json") {
    std::string token = trimmed(text);
    if (token.empty()) return Error::auth(where + " is empty");
    return token;
  }
  const std::string field = text_of(*format, "subject_token_field_name");
  const auto document = json::parse_object(text);
  std::string token = document ? text_of(*document, field) : std::string();
  if (token.empty()) return Error::auth(where + " is not JSON with the text \"" + field + "\"");
  return token;
}

Result<std::string> token_of_file(const std::string& file, const json::object& source) {
  const auto text = read_file(file, most_token_bytes);
  if (!text)
    return Error::auth("the token of the workload identity cannot be read: " +
                       text.error().message);
  return token_in(*text, source, "the file " + file);
}

// A service beside the workload: on this machine, or over TLS.
Result<std::string> token_of_url(const TokenParts& parts, const std::string& address,
                                 const json::object& source, const Context& context) {
  const std::string what = "the token of the workload identity";
  const auto url = parse_http_url(address);
  if (!url) return Error::auth(what + ": credential_source.url " + url.error().message);
  if (!url->tls && !url->is_loopback() && url->address() != "169.254.169.254")
    return Error::auth(what + ": credential_source.url is neither https:// nor on this machine");
  http_client::Request request{.url = address};
  if (const json::object* headers = table_of(source, "headers"))
    for (const auto& [name, value] : *headers)
      if (value.is_string())
        request.headers.push_back({std::string(name), std::string(value.get_string())});
  const auto answer = parts.metadata.run(
      {.api = "workload identity",
       .name = what,
       .server = address,
       .repeatable = true,
       .prepare = [&](Time) { return request; },
       .read = [&](const http_client::Response& response) -> cloud::Reading {
         if (response.is_success()) return {};
         const bool may_pass = response.status >= 500;
         return {may_pass ? cloud::Reading::Next::repeat : cloud::Reading::Next::done,
                 Error{may_pass ? ErrorClass::transient : ErrorClass::auth,
                       what + ": " + address + " answered with HTTP status " +
                           std::to_string(response.status)}};
       }},
      context);
  if (!answer) return answer.error();
  return token_in(answer->body, source, "the answer of " + address);
}

Result<std::string> subject_token(const TokenParts& parts, const json::object& document,
                                  const std::string& where, const Context& context) {
  const json::object* source = table_of(document, "credential_source");
  if (!source) return Error::auth(where + " lacks credential_source");
  if (const std::string file = text_of(*source, "file"); !file.empty())
    return token_of_file(file, *source);
  if (source->contains("environment_id"))
    return Error::auth(where +
                       " takes its token from AWS (environment_id), which muster does "
                       "only if it was built with google-cloud-cpp; use a token in a file");
  if (const std::string url = text_of(*source, "url"); !url.empty())
    return token_of_url(parts, url, *source, context);
  return Error::auth(where +
                     ": credential_source has neither file nor url; programs "
                     "(executable) are not run");
}

}  // namespace

Result<FetchedToken> from_external_account(const TokenParts& parts, const json::object& document,
                                           const std::string& where, const Context& context) {
  const std::string audience = text_of(document, "audience"),
                    type = text_of(document, "subject_token_type"),
                    impersonated = text_of(document, "service_account_impersonation_url");
  if (audience.empty() || type.empty())
    return Error::auth(where + " is a workload identity and lacks audience or subject_token_type");
  const auto subject = subject_token(parts, document, where, context);
  if (!subject) return subject.error();
  parts.redactor.add(*subject);
  const auto url =
      parts.endpoints.named_in_file("sts", "/v1/token", text_of(document, "token_url"));
  if (!url) return Error::auth(where + ": " + url.error().message);
  const std::string what = "the token of the workload identity of " + where;
  const json::object body{{"grantType", "urn:ietf:params:oauth:grant-type:token-exchange"},
                          {"audience", audience},
                          {"scope", token_scope},
                          {"requestedTokenType", "urn:ietf:params:oauth:token-type:access_token"},
                          {"subjectTokenType", type},
                          {"subjectToken", *subject}};
  const auto answer = ask_for_token(parts,
                                    {.url = *url,
                                     .method = "POST",
                                     .headers = {{"Content-Type", "application/json"}},
                                     .body = json::write(body)},
                                    what, context);
  if (!answer) return answer.error();
  auto federated = read_token(parts, *answer, what, context);
  if (!federated || impersonated.empty()) return federated;
  const auto begin = impersonated.rfind('/');
  const auto end = impersonated.rfind(":generateAccessToken");
  if (begin == impersonated.npos || end == impersonated.npos || end < begin)
    return Error::auth(where +
                       ": service_account_impersonation_url is not one of "
                       "generateAccessToken");
  return impersonate(parts, {.service_account = impersonated.substr(begin + 1, end - begin - 1)},
                     *federated, context);
}

}  // namespace muster::google
