#include "plugins/http_service/endpoint.hpp"

#include <muster/codec.hpp>

#include "lib/url/url.hpp"

namespace muster::http_service {
namespace {

// What is wrong with the address; empty if nothing is.
std::string mistake_in_url(const Endpoint& endpoint) {
  const auto url = parse_http_url(endpoint.url);
  if (!url && url.error().code == url_has_user)
    return "has a password in it, which would end up in logs; use tokenFile";
  if (!url) return url.error().message;
  if (url->has_query || url->has_fragment)
    return "has a query or a fragment; methods are appended to its path";
  if (!url->tls && !endpoint.plain_http && !url->is_loopback())
    return "would send secrets in clear text; use https://, or set plainHttp if the network is "
           "trusted";
  return {};
}

std::string mistake_in(const Endpoint& endpoint) {
  if (const std::string wrong = mistake_in_url(endpoint); !wrong.empty()) return "url: " + wrong;
  if (!endpoint.token_file.empty() && !endpoint.token_environment.empty())
    return "tokenFile: there is tokenEnvironment, too; keep one";
  for (const auto& [name, path] :
       {std::pair{"tokenFile", &endpoint.token_file}, std::pair{"caFile", &endpoint.ca_file}})
    if (!path->empty() && !path->starts_with('/'))
      return std::string(name) + ": \"" + *path + "\" is not an absolute path";
  if (!(endpoint.timeout_seconds >= 0.001 && endpoint.timeout_seconds <= 3600))
    return "timeoutSeconds: is not between 0.001 and 3600";
  if (endpoint.max_answer_bytes < 1024 || endpoint.max_answer_bytes > (std::int64_t{1} << 30))
    return "maxAnswerBytes: is not between 1024 and 1073741824";
  return {};
}

json::object text(const char* description) {
  return {{"type", "string"}, {"description", description}};
}

}  // namespace

json::object endpoint_properties(double default_timeout_seconds) {
  return {
      {"url", text("Where the service is; a method's name is appended: <url>/<method>")},
      {"tokenFile", text("Absolute path of a file with the bearer token; read for each call")},
      {"tokenEnvironment", text("The environment variable that holds the bearer token")},
      {"caFile", text("Absolute path of the certificates to trust instead of the system's")},
      {"proxy", text("A proxy to go through; none unless given, whatever the environment says")},
      {"timeoutSeconds", json::object{{"type", "number"},
                                      {"minimum", 0.001},
                                      {"maximum", 3600},
                                      {"default", default_timeout_seconds},
                                      {"description",
                                       "How long the service may take to answer; the host's "
                                       "deadline may be shorter"}}},
      {"maxAnswerBytes", json::object{{"type", "integer"},
                                      {"minimum", 1024},
                                      {"maximum", 1 << 30},
                                      {"default", Endpoint{}.max_answer_bytes},
                                      {"description", "A longer answer is refused"}}},
      {"plainHttp", json::object{{"type", "boolean"},
                                 {"default", false},
                                 {"description", "Allow http:// to other machines"}}}};
}

Result<Endpoint> read_endpoint(const json::object& config, double default_timeout_seconds) {
  Endpoint endpoint;
  endpoint.timeout_seconds = default_timeout_seconds;
  codec::Reader reader;
  reader.read(json::value(config), endpoint);
  if (reader.failed()) return Error::invalid(reader.mistake());
  while (endpoint.url.ends_with('/')) endpoint.url.pop_back();
  if (const std::string wrong = mistake_in(endpoint); !wrong.empty()) return Error::invalid(wrong);
  return endpoint;
}

}  // namespace muster::http_service
