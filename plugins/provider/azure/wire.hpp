// Calls Azure's APIs over HTTP: the token, the session that repeats, the errors by the table, the
// headers that say how many calls are left.
#pragma once

#include <optional>
#include <string>

#include "plugins/provider/azure/credentials.hpp"
#include "plugins/provider/azure/error_reading.hpp"

namespace muster::azure {

// How many more calls of this kind Azure takes, as the answer says; nothing if it does not say.
std::optional<double> remaining_calls(const http_client::Response& response);

// THREADS: any.
class Wire {
 public:
  struct Addresses {
    std::string resource_manager, retail_prices;  // without a slash at the end
  };
  // `session` is borrowed.
  Wire(cloud::Session& session, Addresses addresses);

  // As Api::call. Without `tokens` the call has no authorization: public prices.
  Result<Answer> call(const Call& call, TokenCache* tokens, const Context& context);

  // Knows the secrets in use: they appear in no error.
  cloud::Redactor& redactor() { return redactor_; }

 private:
  struct Sent;
  Result<std::string> url_of(const Call& call) const;
  Result<http_client::Request> prepare(Sent& sent);
  cloud::Reading read(Sent& sent, const http_client::Response& response);
  cloud::Reading read_failure(const Sent& sent, const http_client::Response& response);
  Error strange_answer(const Sent& sent, const std::string& what) const;

  cloud::Session& session_;
  const Addresses addresses_;
  const ErrorReader errors_;
  cloud::Redactor redactor_;
};

}  // namespace muster::azure
