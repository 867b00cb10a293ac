#include "relay/relay.hpp"

#include "lib/http/answer.hpp"
#include "relay/sender.hpp"

namespace muster::relay {
namespace {

using std::chrono::seconds;

constexpr seconds retry_dns{10}, retry_busy{5}, retry_host{15}, retry_credentials{60};

struct Refusal {
  RegistrationOutcome outcome;
  const char* code;
  const char* message;  // for the machine: which check failed, and nothing of what the DNS said
};

Refusal refusal_of(Finding finding) {
  switch (finding) {
    case Finding::no_reverse_name:
      return {RegistrationOutcome::no_reverse_name, "NoReverseName",
              "this address has no host name in the DNS; it needs a PTR record"};
    case Finding::name_not_allowed:
      return {RegistrationOutcome::name_not_allowed, "NameNotAllowed",
              "the relay does not vouch for the host name of this address; see allowedNames"};
    default:
      return {RegistrationOutcome::name_not_confirmed, "NameNotConfirmed",
              "the host name of this address does not lead back to it; its A or AAAA record must "
              "hold this address"};
  }
}

// Empty: the body may be passed on.
std::string mistake_in(const json::object& body) {
  for (const auto& [key, value] : body) {
    if (key == "workerPoolId" || key == "systemBootTime") {
      if (!value.is_string()) return std::string(key) + " must be a string";
    } else if (key == "state") {
      if (!value.is_object()) return "state must be an object";
      for (const auto& [name, text] : value.get_object())
        if (!text.is_string()) return "every value of state must be a string";
    } else if (key == "queue") {
      if (!value.is_object()) return "queue must be an object";
    } else {
      return "there is no `" + std::string(key) +
             "`; a machine says workerPoolId, systemBootTime, state and queue at most";
    }
  }
  return {};
}

seconds rounded_up(std::chrono::nanoseconds time) {
  return std::max(seconds(1), std::chrono::ceil<seconds>(time));
}

}  // namespace

struct Relay::Exchange {
  http::Request request;
  http::Reply reply;
  std::shared_ptr<const Settings> settings;
  SteadyTime began;
  Address address = {};
  json::object body = {};
  AuditEntry audit = {};
};

Relay::Relay(Parts parts, std::shared_ptr<const Settings> settings)
    : parts_(parts), settings_(std::move(settings)) {}

void Relay::replace_settings(std::shared_ptr<const Settings> settings) {
  const std::lock_guard guard(mutex_);
  settings_ = std::move(settings);
}

std::shared_ptr<const Settings> Relay::settings() const {
  const std::lock_guard guard(mutex_);
  return settings_;
}

void Relay::answer(http::Request&& request, const http::Reply& reply) {
  const auto exchange = std::make_shared<Exchange>(
      Exchange{std::move(request), reply, settings(), parts_.clock.steady()});
  exchange->audit.time = parts_.clock.now();
  exchange->audit.request_id = exchange->request.id;
  exchange->audit.peer = exchange->request.peer;
  if (refused_at_the_door(exchange) || refused_for_its_body(exchange)) return;
  parts_.verifier.verify(exchange->address, [this, exchange](const auto& verdict, Source source) {
    on_verdict(exchange, verdict, source);
  });
}

bool Relay::refused_at_the_door(const Shared& exchange) {
  const Settings& settings = *exchange->settings;
  const auto sender = sender_of(exchange->request, settings.trusted_proxies);
  if (!sender) {
    refuse(exchange, RegistrationOutcome::sender_unclear, 403, "SenderUnclear",
           sender.error().message);
    return true;
  }
  exchange->address = *sender;
  exchange->audit.address = to_text(*sender);
  if (!settings.allowed_networks.contain(*sender)) {
    refuse(exchange, RegistrationOutcome::address_not_allowed, 403, "AddressNotAllowed",
           "the relay does not serve this address; see allowedNetworks");
    return true;
  }
  const auto wait = rate_limit_.charge(*sender, settings.rate, exchange->began);
  if (wait.count() > 0) {
    refuse(exchange, RegistrationOutcome::rate_limited, 429, "TooManyRequests",
           "this address asks too often; see Retry-After", rounded_up(wait));
    return true;
  }
  return false;
}

bool Relay::refused_for_its_body(const Shared& exchange) {
  const std::string& text = exchange->request.body;
  std::string wrong;
  if (!text.empty()) {
    auto body = json::parse_object(text, {.max_depth = 4});
    if (body)
      exchange->body = std::move(*body);
    else
      wrong = "the body must be a JSON object: " + body.error().message;
  }
  if (wrong.empty()) wrong = mistake_in(exchange->body);
  if (const auto* pool = exchange->body.if_contains("workerPoolId"); pool && pool->is_string())
    exchange->audit.worker_pool_id = std::string(pool->get_string()).substr(0, 128);
  if (wrong.empty()) return false;
  refuse(exchange, RegistrationOutcome::bad_request, 400, "InputError", wrong);
  return true;
}

void Relay::on_verdict(const Shared& exchange, const std::shared_ptr<const Verdict>& verdict,
                       Source source) {
  if (!verdict)
    return refuse(exchange, RegistrationOutcome::too_busy, 503, "ServiceUnavailable",
                  "the relay looks up too many machines at the moment; see Retry-After",
                  retry_busy);
  exchange->audit.names = verdict->names_seen;
  exchange->audit.cached = source == Source::cache;
  exchange->audit.why = verdict->reason;
  if (verdict->finding == Finding::dns_failed)
    return refuse(exchange, RegistrationOutcome::dns_failed, 503, "DnsFailed",
                  std::string("the DNS did not say who this address is (") +
                      to_string(verdict->failure.value_or(DnsResult::timed_out)) +
                      "); see Retry-After",
                  retry_dns);
  if (verdict->finding != Finding::accepted) {
    const Refusal refusal = refusal_of(verdict->finding);
    return refuse(exchange, refusal.outcome, 403, refusal.code, refusal.message);
  }
  exchange->audit.accepted_name = verdict->name;
  if (!parts_.workers.run([this, exchange] { ask_host(exchange); }))
    refuse(exchange, RegistrationOutcome::too_busy, 503, "ServiceUnavailable",
           "too many machines wait for the host at the moment; see Retry-After", retry_busy);
}

void Relay::ask_host(const Shared& exchange) {
  json::object body = std::move(exchange->body);
  body["providerId"] = exchange->settings->host.provider_id;
  body["hostName"] = exchange->audit.accepted_name;
  body["address"] = exchange->audit.address;
  const SteadyTime began = parts_.clock.steady();
  HostAnswer answer = parts_.host.register_machine(body);
  parts_.counters.count_host(answer.status, parts_.clock.steady() - began);
  if (answer.status != 0) exchange->audit.host_status = answer.status;
  pass_on(exchange, std::move(answer));
}

// What the host says about the machine goes to the machine as it is. What it says about the relay
// is for the operator, and no reason for the machine to give up.
void Relay::pass_on(const Shared& exchange, HostAnswer answer) {
  exchange->audit.why.clear();
  if (answer.status == 0) {
    exchange->audit.why = "no answer of the host: " + answer.error;
    return refuse(exchange, RegistrationOutcome::host_failed, 503, "HostUnreachable",
                  "the relay got no answer of the host; see Retry-After", retry_host);
  }
  if (answer.status == 401 || answer.status == 403) {
    const auto parsed = json::parse_object(answer.body);
    const auto* message = parsed ? parsed->if_contains("message") : nullptr;
    exchange->audit.why = "the host does not accept the relay's own credentials";
    if (message && message->is_string())
      exchange->audit.why += ": " + std::string(message->get_string()).substr(0, 500);
    return refuse(exchange, RegistrationOutcome::relay_refused, 503, "RelayNotAccepted",
                  "the host does not accept this relay; its operator must look at its log",
                  retry_credentials);
  }
  http::Response response{static_cast<int>(answer.status),
                          {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                          std::move(answer.body)};
  if (answer.retry_after)
    response.headers.push_back({"Retry-After", std::to_string(answer.retry_after->count())});
  const RegistrationOutcome outcome = answer.status < 300   ? RegistrationOutcome::registered
                                      : answer.status < 500 ? RegistrationOutcome::host_refused
                                                            : RegistrationOutcome::host_failed;
  finish(exchange, outcome, std::move(response));
}

void Relay::refuse(const Shared& exchange, RegistrationOutcome outcome, int status,
                   std::string_view code, const std::string& message,
                   std::optional<seconds> retry_after) {
  if (exchange->audit.why.empty()) exchange->audit.why = message;
  http::Response response = http::error_answer(exchange->request, status, code, message);
  if (retry_after)
    response.headers.push_back({"Retry-After", std::to_string(retry_after->count())});
  finish(exchange, outcome, std::move(response));
}

// Noted before it is sent: there is no answer without its line.
void Relay::finish(const Shared& exchange, RegistrationOutcome outcome, http::Response response) {
  AuditEntry& entry = exchange->audit;
  entry.outcome = outcome;
  entry.status = response.status;
  entry.took = parts_.clock.steady() - exchange->began;
  parts_.counters.count(outcome, entry.took);
  parts_.audit.note(entry, parts_.counters);
  exchange->reply(std::move(response));
}

}  // namespace muster::relay
