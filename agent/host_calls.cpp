#include "agent/host_calls.hpp"

#include <muster/codec.hpp>

namespace muster::agent {
namespace {

using namespace std::chrono_literals;

constexpr const char* taskcluster_api = "/api/worker-manager/v1";
constexpr const char* own_api = "/api/muster/v1";

json::object named(const Place& place) {
  return {{"workerPoolId", place.worker_pool_id},
          {"providerId", place.provider_id},
          {"workerGroup", place.worker_group},
          {"workerId", place.worker_id}};
}

void answer_grant(const HostCalls::Granted& done, const CallOutcome& outcome,
                  const std::string& body) {
  if (outcome.kind != CallOutcome::Kind::done) return done(outcome, std::nullopt);
  auto grant = grant_of(body);
  if (!grant) return done({CallOutcome::Kind::try_again, grant.error().message}, std::nullopt);
  done(outcome, std::move(*grant));
}

}  // namespace

HostCalls::HostCalls(HttpClient& http, const Clock& clock, Milliseconds timeout)
    : http_(http), clock_(clock), timeout_(timeout) {}

void HostCalls::use(const Place& place, const hawk::Credentials& credentials) {
  place_ = place;
  credentials_ = credentials;
}

void HostCalls::learn_time(const HttpAnswer& answer) {
  if (!is_from_host(answer)) return;
  const std::string* header = answer.header("date");
  if (const auto date = header ? hawk::parse_http_date(*header) : std::nullopt)
    host_clock_.observe(*date, clock_.now());
}

std::string HostCalls::authorization(const std::string& method, const std::string& url) const {
  const auto parsed = parse_http_url(url);
  return parsed ? hawk::authorization_for(credentials_, method, *parsed, host_time()) : "";
}

void HostCalls::call(const std::string& method, const std::string& url, const json::object* body,
                     bool is_signed, Handled done) {
  HttpRequest request{.method = method, .url = url, .timeout = timeout_};
  if (body) {
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = json::write(*body);
  }
  if (is_signed) request.headers.emplace_back("Authorization", authorization(method, url));
  const Milliseconds offset_then = offset();
  http_.send(std::move(request), [=, this,
                                  done = std::move(done)](const Result<HttpAnswer>& answer) {
    if (answer) learn_time(*answer);
    CallOutcome outcome = call_outcome_of(answer, host_time());
    if (answer && answer->status == 401 && is_signed && host_clock_.explains_refusal(offset_then))
      outcome.kind = CallOutcome::Kind::wrong_clock;
    done(outcome, answer ? answer->body : std::string());
  });
}

// -------------------------------------------------------------------------------------------------
// Before there are credentials

void HostCalls::register_worker(const Place& place, const json::object& proof, Time boot,
                                Granted done) {
  json::object body = named(place);
  body["workerIdentityProof"] = proof;
  body["systemBootTime"] = format_time(boot);
  call("POST", place.root_url + taskcluster_api + "/worker/register", &body, false,
       [done = std::move(done)](const CallOutcome& outcome, const std::string& answer) {
         answer_grant(done, outcome, answer);
       });
}

void HostCalls::register_at_relay(const std::string& relay_url, const Place& place,
                                  const json::object& description, Time boot, Granted done) {
  json::object body;
  body["systemBootTime"] = format_time(boot);
  if (!place.worker_pool_id.empty()) body["workerPoolId"] = place.worker_pool_id;
  for (const auto& member : description) body[member.key()] = member.value();
  call("POST", relay_url + "/api/muster-relay/v1/register", &body, false,
       [done = std::move(done)](const CallOutcome& outcome, const std::string& answer) {
         answer_grant(done, outcome, answer);
       });
}

void HostCalls::challenge(const Place& place,
                          std::function<void(const CallOutcome&, std::string)> done) {
  const json::object body = named(place);
  call("POST", place.root_url + own_api + "/registration-challenges", &body, false,
       [done = std::move(done)](const CallOutcome& outcome, const std::string& answer) {
         if (outcome.kind != CallOutcome::Kind::done) return done(outcome, "");
         const auto parsed = json::parse_object(answer);
         const json::value* text = parsed ? parsed->if_contains("challenge") : nullptr;
         if (!text || !text->is_string())
           return done({CallOutcome::Kind::try_again, "the host's answer has no challenge"}, "");
         done(outcome, std::string(text->get_string()));
       });
}

// -------------------------------------------------------------------------------------------------
// With credentials

std::string HostCalls::worker_path() const {
  return encode_segment(place_.worker_pool_id) + "/" + encode_segment(place_.worker_group) + "/" +
         encode_segment(place_.worker_id);
}

void HostCalls::renew(const Secret& secret, Granted done) {
  json::object body{{"workerPoolId", place_.worker_pool_id},
                    {"workerGroup", place_.worker_group},
                    {"workerId", place_.worker_id},
                    {"secret", secret.reveal()}};
  call("POST", place_.root_url + taskcluster_api + "/worker/reregister", &body, true,
       [done = std::move(done)](const CallOutcome& outcome, const std::string& answer) {
         answer_grant(done, outcome, answer);
       });
}

void HostCalls::report_error(const std::string& kind, const std::string& title,
                             const std::string& description, const json::object& extra,
                             Answered done) {
  const json::object body{{"workerGroup", place_.worker_group},
                          {"workerId", place_.worker_id},
                          {"kind", kind},
                          {"title", title},
                          {"description", description},
                          {"extra", extra}};
  call("POST",
       place_.root_url + taskcluster_api + "/worker-pool-errors/" +
           encode_segment(place_.worker_pool_id),
       &body, true,
       [done = std::move(done)](const CallOutcome& outcome, const std::string&) { done(outcome); });
}

void HostCalls::report(const char* what, const json::object& body, Answered done) {
  const std::string path = encode_segment(place_.worker_pool_id) + "/workers/" +
                           encode_segment(place_.worker_group) + "/" +
                           encode_segment(place_.worker_id) + "/" + what;
  call("POST", place_.root_url + own_api + "/pools/" + path, &body, true,
       [done = std::move(done)](const CallOutcome& outcome, const std::string&) { done(outcome); });
}

void HostCalls::report_interruption(Time at, const std::string& reason, Answered done) {
  const json::object body{{"at", format_time(at)}, {"reason", reason}};
  report("interruption", body, std::move(done));
}

void HostCalls::report_activity(int busy, Answered done) {
  json::object body;
  body["busy"] = busy;
  report("activity", body, std::move(done));
}

void HostCalls::report_log(std::int64_t from, std::int64_t next, const std::string& text,
                           Answered done) {
  const json::object body{{"from", from}, {"next", next}, {"text", text}};
  report("log", body, std::move(done));
}

void HostCalls::ask_advice(
    std::function<void(const CallOutcome&, bool terminate, std::string reason)> done) {
  call("GET", place_.root_url + taskcluster_api + "/workers/" + worker_path() + "/should-terminate",
       nullptr, true,
       [done = std::move(done)](const CallOutcome& outcome, const std::string& body) {
         if (outcome.kind != CallOutcome::Kind::done) return done(outcome, false, "");
         const auto parsed = json::parse_object(body);
         const json::value* terminate = parsed ? parsed->if_contains("terminate") : nullptr;
         if (!terminate || !terminate->is_bool())
           return done({CallOutcome::Kind::try_again, "the host's answer says nothing"}, false, "");
         const json::value* reason = parsed->if_contains("reason");
         done(outcome, terminate->get_bool(),
              reason && reason->is_string() ? std::string(reason->get_string()) : "");
       });
}

void HostCalls::remove(Answered done) {
  call("DELETE", place_.root_url + taskcluster_api + "/workers/" + worker_path(), nullptr, true,
       [done = std::move(done)](const CallOutcome& outcome, const std::string&) { done(outcome); });
}

}  // namespace muster::agent
