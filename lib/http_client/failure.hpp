// Why a request got no answer.
#pragma once

#include <string>

#include <muster/error.hpp>

namespace muster::http_client {

struct Failure {
  enum class Kind {
    bad_request,    // it was never sent: a URL or a header that HTTP does not allow
    bad_tls_files,  // the CA's file or the client's certificate cannot be used
    name_unknown,   // the resolver does not know the host
    no_connection,  // nothing listens there, or it cannot be reached
    no_tls,         // something listens, but it does not speak TLS
    untrusted,      // its certificate is not trusted, or is for another name
    no_answer,      // it closed the connection before it answered
    cut_off,        // it closed the connection in the middle of its answer
    not_http,       // it answered something that is not HTTP
    too_large,      // it answered more than we accept
    timed_out,
    cancelled,
    other,
  };
  Kind kind = Kind::other;
  std::string message = {};  // the same each time, so that it can be counted and compared
  std::string detail = {};   // what the library says about this case, with addresses and times
  int status = 0;            // of an answer that had begun; 0: none had

  // What a caller should do about it: `transient` unless trying again cannot help.
  ErrorClass error_class() const;
  // The more telling of the two texts.
  const std::string& description() const { return detail.empty() ? message : detail; }
};

// Called by value() on a failure: a bug of the caller.
[[noreturn]] void throw_exception_from_error(const Failure& failure, const boost::source_location&);

}  // namespace muster::http_client
