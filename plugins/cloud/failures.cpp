#include "plugins/cloud/failures.hpp"

namespace muster::cloud {

using Kind = http_client::Failure::Kind;

Error error_of(const http_client::Failure& failure, const std::string& time_limit,
               const std::string& size_limit) {
  switch (failure.kind) {
    case Kind::cancelled:
      return Error::cancelled("was being asked when the call was cancelled");
    case Kind::timed_out:
      return Error::transient("did not answer within " + time_limit);
    case Kind::too_large:
      return Error::transient("sent an answer of more than " + size_limit);
    case Kind::name_unknown:
      return Error::transient("cannot be reached: its name is not known");
    case Kind::no_connection:
      return Error::transient("cannot be reached: it takes no connections");
    case Kind::no_tls:
      return Error::transient("cannot be reached: it does not speak TLS as it should");
    case Kind::cut_off:
      return Error::transient("closed the connection in the middle of its answer");
    case Kind::no_answer:
      return Error::transient("closed the connection without an answer");
    case Kind::not_http:
      return Error::transient("sent something that is not HTTP");
    case Kind::untrusted:
    case Kind::bad_tls_files:
      return Error::auth("has a certificate that is not trusted: " + failure.description());
    default:
      return {failure.error_class(), "cannot be asked: " + failure.message};
  }
}

bool was_never_sent(const http_client::Failure& failure) {
  switch (failure.kind) {
    case Kind::name_unknown:
    case Kind::no_connection:
    case Kind::no_tls:
    case Kind::untrusted:
    case Kind::bad_request:
    case Kind::bad_tls_files:
      return true;
    default:
      return false;
  }
}

}  // namespace muster::cloud
