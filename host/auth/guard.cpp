#include "host/auth/guard.hpp"

#include <strings.h>

#include "lib/http/answer.hpp"

namespace muster::auth {
namespace {

using http::Request;
using http::Response;

std::string with_parameters(std::string_view scope, const Request& request) {
  std::string text;
  for (;;) {
    const auto begin = scope.find('<'), end = scope.find('>', begin);
    if (end == scope.npos) return text.append(scope);
    text.append(scope.substr(0, begin));
    text.append(request.path_parameter(scope.substr(begin + 1, end - begin - 1)));
    scope.remove_prefix(end + 1);
  }
}

bool is_hawk(const Request& request) {
  const auto header = request.header("Authorization");
  return header && header->size() >= 4 && ::strncasecmp(header->data(), "hawk", 4) == 0;
}

Response unknown_caller(const Request& request) {
  Response response = http::error_answer(request, 401, "AuthenticationFailed",
                                         "this needs the header `Authorization: Bearer <token>`, "
                                         "or Hawk's signature; the admin's token "
                                         "is in the file admin-token of the host's data directory");
  response.headers.push_back({"WWW-Authenticate", "Bearer realm=\"muster\""});
  return response;
}

}  // namespace

Response unauthenticated(const Request& request, const Error& error) {
  if (error.error_class == ErrorClass::throttle) {
    Response response = http::error_answer(request, 429, "TooManyRequests", error.message);
    const auto seconds = error.hold.value_or(std::chrono::seconds(60));
    response.headers.push_back({"Retry-After", std::to_string(seconds.count())});
    return response;
  }
  Response response = http::error_answer(request, 401, "AuthenticationFailed", error.message);
  response.headers.push_back({"WWW-Authenticate", is_hawk(request) ? Authority::challenge(error)
                                                                   : "Bearer realm=\"muster\""});
  return response;
}

std::string Guard::scope_of(const Request& request) const {
  const std::string_view sent = request.method;
  const std::string_view method = sent == "HEAD" ? "GET" : sent;
  for (const RouteScope& known : table_)
    if (known.route == request.route && known.method == method)
      return with_parameters(known.scope, request);
  return method == "GET" ? "muster:get" : "muster:admin";
}

Response Guard::refuse_unknown(const Request& request) const {
  authority_.refusals().count(Refusals::Reason::credentials);
  return unknown_caller(request);
}

std::optional<Response> Guard::operator()(Request& request) const {
  auto verified = authority_.authenticate_head(request);
  if (!verified) {
    authority_.refusals().count(verified.error().error_class == ErrorClass::throttle
                                    ? Refusals::Reason::lockout
                                    : Refusals::Reason::credentials);
    return unauthenticated(request, verified.error());
  }
  const auto& caller = verified->caller;
  request.client_id = caller->client_id;
  if (request.route
          .empty()) {  // there is nothing there, which is for those to know who may come in
    if (request.client_id.empty()) return refuse_unknown(request);
  } else if (const std::string wanted = scope_of(request);
             !wanted.empty() && !caller->scopes.satisfies(wanted)) {
    if (request.client_id.empty()) return refuse_unknown(request);
    authority_.refusals().count(Refusals::Reason::scopes);
    return http::error_answer(request, 403, "InsufficientScopes",
                              *Authority::refuse(*caller, scope(wanted)));
  }
  if (!verified->hash.empty())
    request.verify_body = [hash = verified->hash](const Request& with_body) {
      const auto same = Authority::check_body(with_body, hash);
      return same ? std::nullopt : std::optional(unauthenticated(with_body, same.error()));
    };
  request.caller = caller;
  return std::nullopt;
}

}  // namespace muster::auth
