// Registration beside what Taskcluster's clients know: the challenges that machines sign, and the
// way in for machines that a relay vouches for.
#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/handlers.hpp"
#include "host/auth/authority.hpp"
#include "host/auth/guard.hpp"
#include "host/identifiers/identifiers.hpp"
#include "host/registration/registrar.hpp"

namespace muster::api {
namespace {

using registration::Application;
using registration::Claim;
using registration::GrantedCredentials;
using registration::Registrar;

constexpr std::size_t longest_host_name = 255;

Registrar& registrar_of(const Call& call) {
  return *services_of(call).registrar;
}

Failure failure_of(const registration::Refusal& refusal) {
  return {registration::code_of(refusal.reason), refusal.message, refusal.retry_after};
}

// -------------------------------------------------------------------------------------------------
// Bodies

bool is_short_text(std::string_view text, std::size_t longest) {
  return !text.empty() && text.size() <= longest &&
         std::ranges::none_of(text, [](unsigned char c) { return c <= 0x20 || c == 0x7f; });
}

// Reads members by name; what is left in the end is not known.
class Members {
 public:
  explicit Members(json::object body) : body_(std::move(body)) {}

  std::string text(const char* name, const char* form, bool (*fits)(std::string_view)) {
    auto given = optional_text(name, form, fits);
    if (!given) problem("`" + std::string(name) + "` is missing");
    return given.value_or("");
  }

  std::optional<std::string> optional_text(const char* name, const char* form,
                                           bool (*fits)(std::string_view)) {
    const json::value* value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_string() || !fits(value->get_string()))
      problem("`" + std::string(name) + "` must be " + form);
    return value->is_string() ? std::string(value->get_string()) : "";
  }

  std::optional<json::object> object_of_texts(const char* name) {
    const json::value* value = take(name);
    if (!value) return std::nullopt;
    const json::object* object = value->if_object();
    if (!object || !std::ranges::all_of(
                       *object, [](const auto& member) { return member.value().is_string(); }))
      problem("`" + std::string(name) + "` must be an object of strings");
    return object ? *object : json::object();
  }

  std::optional<json::object> object(const char* name) {
    const json::value* value = take(name);
    if (!value) return std::nullopt;
    if (!value->is_object()) problem("`" + std::string(name) + "` must be an object");
    return value->is_object() ? value->get_object() : json::object();
  }

  // What is wrong, if anything is.
  std::optional<std::string> problem_left() {
    for (const auto& member : body_)
      if (std::ranges::find(known_, std::string_view(member.key())) == known_.end())
        problem("`" + std::string(member.key()) + "` is not known here");
    return problem_;
  }

 private:
  const json::value* take(const char* name) {
    known_.emplace_back(name);
    return body_.if_contains(name);
  }
  void problem(std::string text) {
    if (!problem_) problem_ = std::move(text);
  }

  json::object body_;
  std::vector<std::string_view> known_;
  std::optional<std::string> problem_;
};

bool is_host_name(std::string_view text) {
  return is_short_text(text, longest_host_name);
}
bool is_time(std::string_view text) {
  return parse_time(text).has_value();
}

bool is_address(std::string_view text) {
  return text.size() < 64 && !registration::network_of(std::string(text)).empty();
}

// -------------------------------------------------------------------------------------------------
// Challenges

std::optional<Failure> refuse_peer(const Call& call) {
  const auto refusal = registrar_of(call).check_peer(registration::address_of(call.request()));
  if (!refusal) return std::nullopt;
  return failure_of(*refusal);
}

// What is not even a question is a registration that failed.
void note_malformed(const Call& call) {
  registrar_of(call).note_malformed_request(registration::address_of(call.request()));
}

Answer make_challenge(const Call& call) {
  Members members(call.body());
  Claim claim;
  claim.name.worker_pool_id = WorkerPoolId(members.text(
      "workerPoolId", "of the form provisionerId/workerType", identifiers::is_worker_pool_id));
  claim.provider = ProviderId(
      members.text("providerId", "1 to 38 letters, digits, - and _", identifiers::is_name));
  const char* form = "1 to 38 letters, digits, - and _";
  claim.name.worker_group = WorkerGroup(members.text("workerGroup", form, identifiers::is_name));
  claim.name.worker_id = WorkerId(members.text("workerId", form, identifiers::is_name));
  if (auto problem = members.problem_left()) {
    note_malformed(call);
    return input_error(std::move(*problem));
  }
  const registration::Challenge made = registrar_of(call).make_challenge(claim);
  return json_answer(
      json::object{{"challenge", made.text}, {"expires", format_time(made.expires)}});
}

// -------------------------------------------------------------------------------------------------
// Relays

struct RelayRequest {
  ProviderId provider;
  Voucher voucher;
  std::optional<WorkerPoolId> pool;
  std::optional<Time> booted;
  std::optional<json::object> state, queue;
};

boost::system::result<RelayRequest, std::string> relay_request(json::object body,
                                                               const std::string& relay) {
  Members members(std::move(body));
  RelayRequest wanted;
  wanted.provider = ProviderId(
      members.text("providerId", "1 to 38 letters, digits, - and _", identifiers::is_name));
  wanted.voucher = {relay, members.text("hostName", "the name of a machine", is_host_name),
                    members.text("address", "an IPv4 or IPv6 address", is_address)};
  if (auto pool = members.optional_text("workerPoolId", "of the form provisionerId/workerType",
                                        identifiers::is_worker_pool_id))
    wanted.pool = WorkerPoolId(*pool);
  if (const auto time =
          members.optional_text("systemBootTime", "a time such as 2026-01-02T03:04:05Z", is_time))
    wanted.booted = parse_time(*time);
  wanted.state = members.object_of_texts("state");
  wanted.queue = members.object("queue");
  if (auto problem = members.problem_left()) return *problem;
  return wanted;
}

json::object granted_document(const GrantedCredentials& granted) {
  return {{"workerPoolId", granted.claim.name.worker_pool_id.str()},
          {"providerId", granted.claim.provider.str()},
          {"workerGroup", granted.claim.name.worker_group.str()},
          {"workerId", granted.claim.name.worker_id.str()},
          {"expires", format_time(granted.expires)},
          {"credentials", json::object{{"clientId", granted.credentials.client_id},
                                       {"accessToken", granted.credentials.access_token},
                                       {"certificate", granted.credentials.certificate}}},
          {"workerConfig", granted.worker_config},
          {"secret", granted.renewal_secret.reveal()}};
}

Application application_of(RelayRequest wanted) {
  Application application;
  application.claim.provider = wanted.provider;
  if (wanted.pool) application.claim.name.worker_pool_id = *wanted.pool;
  if (wanted.state) application.proof["state"] = std::move(*wanted.state);
  if (wanted.queue) application.proof["queue"] = std::move(*wanted.queue);
  application.address = wanted.voucher.address;
  application.booted = wanted.booted;
  application.voucher = std::move(wanted.voucher);
  return application;
}

// The role `anonymous` is no relay, whatever scopes it has.
void register_for_relay(const CallPtr& call) {
  if (call->client_id().empty())
    return call->respond(auth::unauthenticated(
        call->request(), Error::auth("a relay signs its requests: its client needs the scope "
                                     "muster:relay:<providerId> and nothing else")));
  auto wanted = relay_request(call->body(), call->client_id());
  if (!wanted) return call->fail(input_error(wanted.error()));
  if (const auto refusal = registrar_of(*call).check_relay(call->client_id()))
    return call->fail(failure_of(*refusal));
  registrar_of(*call).register_worker(
      application_of(std::move(*wanted)), [call](const registration::Outcome& outcome) {
        call->finish(outcome ? json_answer(granted_document(*outcome))
                             : failure_of(outcome.error()));
      });
}

}  // namespace

std::vector<Endpoint> registration_endpoints() {
  return {
      {.name = "makeRegistrationChallenge",
       .method = "POST",
       .path = base + "/registration-challenges",
       .scopes = open_to_all("a machine that registers has no credentials yet"),
       .handler = make_challenge,
       .input = "ChallengeRequest",
       .audit = not_audited("it changes nothing that lasts"),
       .max_body_bytes = 4 * 1024,
       .output = "Challenge",
       .errors = {bad_input, "TooManyRequests"},
       .category = "workers",
       .title = "A text for a machine to sign with its pool key",
       .description = "Good for two minutes and for one registration of exactly this worker. It "
                      "tells nothing about what there is.",
       .refuse_at_once = refuse_peer,
       .note_bad_request = note_malformed},
      {.name = "registerForRelay",
       .method = "POST",
       .path = base + "/relay-registrations",
       .scopes = all_of({"muster:relay:<providerId>"}),
       .handler = register_for_relay,
       .input = "RelayRegistrationRequest",
       .audit = not_audited("each answer is an event relay-registration"),
       .output = "RelayRegistration",
       .errors = {bad_input, missing, expired, "TooManyRequests", unavailable},
       .category = "workers",
       .title = "A relay vouches for a machine and gets its credentials",
       .description =
           "The relay needs the scope `muster:relay:<providerId>` and nothing else. The provider "
           "says which worker the machine is. Each answer is an event `relay-registration`."},
  };
}

}  // namespace muster::api
