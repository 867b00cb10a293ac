#include "lib/http/answer.hpp"

#include <muster/utf8.hpp>

namespace muster::http {
namespace {

std::pair<int, std::string_view> status_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::invalid:
    case ErrorClass::config:
      return {400, "InputError"};
    case ErrorClass::not_found:
      return {404, "ResourceNotFound"};
    case ErrorClass::auth:
      return {403, "InsufficientScopes"};
    case ErrorClass::throttle:
      return {429, "TooManyRequests"};
    case ErrorClass::unsupported:
      return {501, "NotImplemented"};
    case ErrorClass::capacity:
    case ErrorClass::quota:
    case ErrorClass::transient:
    case ErrorClass::cancelled:
      return {503, "ServiceUnavailable"};
    case ErrorClass::internal:
      break;
  }
  return {500, "InternalServerError"};
}

// What the values of a JSON text begin with or stand behind. What is no JSON has any number.
std::size_t count_values(std::string_view text) {
  std::size_t count = 1;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\')
      ++i;
    else if (c == '"')
      in_string = !in_string;
    else if (!in_string && (c == ',' || c == '{' || c == '['))
      ++count;
  }
  return count;
}

Error too_many_values() {
  return Error::invalid("it has more than " + std::to_string(most_values) + " values");
}

}  // namespace

Response json_answer(const json::value& document, int status) {
  return {status, {{"Content-Type", "application/json"}}, json::write(document) + "\n"};
}

Response error_answer(const Request& request, int status, std::string_view code,
                      std::string_view message, const json::object& more) {
  json::object body;
  body["code"] = code;
  body["message"] = valid_utf8(message);
  for (const auto& [key, value] : more) body[key] = value;
  body["requestInfo"] = json::object{{"method", valid_utf8(request.method)},
                                     {"path", valid_utf8(request.path)},
                                     {"requestId", request.id}};
  return json_answer(body, status);
}

Response error_answer(const Request& request, const Error& error) {
  const auto [status, code] = status_of(error.error_class);
  return error_answer(request, status, code, error.message);
}

Result<json::value> parse_body(std::string_view body) {
  if (count_values(body) > most_values) return too_many_values();
  return json::parse(body);
}

Result<json::object> parse_object_body(std::string_view body) {
  if (count_values(body) > most_values) return too_many_values();
  return json::parse_object(body);
}

boost::system::result<json::object, Response> json_body(const Request& request) {
  auto parsed = parse_object_body(request.body);
  if (parsed) return std::move(*parsed);
  return error_answer(request, 400, "InputError", "the request's body: " + parsed.error().message);
}

}  // namespace muster::http
