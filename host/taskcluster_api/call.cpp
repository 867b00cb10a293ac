#include "host/taskcluster_api/call.hpp"

#include <algorithm>

#include "host/registration/refusal.hpp"
#include "host/taskcluster_api/pretty_text.hpp"
#include "lib/base/letter_case.hpp"
#include "lib/http/answer.hpp"

namespace muster::taskcluster_api {
namespace {

using endpoints::Pattern;
using endpoints::Payload;
using endpoints::QueryParameter;

constexpr std::string_view omitted = "(OMITTED)";
constexpr std::size_t longest_shown = 64 * 1024;  // nobody reads more of it, and it costs

bool is_json(const http::Request& request) {
  const std::string type = to_lower(request.header("content-type").value_or(""));
  const std::string_view word = std::string_view(type).substr(0, type.find(';'));
  const auto last = word.find_last_not_of(" \t");
  return last != std::string_view::npos && word.substr(0, last + 1) == "application/json";
}

// -------------------------------------------------------------------------------------------------
// Checks. Each returns false if it has answered the call.

// A body that is not JSON leaves the payload null.
bool parse_body(Call& call) {
  const http::Request& request = call.request();
  if (request.body.empty() || !is_json(request)) return true;
  auto parsed = http::parse_body(request.body);
  if (parsed && (parsed->is_object() || parsed->is_array())) {
    call.set_payload(std::move(*parsed));
    return true;
  }
  call.set_payload(nullptr);
  call.fail({"MalformedPayload", "Failed to parse JSON: " + (parsed ? "Must be an object or array"
                                                                    : parsed.error().message)});
  return false;
}

bool check_parameters(const Call& call) {
  std::string mistakes;
  for (const auto& [name, value] : call.parameters()) {
    const Pattern& pattern = endpoints::pattern_of_path(name);
    if (pattern.matches(value)) continue;
    mistakes += "\nURL parameter '" + name + "' given as '" + value +
                "' must match regular expression: '" + std::string(pattern.text) + "'";
  }
  if (mistakes.empty()) return true;
  call.fail({"InvalidRequestArguments", "Invalid URL patterns:" + mistakes});
  return false;
}

bool check_query(const Call& call) {
  std::string mistakes;
  const auto mistake = [&](const std::string& text) {
    mistakes += (mistakes.empty() ? "" : "\n") + text;
  };
  const auto& query = call.query().parameters();
  const auto& all = call.endpoint().query;
  for (std::size_t i = 0; i < query.size(); ++i) {
    const auto& [name, value] = query[i];
    const auto known = std::ranges::find(all, name, &QueryParameter::name);
    const auto same_name = [&](const auto& pair) { return pair.first == name; };
    const auto first = std::ranges::find_if(query, same_name) - query.begin();
    if (static_cast<std::size_t>(first) != i) continue;  // what it is was said
    if (known == all.end()) {
      if (name != "bewit") mistake("Query-string parameter: " + name + " is not supported!");
    } else if (std::ranges::count_if(query, same_name) > 1) {
      mistake("Query-string parameter: " + name + " must be a string!");
    } else if (!endpoints::pattern_of(*known).matches(value)) {
      mistake("Query-string parameter: " + name + "=\"" + value +
              "\" does not match expression: " + std::string(endpoints::pattern_of(*known).text));
    }
  }
  if (mistakes.empty()) return true;
  call.fail({"InvalidRequestArguments", std::move(mistakes)});
  return false;
}

bool check_input(const Call& call) {
  if (call.endpoint().input.empty()) return true;
  if (!is_json(call.request())) {
    const auto type = call.request().header("content-type");
    call.fail({"MalformedPayload",
               "Payload must be JSON with content-type: application/json got content-type: " +
                   std::string(type.value_or("null"))});
    return false;
  }
  if (auto mistakes = api_of(call).schemas.refuse(call.endpoint().input, call.payload())) {
    call.fail({"InputValidationError", std::move(*mistakes)});
    return false;
  }
  return true;
}

// Before the request is read, or after it if a scope names what it says.
bool check_scopes(Call& call, bool request_is_read) {
  const Endpoint& endpoint = call.endpoint();
  if (endpoint.scopes.list().empty() || endpoint.authorizes_by_request() != request_is_read)
    return true;
  return call.authorize();
}

json::value shown_payload(const Call& call) {
  const Payload payload = call.endpoint().payload;
  const std::string& body = call.request().body;
  if (payload == Payload::omitted || body.size() > longest_shown) return json::value(omitted);
  if (call.payload().is_null())
    return json::value(payload == Payload::shown ? std::string_view(body) : omitted);
  json::value shown = call.payload();
  if (payload == Payload::secret_masked && shown.is_object())
    if (json::value* info = shown.get_object().if_contains("providerInfo"))
      if (info->is_object() && info->get_object().contains("staticSecret"))
        info->get_object()["staticSecret"] = omitted;
  return shown;
}

}  // namespace

Failure to_failure(const Error& error) {
  if (error.code == "gone") return {"ResourceExpired", error.message};
  if (error.code == "conflict") return conflict(error.message);
  if (error.code == "readOnly") return {"ReadOnly", error.message};
  switch (error.error_class) {
    case ErrorClass::invalid:
    case ErrorClass::auth:
    case ErrorClass::config:
    case ErrorClass::unsupported:
      return input_error(error.message);
    case ErrorClass::not_found:
      return not_found(error.message);
    default:
      return {"ServiceUnavailable", error.message};
  }
}

Failure to_failure(const registration::Refusal& refusal) {
  return {registration::code_of(refusal.reason), refusal.message, refusal.retry_after};
}

// The names in the scopes of some endpoints are in the body; who asks is known before.
bool Api::admit_head(Call& call) const {
  return call.authenticate_head() && (call.endpoint().authorizes_by_request() || call.authorize());
}

bool Api::admit(Call& call) const {
  return parse_body(call) && check_scopes(call, false) && check_parameters(call) &&
         check_query(call) && check_input(call) && check_scopes(call, true);
}

http::Response Api::answer(const Call&, std::string body) const {
  return {.headers = {{"Content-Type", "application/json; charset=utf-8"}},
          .body = std::move(body)};
}

http::Response Api::failure(const Call& call, const Failure& failure,
                            std::vector<http::Header> headers) const {
  const int status = endpoints::status_of(failure.code);
  std::string time;
  append_time(time, parts.clock->now());
  const std::string name(call.endpoint().name);
  const std::string message = failure.message + "\n\n---\n\n* method:     " + name +
                              "\n* errorCode:  " + std::string(failure.code) +
                              "\n* statusCode: " + std::to_string(status) +
                              "\n* time:       " + time;
  PrettyText text;
  text.begin_object().key("code").string(failure.code).key("message").string(message);
  text.key("requestInfo").begin_object().key("method").string(name);
  text.key("params").begin_object();
  for (const auto& [key, value] : call.parameters()) text.key(key).string(value);
  text.end_object().key("payload").value(shown_payload(call));
  text.key("time").string(time).end_object().end_object();
  headers.push_back({"Content-Type", "application/json; charset=utf-8"});
  return {.status = status, .headers = std::move(headers), .body = text.take()};
}

}  // namespace muster::taskcluster_api
