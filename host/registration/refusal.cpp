#include "host/registration/refusal.hpp"

namespace muster::registration {
namespace {

RefusalReason reason_of(const Error& error) {
  if (error.code == "gone") return RefusalReason::gone;
  if (error.code == "conflict") return RefusalReason::conflict;
  if (error.code == "readOnly") return RefusalReason::read_only;
  switch (error.error_class) {
    case ErrorClass::invalid:
    case ErrorClass::auth:
    case ErrorClass::config:
    case ErrorClass::unsupported:
      return RefusalReason::invalid;
    case ErrorClass::not_found:
      return RefusalReason::not_found;
    default:
      return RefusalReason::unavailable;
  }
}

}  // namespace

Refusal Refusal::from(const Error& error) {
  return {reason_of(error), error.message};
}

std::string_view code_of(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::invalid:
      return "InputError";
    case RefusalReason::not_found:
      return "ResourceNotFound";
    case RefusalReason::conflict:
      return "RequestConflict";
    case RefusalReason::gone:
      return "ResourceExpired";
    case RefusalReason::too_many_failures:
      return "TooManyRequests";
    case RefusalReason::provider_down:
      return "ProviderSetupFailed";
    case RefusalReason::read_only:
      return "ReadOnly";
    case RefusalReason::unavailable:
      break;
  }
  return "ServiceUnavailable";
}

bool is_workers_fault(RefusalReason reason) {
  switch (reason) {
    case RefusalReason::provider_down:
    case RefusalReason::read_only:
    case RefusalReason::unavailable:
      return false;
    default:
      return true;
  }
}

}  // namespace muster::registration
