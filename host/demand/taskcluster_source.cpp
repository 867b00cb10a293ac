// Demand from a Taskcluster Queue: how many tasks wait in the task queue of each worker pool.
#include <algorithm>
#include <set>

#include "host/demand/source.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/http_client/client.hpp"

namespace muster::demand {
namespace {

constexpr std::size_t max_answer_bytes = 64 << 10;
// A server that failed so often in a row will not answer the next thousand either.
constexpr std::size_t failures_to_give_up = 32;
class TaskclusterSource final : public DemandSource {
 public:
  explicit TaskclusterSource(const config::DemandSettings& settings)
      : settings_(settings),
        client_({.max_concurrent = settings.at_once,
                 .max_body_bytes = max_answer_bytes,
                 .timeout = settings.timeout,
                 .ca_file = settings.ca_file.string()}) {
    while (settings_.root_url.ends_with('/')) settings_.root_url.pop_back();
  }

  bool asks_by_pool() const override { return true; }

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    if (const auto url = parse_http_url(settings_.root_url); !url)
      return Error::config(settings_.root_url + " " + url.error().message);
    auto read = read_credentials();
    if (!read) return read.error();
    credentials_ = std::move(*read);
    forget_others(pools);
    Answer answer;
    ++polls_;
    const std::vector<WorkerPoolId> wanted = due(pools, context.now());
    const std::size_t asked = wanted.size();
    failures_ = 0;
    ask(wanted, answer, context);
    for (const WorkerPoolId& pool : pools)
      if (const auto known = known_.find(pool); known != known_.end())
        answer.counts[pool] = known->second;
    if (asked > 0 && answer.pool_errors.size() == asked)  // nothing works: that is one error
      return Error{error_class_, settings_.root_url + " " + answer.pool_errors.begin()->second};
    return answer;
  }

 private:
  Result<hawk::Credentials> read_credentials() const {
    hawk::Credentials credentials{settings_.client_id, Secret(""), ""};
    if (settings_.client_id.empty()) return credentials;
    auto token = read_secret_file(settings_.access_token_file, "the access token");
    if (!token) return token.error();
    credentials.access_token = std::move(*token);
    if (settings_.certificate_file.empty()) return credentials;
    const auto text =
        read_secret_file(settings_.certificate_file, "the certificate", SecretText::document);
    if (!text) return text.error();
    const auto certificate = json::parse_object(text->reveal());
    if (!certificate)
      return Error::config(settings_.certificate_file.string() +
                           " holds no certificate: " + certificate.error().message);
    credentials.certificate = json::write(*certificate);
    return credentials;
  }

  void forget_others(const std::vector<WorkerPoolId>& pools) {
    const std::set<WorkerPoolId> current(pools.begin(), pools.end());
    std::erase_if(known_, [&](const auto& entry) { return !current.contains(entry.first); });
  }

  // Those that were not asked for just now: a poll that was woken for a new pool costs one request.
  std::vector<WorkerPoolId> due(const std::vector<WorkerPoolId>& pools, Time now) const {
    std::vector<WorkerPoolId> wanted;
    for (const WorkerPoolId& pool : pools) {
      const auto known = known_.find(pool);
      if (known == known_.end() || now < known->second.at ||
          now - known->second.at >= settings_.interval / 2)
        wanted.push_back(pool);
    }
    // The pool that is last when the time runs out must not be last again.
    if (!wanted.empty())
      std::rotate(wanted.begin(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(polls_ * 97 % wanted.size()),
                  wanted.end());
    return wanted;
  }

  void ask(const std::vector<WorkerPoolId>& pools, Answer& answer, const Context& context) {
    std::vector<Time> asked_at;
    client_.send_all(
        [&](http_client::Request& request) {
          if (asked_at.size() == pools.size() || failures_ >= failures_to_give_up) return false;
          request = request_for(pools[asked_at.size()]);
          asked_at.push_back(context.now());
          return true;
        },
        [&](std::size_t number, const http_client::Answer& got) {
          const WorkerPoolId& pool = pools[number];
          const bool overwhelmed = !got || got->status == 429 || got->status == 503;
          failures_ = overwhelmed ? failures_ + 1 : 0;
          if (std::string wrong = take(pool, got, asked_at[number]); !wrong.empty())
            answer.pool_errors[pool] = std::move(wrong);
        },
        context);
    const std::string why = failures_ >= failures_to_give_up
                                ? "was not asked, for it did not answer for others"
                                : "was not asked in time";
    for (std::size_t i = asked_at.size(); i < pools.size(); ++i) answer.pool_errors[pools[i]] = why;
  }

  http_client::Request request_for(const WorkerPoolId& pool) const {
    http_client::Request request{.url = settings_.root_url + "/api/queue/v1/task-queues/" +
                                        encode_segment(pool.str()) + "/counts",
                                 .headers = {{"Accept", "application/json"}}};
    // Taskcluster's services say their time only in the Date header.
    if (!credentials_.client_id.empty())
      request.authorization = http_client::HawkSignature{credentials_, true};
    return request;
  }

  // Empty, or what is wrong.
  std::string take(const WorkerPoolId& pool, const http_client::Answer& got, Time asked) {
    error_class_ = ErrorClass::transient;
    if (!got) return "did not answer: " + got.error().message;
    std::string answered = "answered " + std::to_string(got->status) + code_in(got->body);
    if (got->status == 401 || got->status == 403) error_class_ = ErrorClass::auth;
    if (got->status == 403)
      return answered + "; the client needs the scopes queue:pending-count:" + pool.str() +
             " and queue:claimed-count:" + pool.str();
    if (got->status != 200) return answered;
    const auto document = json::parse_object(got->body);
    if (!document) return "answered what is no JSON: " + document.error().message;
    Count count{0, {}, asked};
    const auto number = [&](const char* key) -> std::optional<std::int64_t> {
      const json::value* value = document->if_contains(key);
      if (value && value->is_int64() && value->get_int64() >= 0 &&
          value->get_int64() <= max_pending)
        return value->get_int64();
      return std::nullopt;
    };
    const auto pending = number("pendingTasks");
    if (!pending) return "answered without a number of pendingTasks";
    count.pending = *pending;
    count.claimed = number("claimedTasks");
    known_[pool] = count;
    return {};
  }

  static std::string code_in(const std::string& body) {
    const auto document = json::parse_object(body);
    const json::value* code = document ? document->if_contains("code") : nullptr;
    return code && code->is_string() ? " " + std::string(code->get_string()).substr(0, 60) : "";
  }

  config::DemandSettings settings_;
  http_client::Client client_;
  hawk::Credentials credentials_;
  Counts known_;
  std::size_t failures_ = 0;  // in a row
  std::size_t polls_ = 0;
  ErrorClass error_class_ = ErrorClass::transient;
};

}  // namespace

std::unique_ptr<DemandSource> taskcluster_source(const config::DemandSettings& settings) {
  return std::make_unique<TaskclusterSource>(settings);
}

}  // namespace muster::demand
