#include <filesystem>

#include "lib/url/url.hpp"
#include "plugins/base/files.hpp"
#include "plugins/provider/azure/token_sources.hpp"

namespace muster::azure {
namespace {

struct Asked {
  int status = 0;
  std::string body = {}, challenge = {};
};

// 401 is an answer, too: Azure Arc begins with it.
Result<Asked> ask(const TokenParts& parts, const http_client::Request& request,
                  const std::string& what, const Context& context) {
  Asked asked;
  const auto outcome = parts.metadata.run(
      {.api = what,
       .name = what,
       .server = request.url.substr(0, request.url.find('?')),
       .repeatable = true,
       .prepare = [&](Time) { return Result<http_client::Request>(request); },
       .read = [&](const http_client::Response& response) -> cloud::Reading {
         using Next = cloud::Reading::Next;
         asked = {response.status, response.body, std::string(response.header("WWW-Authenticate"))};
         if (response.is_success() || response.status == 401) return {};
         const bool passes =
             response.status == 410 || response.status == 429 || response.status >= 500;
         Error error = (passes ? Error::transient : Error::auth)(
             what + " answered with HTTP status " + std::to_string(response.status) + ": " +
             cloud::printable(response.body));
         return {passes ? Next::repeat : Next::done, std::move(error)};
       }},
      context);
  if (!outcome) return outcome.error();
  return asked;
}

Result<FetchedToken> token_in(const Result<Asked>& asked, const std::string& what,
                              const Context& context) {
  if (!asked) return asked.error();
  if (asked->status == 401) return Error::auth(what + " refuses the request");
  const auto document = json::parse_object(asked->body);
  if (!document) return Error::auth(what + " answered with something that is no JSON");
  return read_token(*document, what, context.now());
}

// "https://management.azure.com/.default" → "https://management.azure.com/"
std::string resource_of(const std::string& scope) {
  return scope.substr(0, scope.rfind(".default"));
}

bool is_near(const std::string& endpoint) {
  const auto url = parse_http_url(endpoint);
  return url && (url->is_loopback() || url->host.starts_with("169.254."));
}

// Azure Arc's agent shows that its caller is on the machine: the secret is in a file that only
// members of its group can read, and whose path it tells.
Result<FetchedToken> from_arc(const TokenParts& parts, const std::string& endpoint,
                              const std::string& scope, const Context& context) {
  const std::string what = "the identity of this Azure Arc machine";
  http_client::Request request{
      .url = endpoint + "?api-version=2020-06-01&resource=" + encode_segment(resource_of(scope)),
      .headers = {{"Metadata", "true"}}};
  const auto first = ask(parts, request, what, context);
  if (!first) return first.error();
  if (first->status != 401) return token_in(first, what, context);
  const std::string realm = "Basic realm=";
  const std::filesystem::path file =
      first->challenge.starts_with(realm) ? first->challenge.substr(realm.size()) : "";
  // Nothing but the agent's own folder: the answer could name any file.
  if (file.parent_path() != "/var/opt/azcmagent/tokens" || file.extension() != ".key")
    return Error::auth(what + " names no file of /var/opt/azcmagent/tokens");
  const auto secret = read_if_there(file, 4096);
  if (!secret || !*secret)
    return Error::auth(what + ": " + file.string() +
                       " cannot be read; let muster's user be a member of the group himds");
  parts.redactor.add(**secret);
  request.headers.push_back({"Authorization", "Basic " + **secret});
  return token_in(ask(parts, request, what, context), what, context);
}

}  // namespace

Result<FetchedToken> from_managed_identity(const TokenParts& parts, const std::string& client_id,
                                           const std::string& scope, const Context& context) {
  const std::string resource = encode_segment(resource_of(scope));
  const std::string client =
      client_id.empty() ? std::string() : "&client_id=" + encode_segment(client_id);
  const auto endpoint = parts.environment("IDENTITY_ENDPOINT");
  const auto header = parts.environment("IDENTITY_HEADER");
  if (endpoint && !is_near(*endpoint))
    return Error::auth("IDENTITY_ENDPOINT is not an address of this machine");
  if (endpoint && header) {
    const std::string what = "the identity of this App Service";
    return token_in(ask(parts,
                        {.url = *endpoint + "?api-version=2019-08-01&resource=" + resource + client,
                         .headers = {{"X-IDENTITY-HEADER", *header}}},
                        what, context),
                    what, context);
  }
  if (endpoint && parts.environment("IMDS_ENDPOINT"))
    return from_arc(parts, *endpoint, scope, context);
  const std::string what = "the managed identity of this machine";
  return token_in(ask(parts,
                      {.url = parts.settings.endpoint("metadata") +
                              "/metadata/identity/oauth2/token?api-version=2018-02-01&resource=" +
                              resource + client,
                       .headers = {{"Metadata", "true"}}},
                      what, context),
                  what, context);
}

}  // namespace muster::azure
