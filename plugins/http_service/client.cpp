#include "plugins/http_service/client.hpp"

#include <algorithm>
#include <cstdlib>

#include <muster/trace.hpp>

#include "lib/base/atomic_file.hpp"
#include "plugins/cloud/failures.hpp"
#include "plugins/cloud/session.hpp"
#include "plugins/cloud/transport.hpp"

namespace muster::http_service {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

constexpr std::size_t most_token_bytes = 8 << 10;

// A token of printable characters: nothing else may get into a header.
Result<std::string> checked_token(std::string token, const std::string& source) {
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r' || token.back() == ' '))
    token.pop_back();
  if (token.empty()) return Error::auth("cannot be asked: " + source + " is empty");
  if (std::any_of(token.begin(), token.end(), [](char c) { return c <= ' ' || c >= '\x7f'; }))
    return Error::auth("cannot be asked: " + source + " holds characters that no token has");
  return token;
}

// Empty if none is configured.
Result<std::string> read_token(const Endpoint& endpoint) {
  if (!endpoint.token_environment.empty()) {
    const char* value = std::getenv(endpoint.token_environment.c_str());
    if (!value)
      return Error::auth("cannot be asked: the environment variable " + endpoint.token_environment +
                         " of the token is not set here; a plugin's process gets only those that "
                         "`environment` names");
    return checked_token(value, "the environment variable " + endpoint.token_environment);
  }
  if (endpoint.token_file.empty()) return std::string();
  auto token = read_file(endpoint.token_file, most_token_bytes);
  if (!token)
    return Error::auth(
        "cannot be asked: the token file " + endpoint.token_file + " cannot be read" +
        (token.error().error_class == ErrorClass::invalid ? ", for " + token.error().message : ""));
  return checked_token(std::move(*token), "the token file " + endpoint.token_file);
}

milliseconds configured_timeout(const Endpoint& endpoint) {
  return milliseconds(static_cast<std::int64_t>(endpoint.timeout_seconds * 1000));
}

// Of what is no HTTP or too large the service's author is to hear at once.
Error error_of(const http_client::Failure& failure, const Endpoint& endpoint, bool host_in_hurry) {
  using Kind = http_client::Failure::Kind;
  Error error = cloud::error_of(failure,
                                host_in_hurry ? "the time that the host has for it"
                                              : seconds_in_words(endpoint.timeout_seconds),
                                std::to_string(endpoint.max_answer_bytes) + " bytes");
  if (failure.kind == Kind::not_http || failure.kind == Kind::too_large)
    error.error_class = ErrorClass::internal;
  return error;
}

}  // namespace

milliseconds time_for(const Endpoint& endpoint, milliseconds time_left) {
  return cloud::time_for(configured_timeout(endpoint), time_left);
}

std::string seconds_in_words(double seconds) {
  return json::write(json::value(seconds)) + " s";
}

struct Client::Impl {
  Endpoint endpoint;
  cloud::PooledTransport transport;
};

Client::Client(Endpoint endpoint)
    : impl_(new Impl{endpoint, cloud::PooledTransport({.max_concurrent = 1,
                                                       .max_body_bytes = static_cast<std::size_t>(
                                                           endpoint.max_answer_bytes),
                                                       .ca_file = endpoint.ca_file,
                                                       .proxy = endpoint.proxy})}) {}
Client::~Client() = default;

const Endpoint& Client::endpoint() const {
  return impl_->endpoint;
}

Result<Answer> Client::post(const std::string& method, const std::string& document,
                            const Context& context) {
  if (context.cancelled()) return Error::cancelled("was not asked: the call was cancelled");
  const Endpoint& endpoint = impl_->endpoint;
  const milliseconds time = time_for(endpoint, context.time_left());
  if (time <= 0ms) return Error::transient("was not asked: the host has no time left for it");
  const auto token = read_token(endpoint);
  if (!token) return token.error();
  http_client::Request request{.url = endpoint.url + "/" + method,
                               .method = "POST",
                               .headers = {{"Content-Type", "application/json"},
                                           {"Accept", "application/json"},
                                           {"Muster-Deadline-Ms", std::to_string(time.count())}},
                               .body = document,
                               .timeout = time};
  if (std::string trace = trace_parent_of(context); !trace.empty())
    request.headers.push_back({"traceparent", std::move(trace)});
  if (!token->empty()) request.authorization = http_client::BearerToken{Secret(*token)};
  http_client::Answer answer = impl_->transport.send(std::move(request), context);
  if (!answer) return error_of(answer.error(), endpoint, time < configured_timeout(endpoint));
  return Answer{answer->status, std::move(answer->body), answer->retry_after};
}

}  // namespace muster::http_service
