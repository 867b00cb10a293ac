#include "host/endpoints/failure.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace muster::endpoints {
namespace {

using CodeAndStatus = std::pair<std::string_view, int>;

constexpr std::array<CodeAndStatus, 20> statuses{{{"MalformedPayload", 400},
                                                  {"InvalidRequestArguments", 400},
                                                  {"InputValidationError", 400},
                                                  {"InputError", 400},
                                                  {"AuthenticationFailed", 401},
                                                  {"InsufficientScopes", 403},
                                                  {"ResourceNotFound", 404},
                                                  {"RequestConflict", 409},
                                                  {"ResourceExpired", 410},
                                                  {"EventsGone", 410},
                                                  {"PreconditionFailed", 412},
                                                  {"InputTooLarge", 413},
                                                  {"TooManyRequests", 429},
                                                  {"NotImplemented", 501},
                                                  {"NoClients", 503},
                                                  {"NoFleet", 503},
                                                  {"NotReady", 503},
                                                  {"ProviderSetupFailed", 503},
                                                  {"ReadOnly", 503},
                                                  {"ServiceUnavailable", 503}}};

std::string_view code_of(ErrorClass error_class) {
  switch (error_class) {
    case ErrorClass::invalid:
    case ErrorClass::config:
      return "InputError";
    case ErrorClass::not_found:
      return "ResourceNotFound";
    case ErrorClass::auth:
      return "InsufficientScopes";
    case ErrorClass::throttle:
      return "TooManyRequests";
    case ErrorClass::unsupported:
      return "NotImplemented";
    case ErrorClass::capacity:
    case ErrorClass::quota:
    case ErrorClass::transient:
    case ErrorClass::cancelled:
      return "ServiceUnavailable";
    case ErrorClass::internal:
      break;
  }
  return "InternalServerError";
}

}  // namespace

int status_of(std::string_view code) {
  const auto found = std::ranges::find(statuses, code, &CodeAndStatus::first);
  return found == statuses.end() ? 500 : found->second;
}

Failure input_error(std::string message) {
  return {"InputError", std::move(message)};
}
Failure not_found(std::string message) {
  return {"ResourceNotFound", std::move(message)};
}
Failure conflict(std::string message) {
  return {"RequestConflict", std::move(message)};
}

Failure to_failure(const Error& error) {
  if (error.code == "gone") return {"ResourceExpired", error.message};
  if (error.code == "conflict" || error.code == "RequestConflict") return conflict(error.message);
  if (error.code == "PreconditionFailed" || error.code == "InputTooLarge")
    return {error.code == "InputTooLarge" ? "InputTooLarge" : "PreconditionFailed", error.message};
  if (error.code == "readOnly") return {"ReadOnly", error.message};
  return {code_of(error.error_class), error.message,
          error.error_class == ErrorClass::throttle ? error.hold : std::nullopt};
}

}  // namespace muster::endpoints
