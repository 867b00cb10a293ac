// Demand from any HTTP endpoint that answers {workerPoolId: pending}.
#include "host/demand/source.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/http_client/client.hpp"

namespace muster::demand {
namespace {

class HttpSource final : public DemandSource {
 public:
  explicit HttpSource(const config::DemandSettings& settings)
      : settings_(settings),
        client_({.max_concurrent = 1,
                 .timeout = settings.timeout,
                 .ca_file = settings.ca_file.string()}) {}

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    const Time asked = context.now();
    http_client::Request request{.url = settings_.url, .headers = {{"Accept", "application/json"}}};
    if (!settings_.token_file.empty()) {
      auto token = read_secret_file(settings_.token_file, "the token");
      if (!token) return token.error();
      request.authorization = http_client::BearerToken{std::move(*token)};
    }
    const http_client::Answer got = client_.send(std::move(request), context);
    if (!got && context.cancelled()) return Error::cancelled("was not waited for");
    if (!got) return Error::transient(settings_.url + ": " + got.error().message);
    if (got->status != 200) {
      const std::string answered = settings_.url + " answered " + std::to_string(got->status);
      const bool is_refusal = got->status == 401 || got->status == 403;
      return is_refusal ? Error::auth(answered) : Error::transient(answered);
    }
    const auto document = json::parse(got->body);
    if (!document) return Error::invalid(settings_.url + ": " + document.error().message);
    auto answer = read_counts(*document, pools, asked);
    if (!answer) return Error::invalid(settings_.url + ": " + answer.error().message);
    return answer;
  }

 private:
  config::DemandSettings settings_;
  http_client::Client client_;
};

}  // namespace

std::unique_ptr<DemandSource> http_source(const config::DemandSettings& settings) {
  return std::make_unique<HttpSource>(settings);
}

}  // namespace muster::demand
