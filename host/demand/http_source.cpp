// Demand from any HTTP endpoint that answers {workerPoolId: pending}.
#include "host/demand/source.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/http_client/fetch.hpp"

namespace muster::demand {
namespace {

class HttpSource final : public DemandSource {
 public:
  explicit HttpSource(const config::DemandSettings& settings)
      : settings_(settings), fetcher_({1, 16 << 20, settings.timeout, settings.ca_file.string()}) {}

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    const Time asked = context.now();
    FetchRequest request{settings_.url, {"Accept: application/json"}};
    if (!settings_.token_file.empty()) {
      const auto token = read_secret_file(settings_.token_file, "the token");
      if (!token) return token.error();
      request.headers.push_back("Authorization: Bearer " + token->reveal());
    }
    Fetched fetched;
    bool sent = false;
    fetcher_.run(
        [&](FetchRequest& next) {
          if (sent) return false;
          next = request;
          return sent = true;
        },
        [&](std::size_t, Fetched answer) { fetched = std::move(answer); }, context);
    if (context.cancelled() && fetched.status == 0) return Error::cancelled("was not waited for");
    if (fetched.status == 0) return Error::transient(settings_.url + ": " + fetched.error);
    if (fetched.status == 401 || fetched.status == 403)
      return Error::auth(settings_.url + " answered " + std::to_string(fetched.status));
    if (fetched.status != 200)
      return Error::transient(settings_.url + " answered " + std::to_string(fetched.status));
    const auto document = json::parse(fetched.body);
    if (!document) return Error::invalid(settings_.url + ": " + document.error().message);
    auto answer = read_counts(*document, pools, asked);
    if (!answer) return Error::invalid(settings_.url + ": " + answer.error().message);
    return answer;
  }

 private:
  config::DemandSettings settings_;
  Fetcher fetcher_;
};

}  // namespace

std::unique_ptr<DemandSource> http_source(const config::DemandSettings& settings) {
  return std::make_unique<HttpSource>(settings);
}

}  // namespace muster::demand
