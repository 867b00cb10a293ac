#include "plugins/strategy/external/strategy.hpp"

#include <muster/codec.hpp>

#include "plugins/strategy/classic/sizing.hpp"
#include "plugins/strategy/external/promises.hpp"

namespace muster::external {
namespace {

constexpr std::int64_t protocol = 1;

struct Rest {
  double rest_seconds = Settings{}.rest_seconds;
  json::object classic = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("restSeconds", &Rest::rest_seconds), optional("classic", &Rest::classic));
  }
};

// What the service says went wrong, if it says it as the protocol wants: ": no such pool".
std::string words_of(const std::string& body) {
  constexpr std::size_t longest = 300;
  const auto document = json::parse_object(body);
  const json::value* error = document ? document->if_contains("error") : nullptr;
  const json::value* message =
      error && error->is_object() ? error->get_object().if_contains("message") : nullptr;
  if (!message || !message->is_string() || message->get_string().size() > longest) return {};
  return ": " + std::string(message->get_string());
}

}  // namespace

json::object config_schema() {
  json::object properties = http_service::endpoint_properties(default_timeout_seconds);
  properties["restSeconds"] = json::object{
      {"type", "number"},
      {"minimum", 0},
      {"maximum", 3600},
      {"default", Settings{}.rest_seconds},
      {"description", "A service that cannot be reached or fails is not asked for so long"}};
  properties["classic"] = json::object{
      {"type", "object"}, {"description", "Settings of strategy/classic, for when it decides"}};
  return {{"type", "object"},
          {"additionalProperties", false},
          {"required", json::array{"url"}},
          {"properties", std::move(properties)}};
}

Result<Settings> read_settings(const json::object& config) {
  Settings settings;
  auto endpoint = http_service::read_endpoint(config, default_timeout_seconds);
  if (!endpoint) return endpoint.error();
  settings.endpoint = std::move(*endpoint);
  const auto rest = from_value<Rest>(config);
  if (!rest) return rest.error();
  if (!(rest->rest_seconds >= 0 && rest->rest_seconds <= 3600))
    return Error::invalid("restSeconds: is not between 0 and 3600");
  settings.rest_seconds = rest->rest_seconds;
  auto preferences = classic::read_preferences(rest->classic, {}, "classic");
  if (!preferences) return preferences.error();
  settings.classic = std::move(*preferences);
  return settings;
}

Strategy::Strategy(Settings settings)
    : settings_(std::move(settings)), client_(settings_.endpoint) {}

// Remembered, so that a fleet of pools does not wait for one dead service, one after the other.
Error Strategy::in_trouble(std::string what, const Context& context) {
  trouble_ = what;
  trouble_since_ = context.now();
  context.log(LogLevel::warning, "the external strategy at " + settings_.endpoint.url + " " + what);
  return Error::transient(std::move(what));
}

Result<std::string> Strategy::body_of_answer(const char* method, const std::string& document,
                                             const Context& context) {
  if (trouble_since_) {
    const std::chrono::duration<double> since = context.now() - *trouble_since_;
    if (since.count() >= 0 && since.count() < settings_.rest_seconds)
      return Error::transient(trouble_);
    trouble_since_.reset();
  }
  // A host in a hurry says nothing about the service.
  const bool in_time = http_service::time_for(settings_.endpoint, context.time_left()).count() > 0;
  auto answer = client_.post(method, document, context);
  if (!answer) {
    if (answer.error().error_class == ErrorClass::cancelled || !in_time) return answer.error();
    return in_trouble(answer.error().message, context);
  }
  if (answer->status == 200) return std::move(answer->body);
  const std::string what =
      "answered with HTTP status " + std::to_string(answer->status) +
      (answer->status >= 300 && answer->status < 400 ? ", a redirect, which is not followed"
                                                     : words_of(answer->body));
  if (answer->status >= 500 || answer->status == 429) return in_trouble(what, context);
  return Error::invalid(what);
}

template <class Reply, class Request>
Result<Reply> Strategy::ask(const char* method, const Request& request, const Context& context) {
  json::object document = codec::to_value(request).as_object();
  document["protocol"] = protocol;
  const auto body = body_of_answer(method, json::write(document), context);
  if (!body) return body.error();
  auto reply = decode<Reply>(*body);
  if (!reply) return Error::internal("sent an answer of the wrong shape: " + reply.error().message);
  if (const std::string broken = broken_promise(request, *reply); !broken.empty())
    return Error::internal("sent an answer that breaks its contract: it " + broken);
  return reply;
}

std::string Strategy::instead(const Error& failure) const {
  return "the external strategy at " + settings_.endpoint.url + " " + failure.message +
         "; classic decided: ";
}

Result<Size> Strategy::size(const SizeRequest& request, const Context& context) {
  auto fallback = classic::size(request);
  if (!fallback) return fallback;  // the request makes no sense to anybody
  auto answer = ask<Size>("size", request, context);
  if (answer || answer.error().error_class == ErrorClass::cancelled) return answer;
  fallback->reason.insert(0, instead(answer.error()));
  return fallback;
}

Result<Selection> Strategy::select(const SelectRequest& request, const Context& context) {
  auto answer = ask<Selection>("select", request, context);
  if (answer || answer.error().error_class == ErrorClass::cancelled) return answer;
  // What a pool says to its strategy is meant for the service, but may fit classic as well.
  const auto pool = classic::read_preferences(request.settings.strategy, settings_.classic, "");
  auto fallback = classic::select(request, pool ? *pool : settings_.classic);
  if (!fallback) return fallback;
  fallback->reason.insert(0, instead(answer.error()));
  return fallback;
}

}  // namespace muster::external
