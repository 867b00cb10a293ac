#include "plugins/provider/bridge/http_answers.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "plugins/provider/bridge/service.hpp"

namespace muster::bridge {
namespace {

using namespace std::chrono_literals;

constexpr auto longest_hold = std::chrono::seconds(24h * 30);
constexpr std::size_t longest_message = 2000;

bool optional_method(const std::string& method) {
  return method == "notices";
}

ErrorClass class_of(long status, const std::string& method) {
  if (status == 401 || status == 403 || status == 407) return ErrorClass::auth;
  if (status == 429) return ErrorClass::throttle;
  if (optional_method(method) && (status == 404 || status == 405 || status == 501))
    return ErrorClass::unsupported;
  if (status == 408 || status >= 500 || (status >= 300 && status < 400))
    return ErrorClass::transient;
  if (status >= 400) return ErrorClass::invalid;
  return ErrorClass::internal;  // 200 is the only way to succeed
}

std::string advice_for(long status) {
  if (status >= 300 && status < 400)
    return ": a redirect, which is not followed; correct the bridge's url";
  if (status == 401 || status == 403) return ": look at the bridge's tokenFile";
  if (status == 404) return ": is the bridge's url right?";
  return {};
}

// The service's own words: an error, or what is wrong with it. Neither if it has none.
struct OwnError {
  std::optional<Error> error = {};
  std::string mistake = {};
};

OwnError own_error(const std::string& body) {
  const auto document = json::parse_object(body);
  const json::value* given = document ? document->if_contains("error") : nullptr;
  if (!given) return {};
  Error error;
  codec::Reader reader;
  reader.read(*given, error);
  if (reader.failed()) return {std::nullopt, reader.mistake()};
  if (error.message.size() > longest_message)
    return {std::nullopt, "message: is longer than " + std::to_string(longest_message) + " bytes"};
  if (error.hold) error.hold = std::clamp<std::chrono::seconds>(*error.hold, 0s, longest_hold);
  return {std::move(error), {}};
}

}  // namespace

Result<std::string> result_of(const std::string& url, const std::string& method,
                              http_service::Answer answer) {
  const auto held = [&](Error error) {
    if (!error.hold) error.hold = answer.retry_after;
    return error;
  };
  const std::string who = "the service at " + url;
  OwnError own = own_error(answer.body);
  if (own.error) return held(std::move(*own.error));
  if (answer.status == 200 && !own.mistake.empty())
    return Error::internal(who + " answered " + method +
                           " with an error of the wrong shape: " + own.mistake);
  if (answer.status == 200) return std::move(answer.body);
  return held(Error{class_of(answer.status, method),
                    who + " answered " + method + " with HTTP status " +
                        std::to_string(answer.status) + advice_for(answer.status)});
}

namespace {

class HttpService final : public Service {
 public:
  explicit HttpService(http_service::Endpoint endpoint) : client_(std::move(endpoint)) {}

  Result<std::string> call(const std::string& method, const std::string& document,
                           const Context& context) override {
    auto answer = client_.post(method, document, context);
    if (answer) return result_of(client_.endpoint().url, method, std::move(*answer));
    Error error = answer.error();
    error.message = "the service at " + client_.endpoint().url + " " + error.message;
    return error;
  }

 private:
  http_service::Client client_;
};

}  // namespace

std::unique_ptr<Service> http_service_at(http_service::Endpoint endpoint) {
  return std::make_unique<HttpService>(std::move(endpoint));
}

}  // namespace muster::bridge
