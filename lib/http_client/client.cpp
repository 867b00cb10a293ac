#include "lib/http_client/client.hpp"

#include <map>
#include <mutex>
#include <random>

#include "lib/http_client/retry.hpp"
#include "lib/http_client/transfer.hpp"

namespace muster::http_client {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr auto between_looks = 20ms;  // at what can only be polled, while nothing comes
constexpr auto longest_wait = 1000ms;

// Never undone: another thread may be in the middle of a call.
void initialize_library() {
  static std::once_flag once;
  std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
}

const Failure cancelled_failure{Failure::Kind::cancelled, "was not waited for any longer"};

}  // namespace

// -------------------------------------------------------------------------------------------------
// Cancellation

Cancellation Cancellation::when_readable(int descriptor) {
  Cancellation cancellation;
  cancellation.descriptor_ = descriptor;
  return cancellation;
}

bool Cancellation::requested() const {
  return (context_ && context_->cancelled()) || (flag_ && *flag_);
}

std::chrono::milliseconds Cancellation::limit(std::chrono::milliseconds timeout) const {
  return context_ ? std::min(timeout, context_->time_left()) : timeout;
}

Time Cancellation::now() const {
  if (context_) return context_->now();
  return std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
}

// -------------------------------------------------------------------------------------------------
// Client

struct Client::Impl {
  using Done = std::function<void(std::size_t, Answer)>;

  Settings settings;
  CURLM* multi = nullptr;  // keeps the connections
  std::vector<std::unique_ptr<Transfer>> idle;
  std::map<CURL*, std::unique_ptr<Transfer>> busy;

  void begin(Request request, std::size_t number, const Done& done, const Cancellation& by);
  void start(std::unique_ptr<Transfer> transfer);
  void end(CURL* curl, CURLcode code, const Done& done, const Cancellation& by);
  std::unique_ptr<Transfer> take(CURL* curl);
  bool finish_some(const Done& done, const Cancellation& by);
  bool wait(const Cancellation& by, std::chrono::milliseconds at_most = longest_wait);
  bool wait_until(steady_clock::time_point when, const Cancellation& by);
  void drop_all();

  RetryBudget retry_budget;
  std::minstd_rand random{std::random_device{}()};
};

void Client::Impl::begin(Request request, std::size_t number, const Done& done,
                         const Cancellation& by) {
  if (idle.empty()) idle.push_back(std::make_unique<Transfer>());
  auto transfer = std::move(idle.back());
  idle.pop_back();
  if (auto failure = transfer->prepare(std::move(request), number, settings, by)) {
    idle.push_back(std::move(transfer));
    return done(number, std::move(*failure));
  }
  start(std::move(transfer));
}

void Client::Impl::start(std::unique_ptr<Transfer> transfer) {
  CURL* const curl = transfer->handle();
  busy.emplace(curl, std::move(transfer));
  curl_multi_add_handle(multi, curl);
}

std::unique_ptr<Transfer> Client::Impl::take(CURL* curl) {
  auto found = busy.find(curl);
  auto transfer = std::move(found->second);
  busy.erase(found);
  curl_multi_remove_handle(multi, curl);  // closes a connection in mid-answer
  return transfer;
}

void Client::Impl::end(CURL* curl, CURLcode code, const Done& done, const Cancellation& by) {
  auto transfer = take(curl);
  Answer answer = transfer->take_answer(code);
  if (transfer->repair_clock(answer, settings, by.now())) {
    auto failure = transfer->prepare_again(settings, by);
    if (!failure) return start(std::move(transfer));
    answer = std::move(*failure);
  }
  const std::size_t number = transfer->number();
  const std::exception_ptr thrown = transfer->thrown();
  idle.push_back(std::move(transfer));
  if (thrown) std::rethrow_exception(thrown);
  done(number, std::move(answer));
}

// Whether any ended.
bool Client::Impl::finish_some(const Done& done, const Cancellation& by) {
  int running = 0, waiting = 0;
  curl_multi_perform(multi, &running);
  bool any = false;
  while (const CURLMsg* message = curl_multi_info_read(multi, &waiting)) {
    if (message->msg != CURLMSG_DONE) continue;
    CURL* const curl = message->easy_handle;
    const CURLcode code = message->data.result;
    end(curl, code, done, by);
    any = true;
  }
  return any;
}

// False if the call was cancelled meanwhile.
bool Client::Impl::wait(const Cancellation& by, std::chrono::milliseconds at_most) {
  curl_waitfd stop{by.descriptor(), CURL_WAIT_POLLIN, 0};
  const auto time = by.must_be_polled() ? std::min<milliseconds>(between_looks, at_most) : at_most;
  curl_multi_poll(multi, &stop, by.descriptor() >= 0 ? 1 : 0, static_cast<int>(time.count()),
                  nullptr);
  return stop.revents == 0 && !by.requested();
}

bool Client::Impl::wait_until(steady_clock::time_point when, const Cancellation& by) {
  for (auto now = steady_clock::now(); now < when; now = steady_clock::now()) {
    const auto left = std::chrono::ceil<milliseconds>(when - now);
    if (!wait(by, std::min<milliseconds>(left, longest_wait))) return false;
  }
  return true;
}

void Client::Impl::drop_all() {
  while (!busy.empty()) idle.push_back(take(busy.begin()->first));
}

Client::Client(Settings settings) : impl_(std::make_unique<Impl>()) {
  initialize_library();
  impl_->settings = std::move(settings);
  impl_->multi = curl_multi_init();
  const long connections = static_cast<long>(impl_->settings.max_concurrent);
  curl_multi_setopt(impl_->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections);
  curl_multi_setopt(impl_->multi, CURLMOPT_MAXCONNECTS, connections);
}

Client::~Client() {
  impl_->drop_all();
  impl_->idle.clear();
  curl_multi_cleanup(impl_->multi);
}

const hawk::ServerClock& Client::server_clock() const {
  return *impl_->settings.server_clock;
}

Answer Client::send(Request request, const Cancellation& cancellation) {
  if (request.retry.attempts <= 1) return send_once(std::move(request), cancellation);
  const Retry retry = request.retry;
  const auto end =
      steady_clock::now() + cancellation.limit(request.timeout.value_or(impl_->settings.timeout));
  impl_->retry_budget.earn();
  for (int attempts = 1;; ++attempts) {
    request.timeout = std::chrono::ceil<milliseconds>(end - steady_clock::now());
    Answer answer = send_once(request, cancellation);
    if (attempts >= retry.attempts || !may_pass(answer)) return answer;
    const double random = std::uniform_real_distribution(0.0, 1.0)(impl_->random);
    const auto next = steady_clock::now() + retry_delay(retry, attempts, answer, random);
    // An answer now is better than a timeout later.
    if (next >= end || !impl_->retry_budget.spend()) return answer;
    if (!impl_->wait_until(next, cancellation)) return cancelled_failure;
  }
}

Answer Client::send_once(Request request, const Cancellation& cancellation) {
  Answer answer = cancelled_failure;
  bool given = false;
  send_all(
      [&](Request& next) {
        if (std::exchange(given, true)) return false;
        next = std::move(request);
        return true;
      },
      [&](std::size_t, Answer got) { answer = std::move(got); }, cancellation);
  return answer;
}

void Client::send_all(const std::function<bool(Request&)>& next,
                      const std::function<void(std::size_t, Answer)>& done,
                      const Cancellation& cancellation) {
  struct Guard {  // nothing stays behind if a callback throws
    Impl& impl;
    ~Guard() { impl.drop_all(); }
  } const guard{*impl_};
  std::size_t number = 0;
  bool more = true, cancelled = cancellation.requested();
  while (!cancelled) {
    while (more && impl_->busy.size() < impl_->settings.max_concurrent && !cancelled) {
      Request request;
      more = next(request);
      if (more) impl_->begin(std::move(request), number++, done, cancellation);
      cancelled = cancellation.requested();
    }
    if (impl_->busy.empty()) return;
    if (!impl_->finish_some(done, cancellation)) cancelled = !impl_->wait(cancellation);
  }
  while (!impl_->busy.empty()) {
    auto transfer = impl_->take(impl_->busy.begin()->first);
    const std::size_t ended = transfer->number();
    impl_->idle.push_back(std::move(transfer));
    done(ended, cancelled_failure);
  }
}

}  // namespace muster::http_client
