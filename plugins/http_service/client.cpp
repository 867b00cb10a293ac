#include "plugins/http_service/client.hpp"

#include <algorithm>
#include <cstdlib>

#include "lib/base/atomic_file.hpp"
#include "lib/http_client/client.hpp"

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

// Continues a sentence that names the service, and is the same each time, so that the host can tell
// one trouble from another.
Error error_of(const http_client::Failure& failure, const Endpoint& endpoint, bool host_in_hurry) {
  using Kind = http_client::Failure::Kind;
  switch (failure.kind) {
    case Kind::cancelled:
      return Error::cancelled("was being asked when the call was cancelled");
    case Kind::timed_out:
      return Error::transient(
          host_in_hurry ? "did not answer within the time that the host has for it"
                        : "did not answer within " + seconds_in_words(endpoint.timeout_seconds));
    case Kind::too_large:
      return Error::internal("sent an answer of more than " +
                             std::to_string(endpoint.max_answer_bytes) + " bytes");
    case Kind::name_unknown:
      return Error::transient("cannot be reached: its name is not known");
    case Kind::no_connection:
      return Error::transient("cannot be reached: it takes no connections");
    case Kind::cut_off:
      return Error::transient("closed the connection in the middle of its answer");
    case Kind::no_answer:
      return Error::transient("closed the connection without an answer");
    case Kind::not_http:
      return Error::internal("sent something that is not HTTP");
    case Kind::untrusted:
    case Kind::bad_tls_files:
      return Error::auth("has a certificate that is not trusted: " + failure.description());
    default:
      return {failure.error_class(), "cannot be asked: " + failure.message};
  }
}

}  // namespace

milliseconds time_for(const Endpoint& endpoint, milliseconds time_left) {
  const auto margin = std::clamp<milliseconds>(time_left / 10, 20ms, 500ms);
  return std::min(configured_timeout(endpoint), time_left - margin);
}

std::string seconds_in_words(double seconds) {
  return json::write(json::value(seconds)) + " s";
}

struct Client::Impl {
  Endpoint endpoint;
  http_client::Client http;
};

Client::Client(Endpoint endpoint)
    : impl_(new Impl{endpoint, http_client::Client({.max_concurrent = 1,
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
  if (!token->empty()) request.authorization = http_client::BearerToken{Secret(*token)};
  http_client::Answer answer = impl_->http.send(std::move(request), context);
  if (!answer) return error_of(answer.error(), endpoint, time < configured_timeout(endpoint));
  return Answer{answer->status, std::move(answer->body), answer->retry_after};
}

}  // namespace muster::http_service
