#include "host/wiring/follower_front.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include "lib/base/letter_case.hpp"
#include "lib/http/answer.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr const char* forwarded_by = "Muster-Forwarded-By";
constexpr const char* role_header = "Muster-Role";

// The answer of a stream as it comes; pulled by the connection's lane, filled by the thread that
// listens to the leader.
class RelayedStream final : public http::Stream {
 public:
  More pull(std::string& out) override {
    const std::lock_guard guard(mutex_);
    out += std::exchange(waiting_, {});
    return ended_ ? More::end : More::yes;
  }
  // False: too much waits, because the client takes nothing.
  bool add(std::string_view part) {
    constexpr std::size_t most = 4 << 20;
    const std::lock_guard guard(mutex_);
    if (waiting_.size() + part.size() > most) return false;
    waiting_ += part;
    return true;
  }
  void end() {
    const std::lock_guard guard(mutex_);
    ended_ = true;
  }

 private:
  std::mutex mutex_;
  std::string waiting_;
  bool ended_ = false;
};

struct ClientGone {};

// For everybody who asks; the reason, which may name what only operators should know, is in the
// log.
constexpr const char* not_led = "no host leads at the moment; the log of each host has the reason";

bool wants_a_stream(const http::Request& request) {
  if (request.method == "GET" && request.path == "/api/muster/v1/changes") return true;
  const auto accept = request.header("Accept");
  return request.method == "GET" && request.path == "/api/muster/v1/events" &&
         request.query.find("limit=") == std::string::npos &&
         (!accept || accept->find("application/json") == std::string_view::npos ||
          accept->find("text/event-stream") != std::string_view::npos);
}

// Answered when something happens, so it holds a connection for long.
bool may_last(const http::Request& request) {
  return wants_a_stream(request) ||
         (request.method == "GET" && request.query.find("wait=") != std::string::npos);
}

// As the client reached this host, or the proxy before it that is trusted.
std::string protocol_of(const http::Request& request) {
  if (request.secure) return "https";
  const auto told = request.header("X-Forwarded-Proto");
  if (!request.forwarded || !told) return "http";
  return std::string(told->substr(0, told->find(',')));
}

http::Response try_again(const http::Request& request, const std::string& code,
                         const std::string& why, const char* seconds) {
  http::Response refusal = http::error_answer(request, 503, code, why);
  refusal.headers.push_back({"Retry-After", seconds});
  return refusal;
}

http_client::Request request_to(const std::string& leader, const http::Request& from,
                                const std::string& name) {
  http_client::Request to;
  to.url = leader + from.target();
  to.method = from.method;
  for (const http::Header& header : from.headers)
    if (is_handed_on(header.name)) to.headers.push_back({header.name, header.value});
  // Signatures of clients cover the host that they named.
  if (!from.host_header.empty()) to.headers.push_back({"Host", from.host_header});
  to.headers.push_back({forwarded_by, name});
  if (const auto client = from.client_address())
    to.headers.push_back({"X-Forwarded-For", to_string(*client)});
  to.headers.push_back({"X-Forwarded-Proto", protocol_of(from)});
  if (const auto port = from.header("X-Forwarded-Port"); port && from.forwarded)
    to.headers.push_back({"X-Forwarded-Port", std::string(*port)});
  if (!from.body.empty() || (from.method != "GET" && from.method != "HEAD")) to.body = from.body;
  to.timeout = std::chrono::minutes(10);  // long polls end by themselves before
  return to;
}

// This host's own server writes these into every answer.
bool is_written_here(std::string_view header) {
  const std::string name = to_lower(header);
  return name == "x-for-request-id" || name == "x-for-trace-id" ||
         name == "x-content-type-options" || name.starts_with("access-control-");
}

http::Response response_of(http_client::Response&& from) {
  http::Response to{from.status, {}, std::move(from.body)};
  for (const http_client::Header& header : from.headers)
    if (is_handed_on(header.name) && header.name != role_header && !is_written_here(header.name))
      to.headers.push_back({header.name, header.value});
  return to;
}

}  // namespace

Forwarding after_failure(std::string_view method, bool sent) {
  const bool safe = method == "GET" || method == "HEAD";
  return !sent || safe ? Forwarding::again : Forwarding::answer;
}

bool is_handed_on(std::string_view header) {
  static constexpr std::array<std::string_view, 17> left_out{"connection",
                                                             "keep-alive",
                                                             "transfer-encoding",
                                                             "te",
                                                             "trailer",
                                                             "upgrade",
                                                             "proxy-connection",
                                                             "proxy-authorization",
                                                             "expect",
                                                             "content-length",
                                                             "accept-encoding",
                                                             "host",
                                                             "date",
                                                             "muster-forwarded-by",
                                                             "x-forwarded-for",
                                                             "x-forwarded-proto",
                                                             "x-forwarded-port"};
  const std::string name = to_lower(header);
  return std::ranges::find(left_out, name) == left_out.end();
}

FollowerFront::FollowerFront(Parts parts)
    : parts_(std::move(parts)),
      router_(parts_.log),
      threads_(std::make_unique<http::WorkerThreads>(parts_.most_at_once, 1024, parts_.log)),
      long_threads_(
          std::make_unique<http::WorkerThreads>(parts_.most_long, parts_.most_long, parts_.log)) {
  router_.add("GET", "/healthz", http::now([](const http::Request&) {
                return http::json_answer(json::object{{"status", "ok"}});
              }),
              http::Access::open);
  router_.add("GET", "/readyz",
              http::now([this](const http::Request& request) { return readiness(request); }),
              http::Access::open);
  const auto handler = [this](http::Request&& request, const http::Reply& reply) {
    hand_on(std::move(request), reply);
  };
  // The leader checks credentials; without any, no large body is taken for it.
  http::RouteRules rules;
  rules.check_head = [](http::Request& request) -> std::optional<http::Response> {
    if (request.header("Authorization") || request.header("Cookie")) return std::nullopt;
    return http::error_answer(request, 401, "AuthenticationFailed",
                              "a body of this size needs credentials");
  };
  for (const char* method : {"GET", "POST", "PUT", "PATCH", "DELETE"})
    for (const char* pattern : {"/", "/{*path}"}) router_.add(method, pattern, handler, rules);
}

FollowerFront::~FollowerFront() {
  stopping_ = true;
  threads_.reset();
  long_threads_.reset();
}

http::Response FollowerFront::readiness(const http::Request& request) const {
  const leadership::View view = parts_.view();
  if (view.role != leadership::Role::following)
    return http::error_answer(request, 503, "NotReady", not_led, {{"role", "neither"}});
  return http::json_answer(json::object{{"status", "ready"},
                                        {"role", "following"},
                                        {"leader", view.lead.holder},
                                        {"epoch", view.lead.epoch}});
}

void FollowerFront::hand_on(http::Request&& request, const http::Reply& reply) {
  const auto kept = std::make_shared<http::Request>(std::move(request));
  if (kept->header(forwarded_by)) {  // two followers that take each other for the leader
    http::Response refusal =
        http::error_answer(*kept, 503, "NotReady", "this host does not lead (any more)");
    refusal.headers.push_back({role_header, "following"});
    return reply(std::move(refusal));
  }
  const auto work = [this, kept, reply] { carry(*kept, reply); };
  const bool taken = may_last(*kept) ? hand_on_long(work) : threads_->run(work);
  if (taken) return;
  reply(try_again(*kept, "ServiceUnavailable",
                  "this host hands on as many requests as it can: ask another host, or try again "
                  "in a few seconds",
                  "5"));
}

// One that lasts waits in no line: nobody knows when its turn would come.
bool FollowerFront::hand_on_long(const std::function<void()>& work) {
  const bool fits = ++long_running_ <= parts_.most_long;
  const std::shared_ptr<void> place(nullptr, [this](void*) { --long_running_; });
  return fits && long_threads_->run([place, work] { work(); });
}

void FollowerFront::carry(const http::Request& request, const http::Reply& reply) {
  if (request.target().find('#') != std::string::npos)  // it would be cut off on the way
    return reply(http::error_answer(request, 400, "InputError",
                                    "the path or the query has a `#`: write %23"));
  const SteadyTime until = parts_.clock->steady() + parts_.patience;
  std::string problem = not_led;
  for (; !stopping_ && parts_.clock->steady() < until; std::this_thread::sleep_for(50ms)) {
    const leadership::View view = parts_.view();
    if (view.role != leadership::Role::following || view.lead.address.empty()) continue;
    http_client::Request to = request_to(view.lead.address, request, parts_.name);
    std::shared_ptr<RelayedStream> stream;
    if (wants_a_stream(request))
      to.on_body = [&](std::string_view part) {
        if (!stream) {
          stream = std::make_shared<RelayedStream>();
          http::Response begun{200,
                               {{"Content-Type", "text/event-stream"},
                                {"Cache-Control", "no-store"},
                                {"X-Accel-Buffering", "no"}},
                               ""};
          begun.stream = stream;
          reply(std::move(begun));
        }
        if (stream.use_count() == 1 || !stream->add(part)) throw ClientGone{};
      };
    auto client = take_client();
    try {
      auto answer = client->send(std::move(to), http_client::Cancellation(stopping_));
      give_back(std::move(client));
      if (stream) return stream->end();  // its client connects again
      using Kind = http_client::Failure::Kind;
      if (!answer && answer.error().kind == Kind::bad_request)
        return reply(http::error_answer(request, 400, "InputError",
                                        "the path or the query has a character that no URL may "
                                        "have: write it as a %-escape"));
      if (!answer) {
        problem = "the leading host " + view.lead.holder + " does not answer";
        const bool sent =
            answer.error().kind != Kind::no_connection && answer.error().kind != Kind::name_unknown;
        if (after_failure(request.method, sent) == Forwarding::again) continue;
        break;
      }
      if (answer->status == 503 && !answer->header(role_header).empty()) continue;
      return reply(response_of(std::move(*answer)));
    } catch (const ClientGone&) {
      return;
    }
  }
  reply(try_again(request, "NotReady", problem, "2"));
}

std::unique_ptr<http_client::Client> FollowerFront::take_client() {
  const std::lock_guard guard(mutex_);
  if (!clients_.empty()) {
    auto client = std::move(clients_.back());
    clients_.pop_back();
    return client;
  }
  http_client::Settings settings;
  settings.ca_file = parts_.ca_file.string();
  settings.connect_timeout = 3s;
  settings.max_body_bytes = std::size_t{256} << 20;
  settings.proxy = "";  // the leader is a neighbour
  return std::make_unique<http_client::Client>(std::move(settings));
}

void FollowerFront::give_back(std::unique_ptr<http_client::Client> client) {
  const std::lock_guard guard(mutex_);
  clients_.push_back(std::move(client));
}

}  // namespace muster
