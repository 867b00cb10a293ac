// Demand from a Taskcluster Queue: how many tasks wait in the task queue of each worker pool.
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <curl/curl.h>
#include <set>

#include "host/demand/source.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/hawk/hawk.hpp"
#include "lib/http_client/fetch.hpp"

namespace muster::demand {
namespace {

constexpr std::size_t max_answer_bytes = 64 << 10;
// A server that failed so often in a row will not answer the next thousand either.
constexpr std::size_t failures_to_give_up = 32;
// Clocks that differ less are good enough for signatures, which allow for 15 minutes.
constexpr std::int64_t notable_skew_seconds = 30;

// `pp/ww` → `pp%2Fww`.
std::string percent_encoded(std::string_view text) {
  static constexpr char digits[] = "0123456789ABCDEF";
  std::string encoded;
  for (const unsigned char c : text) {
    if (std::isalnum(c) || c == '-' || c == '_' || c == '.' || c == '~')
      encoded += static_cast<char>(c);
    else
      ((encoded += '%') += digits[c >> 4]) += digits[c & 15];
  }
  return encoded;
}

struct Server {
  std::string host;
  std::uint16_t port = 0;
  std::string base;  // path of the root URL, without a slash at its end
};

Result<Server> server_of(const std::string& root_url) {
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl_url(), curl_url_cleanup);
  const auto part = [&](CURLUPart which) {
    char* text = nullptr;
    const bool found = curl_url_get(url.get(), which, &text, CURLU_DEFAULT_PORT) == CURLUE_OK;
    std::string copy = found ? text : "";
    curl_free(text);
    return copy;
  };
  if (curl_url_set(url.get(), CURLUPART_URL, root_url.c_str(), 0) != CURLUE_OK)
    return Error::config(root_url + " is no URL");
  Server server{part(CURLUPART_HOST), 0, part(CURLUPART_PATH)};
  const std::string port = part(CURLUPART_PORT);
  std::from_chars(port.data(), port.data() + port.size(), server.port);
  while (server.base.ends_with('/')) server.base.pop_back();
  return server;
}

class TaskclusterSource final : public DemandSource {
 public:
  explicit TaskclusterSource(const config::DemandSettings& settings)
      : settings_(settings),
        server_(server_of(settings.root_url)),
        fetcher_(
            {settings.at_once, max_answer_bytes, settings.timeout, settings.ca_file.string()}) {
    while (settings_.root_url.ends_with('/')) settings_.root_url.pop_back();
  }

  bool asks_by_pool() const override { return true; }

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    if (!server_) return server_.error();
    const auto read = read_credentials();
    if (!read) return read.error();
    credentials_ = std::move(*read);
    forget_others(pools);
    Answer answer;
    ++polls_;
    const std::vector<WorkerPoolId> wanted = due(pools, context.now());
    const std::size_t asked = wanted.size();
    failures_ = 0;
    const std::vector<WorkerPoolId> again = ask(wanted, answer, context, false);
    // Those that our clock was to blame for; with the server's time they are asked once more.
    if (!again.empty()) ask(again, answer, context, true);
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
    // Whoever is last when the time runs out must not be last again.
    if (!wanted.empty())
      std::rotate(wanted.begin(),
                  wanted.begin() + static_cast<std::ptrdiff_t>(polls_ * 97 % wanted.size()),
                  wanted.end());
    return wanted;
  }

  // Returns those that are worth another try.
  std::vector<WorkerPoolId> ask(const std::vector<WorkerPoolId>& pools, Answer& answer,
                                const Context& context, bool last_try) {
    const std::int64_t used = skew_;
    std::vector<WorkerPoolId> again;
    std::vector<Time> asked_at;
    fetcher_.run(
        [&](FetchRequest& request) {
          if (asked_at.size() == pools.size() || failures_ >= failures_to_give_up) return false;
          request = request_for(pools[asked_at.size()], context.now());
          asked_at.push_back(context.now());
          return true;
        },
        [&](std::size_t number, Fetched fetched) {
          const WorkerPoolId& pool = pools[number];
          if (!last_try && clock_is_to_blame(fetched, context.now(), used))
            return again.push_back(pool);
          const std::string wrong = take(pool, fetched, asked_at[number]);
          const bool overwhelmed =
              fetched.status == 0 || fetched.status == 429 || fetched.status == 503;
          failures_ = overwhelmed ? failures_ + 1 : 0;
          if (wrong.empty())
            answer.pool_errors.erase(pool);
          else
            answer.pool_errors[pool] = wrong;
        },
        context);
    const std::string why = failures_ >= failures_to_give_up
                                ? "was not asked, for it did not answer for others"
                                : "was not asked in time";
    for (std::size_t i = asked_at.size(); i < pools.size(); ++i) answer.pool_errors[pools[i]] = why;
    return again;
  }

  FetchRequest request_for(const WorkerPoolId& pool, Time now) {
    const std::string path =
        server_->base + "/api/queue/v1/task-queues/" + percent_encoded(pool.str()) + "/counts";
    const auto origin =
        settings_.root_url.substr(0, settings_.root_url.size() - server_->base.size());
    FetchRequest request{origin + path, {"Accept: application/json"}};
    if (credentials_.client_id.empty()) return request;
    const auto seconds =
        std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count() + skew_;
    request.headers.push_back("Authorization: " +
                              hawk::authorization(credentials_,
                                                  {"GET", path, server_->host, server_->port},
                                                  seconds, random_token().reveal().substr(0, 12)));
    return request;
  }

  // A 401 whose server has another idea of the time than the signature had.
  bool clock_is_to_blame(const Fetched& fetched, Time now, std::int64_t used) {
    if (fetched.status != 401 || credentials_.client_id.empty()) return false;
    const auto here = std::chrono::floor<std::chrono::seconds>(now).time_since_epoch().count();
    std::optional<std::int64_t> there = fetched.server_seconds;
    if (const auto signed_time =
            hawk::server_time(fetched.www_authenticate, credentials_.access_token))
      there = *signed_time;
    if (!there) return false;
    const std::int64_t skew = *there - here;
    if (std::abs(skew - used) < notable_skew_seconds) return false;
    skew_ = skew;
    return true;
  }

  // Empty, or what is wrong.
  std::string take(const WorkerPoolId& pool, const Fetched& fetched, Time asked) {
    error_class_ = ErrorClass::transient;
    if (fetched.status == 0) return "did not answer: " + fetched.error;
    if (fetched.status == 401 || fetched.status == 403) {
      error_class_ = ErrorClass::auth;
      return "answered " + std::to_string(fetched.status) + code_in(fetched.body) +
             (fetched.status == 403 ? "; the client needs the scopes queue:pending-count:" +
                                          pool.str() + " and queue:claimed-count:" + pool.str()
                                    : "");
    }
    if (fetched.status != 200)
      return "answered " + std::to_string(fetched.status) + code_in(fetched.body);
    const auto document = json::parse_object(fetched.body);
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
  Result<Server> server_;
  Fetcher fetcher_;
  hawk::Credentials credentials_;
  Counts known_;
  std::int64_t skew_ = 0;     // how far the server's clock is ahead of ours, as far as it matters
  std::size_t failures_ = 0;  // in a row
  std::size_t polls_ = 0;
  ErrorClass error_class_ = ErrorClass::transient;
};

}  // namespace

std::unique_ptr<DemandSource> taskcluster_source(const config::DemandSettings& settings) {
  return std::make_unique<TaskclusterSource>(settings);
}

}  // namespace muster::demand
