#include "lib/http_client/failure.hpp"

namespace muster::http_client {

ErrorClass Failure::error_class() const {
  switch (kind) {
    case Kind::bad_request:
      return ErrorClass::invalid;
    case Kind::bad_tls_files:
      return ErrorClass::config;
    case Kind::untrusted:
      return ErrorClass::auth;
    case Kind::not_http:
    case Kind::too_large:
      return ErrorClass::internal;
    case Kind::cancelled:
      return ErrorClass::cancelled;
    default:
      return ErrorClass::transient;
  }
}

void throw_exception_from_error(const Failure& failure, const boost::source_location&) {
  throw std::runtime_error(failure.message);
}

}  // namespace muster::http_client
