#include "plugins/cloud/machines/reach.hpp"

#include <muster/codec.hpp>

#include "lib/url/url.hpp"
#include "plugins/base/schema_parts.hpp"

namespace muster::cloud {
namespace {

using namespace std::chrono_literals;
constexpr std::size_t most_near_bytes = 64 << 10;
constexpr double shortest_timeout = 0.1, longest_timeout = 600;
constexpr std::int64_t least_answer = 1024, largest_answer = std::int64_t{1} << 30;

std::string mistake_in_proxy(const std::string& proxy) {
  const auto url = parse_http_url(proxy);
  if (url) return {};
  return url.error().code == url_has_user
             ? "has a password in it, which would end up in logs; let the proxy know this "
               "machine's address instead"
             : url.error().message;
}

std::string mistake_in(const ReachSettings& settings,
                       const MistakeInEndpoint& mistake_in_endpoint) {
  for (const auto& [key, url] : settings.endpoints)
    if (const auto wrong = mistake_in_endpoint(key, url, settings.plain_http); !wrong.empty())
      return "endpoints." + key + ": " + wrong;
  if (settings.proxy && !settings.proxy->empty())
    if (const auto wrong = mistake_in_proxy(*settings.proxy); !wrong.empty())
      return "proxy: " + wrong;
  if (!(settings.timeout_seconds >= shortest_timeout &&
        settings.timeout_seconds <= longest_timeout))
    return "timeoutSeconds: is not between 0.1 and 600";
  if (settings.max_answer_bytes < least_answer || settings.max_answer_bytes > largest_answer)
    return "maxAnswerBytes: is not between 1024 and 1073741824";
  return mistake_in_path("caFile", settings.ca_file);
}

}  // namespace

json::object reach_properties(const char* endpoints, const char* endpoint) {
  const ReachSettings defaults;
  json::object timeout = of_type("number", "How long the cloud may take for one answer");
  timeout["minimum"] = shortest_timeout;
  timeout["maximum"] = longest_timeout;
  timeout["default"] = defaults.timeout_seconds;
  json::object size = of_type("integer", "A longer answer is refused");
  size["minimum"] = least_answer;
  size["maximum"] = largest_answer;
  size["default"] = defaults.max_answer_bytes;
  json::object plain = of_type("boolean", "Allow endpoints with http:// on other machines");
  plain["default"] = defaults.plain_http;
  return {{"endpoints", map_schema(endpoints, of_type("string", endpoint))},
          {"plainHttp", std::move(plain)},
          {"proxy", of_type("string",
                            "A proxy to go through; empty: none; absent: what the "
                            "environment says")},
          {"caFile", of_type("string",
                             "Absolute path of the certificates to trust instead of the "
                             "system's")},
          {"timeoutSeconds", std::move(timeout)},
          {"maxAnswerBytes", std::move(size)}};
}

Result<ReachSettings> read_reach(const json::object& config,
                                 const MistakeInEndpoint& mistake_in_endpoint) {
  ReachSettings settings;
  codec::Reader reader;
  reader.read(json::value(config), settings);
  if (reader.failed()) return Error::invalid(reader.mistake());
  if (const std::string wrong = mistake_in(settings, mistake_in_endpoint); !wrong.empty())
    return Error::invalid(wrong);
  return settings;
}

std::string mistake_in_url(const std::string& text, bool plain_http) {
  const auto url = parse_http_url(text);
  if (!url) return "the URL " + url.error().message;
  if (url->has_query || url->has_fragment) return "the URL has a query or a fragment";
  if (!url->tls && !plain_http && !url->is_loopback())
    return "the URL would send tokens in clear text; use https://, or set plainHttp if the network "
           "is trusted";
  return {};
}

std::string mistake_in_path(const char* key, const std::string& path) {
  if (path.empty() || path.starts_with('/')) return {};
  return std::string(key) + ": \"" + path + "\" is not an absolute path";
}

std::shared_ptr<Transport> transport_for(const ReachSettings& settings) {
  return std::make_shared<PooledTransport>(
      http_client::Settings{.max_concurrent = 1,
                            .max_body_bytes = static_cast<std::size_t>(settings.max_answer_bytes),
                            .ca_file = settings.ca_file,
                            .proxy = settings.proxy});
}

SessionSettings session_settings_for(const ReachSettings& settings) {
  return {.timeout =
              std::chrono::milliseconds(static_cast<std::int64_t>(settings.timeout_seconds * 1000)),
          .max_answer_bytes = static_cast<std::size_t>(settings.max_answer_bytes)};
}

std::shared_ptr<Transport> near_transport() {
  return std::make_shared<PooledTransport>(http_client::Settings{
      .max_concurrent = 1, .max_body_bytes = most_near_bytes, .connect_timeout = 1s, .proxy = ""});
}

SessionSettings near_session_settings() {
  return {.attempts = 2, .timeout = 2s, .max_answer_bytes = most_near_bytes};
}

}  // namespace muster::cloud
