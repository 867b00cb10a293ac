// Asks an operator's HTTP service, and trusts it with nothing: every answer has a bound in time
// and size, redirects are not followed, certificates are checked.
#pragma once

#include <memory>
#include <optional>

#include <muster/context.hpp>

#include "plugins/http_service/endpoint.hpp"

namespace muster::http_service {

struct Answer {
  long status = 0;
  std::string body;
  std::optional<std::chrono::seconds> retry_after = {};  // at most an hour
};

// Threads: one call at a time for each object; different objects in parallel. The constructor does
// no I/O. Connections are kept for the next call.
class Client {
 public:
  explicit Client(Endpoint endpoint);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // POST <url>/<method> with a JSON document; any status is an answer. Returns within the
  // configured timeout and some time before the context's deadline, and soon after it was
  // cancelled. A connection that was kept and turns out dead is replaced and the request sent
  // again, so the service must be able to meet one twice.
  //
  // A message of an error continues a sentence that names the service: "did not answer within 2
  // s". The classes: `cancelled`; `auth` for a token that cannot be read and a certificate that is
  // not trusted; `internal` for what is no HTTP or too large; `transient` for all else.
  Result<Answer> post(const std::string& method, const std::string& document,
                      const Context& context);

  const Endpoint& endpoint() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The time that a call may take so that its caller can still answer its own (cloud::time_for).
std::chrono::milliseconds time_for(const Endpoint& endpoint, std::chrono::milliseconds time_left);

// "2 s", "0.5 s"
std::string seconds_in_words(double seconds);

}  // namespace muster::http_service
