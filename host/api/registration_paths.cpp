#include "host/api/registration_paths.hpp"

#include <algorithm>
#include <arpa/inet.h>

#include <muster/codec.hpp>

#include "host/auth/authority.hpp"
#include "host/auth/guard.hpp"
#include "host/fleet/service.hpp"
#include "host/registration/registering.hpp"
#include "host/registration/registration.hpp"
#include "host/taskcluster_api/pattern.hpp"
#include "lib/http/answer.hpp"

namespace muster::taskcluster_api {
namespace {

using http::error_answer;
using http::Reply;
using http::Request;
using http::Response;
using ApiPtr = std::shared_ptr<const Api>;
using RequestPtr = std::shared_ptr<const Request>;

constexpr std::size_t longest_provider_id = 100;
constexpr std::size_t longest_host_name = 255;

Response refused(const Request& request, const Failure& failure) {
  Response response = error_answer(request, status_of(failure.code), failure.code, failure.message);
  if (failure.retry_after)
    response.headers.push_back({"Retry-After", std::to_string(failure.retry_after->count())});
  return response;
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

bool is_provider_id(std::string_view text) {
  return is_short_text(text, longest_provider_id);
}
bool is_host_name(std::string_view text) {
  return is_short_text(text, longest_host_name);
}
bool is_time(std::string_view text) {
  return parse_time(text).has_value();
}

// The name of a bucket: the address itself, or of IPv6 the network, for a machine has all of one.
// Empty if it is no address.
std::string bucket_of(std::string_view address) {
  const std::string text(address);
  std::array<unsigned char, 16> bytes{};
  if (::inet_pton(AF_INET, text.c_str(), bytes.data()) == 1) return text;
  if (::inet_pton(AF_INET6, text.c_str(), bytes.data()) != 1) return {};
  std::fill(bytes.begin() + 8, bytes.end(), 0);
  std::array<char, INET6_ADDRSTRLEN> network{};
  ::inet_ntop(AF_INET6, bytes.data(), network.data(), network.size());
  return network.data();
}

bool is_address(std::string_view text) {
  return text.size() < 64 && !bucket_of(text).empty();
}

// -------------------------------------------------------------------------------------------------
// Challenges

// What is not even a question is a registration that failed.
Response make_challenge(const Api& api, const Request& request) {
  if (const auto refusal = refuse_peer(api, request)) return refused(request, *refusal);
  const auto mistake = [&](Response answer) {
    api.registrations->failures.failed(address_of(request.peer), "", api.parts.clock->steady());
    return answer;
  };
  auto body = http::json_body(request);
  if (!body) return mistake(body.error());
  Members members(std::move(*body));
  Claim claim;
  claim.name.worker_pool_id = WorkerPoolId(members.text(
      "workerPoolId", "of the form provisionerId/workerType", worker_pool_id_pattern.matches));
  claim.provider = ProviderId(members.text("providerId", "the name of a provider", is_provider_id));
  const char* form = "1 to 38 letters, digits, - and _";
  claim.name.worker_group = WorkerGroup(members.text("workerGroup", form, name_pattern.matches));
  claim.name.worker_id = WorkerId(members.text("workerId", form, name_pattern.matches));
  if (const auto problem = members.problem_left())
    return mistake(error_answer(request, 400, "InputError", *problem));
  const Challenge made = api.registrations->challenges.make(claim, api.parts.clock->now());
  return http::json_answer(
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
  wanted.provider =
      ProviderId(members.text("providerId", "the name of a provider", is_provider_id));
  wanted.voucher = {relay, members.text("hostName", "the name of a machine", is_host_name),
                    members.text("address", "an IPv4 or IPv6 address", is_address)};
  if (auto pool = members.optional_text("workerPoolId", "of the form provisionerId/workerType",
                                        worker_pool_id_pattern.matches))
    wanted.pool = WorkerPoolId(*pool);
  if (const auto time =
          members.optional_text("systemBootTime", "a time such as 2026-01-02T03:04:05Z", is_time))
    wanted.booted = parse_time(*time);
  wanted.state = members.object_of_texts("state");
  wanted.queue = members.object("queue");
  if (auto problem = members.problem_left()) return *problem;
  return wanted;
}

// Every answer to a relay is an event: who was let in, or was not, and why.
events::Event relay_event(const Claim& claim, const Voucher& voucher, const Failure* failure) {
  events::Event event{.kind = "relay-registration"};
  event.provider_id = claim.provider;
  event.worker_pool_id = claim.name.worker_pool_id;
  event.worker_group = claim.name.worker_group;
  event.worker_id = claim.name.worker_id;
  const std::string machine = voucher.host_name + " (" + voucher.address + ")";
  event.text = failure ? machine + " was refused: " + failure->message
                       : machine + " registered as worker " + claim.key();
  event.details = {{"accepted", failure == nullptr},
                   {"relay", voucher.by},
                   {"hostName", voucher.host_name},
                   {"address", voucher.address}};
  if (failure) {
    event.details["code"] = failure->code;
    event.details["reason"] = failure->message;
  }
  return event;
}

json::object granted_document(const Api& api, const Granted& granted) {
  const WorkerCredentials credentials = credentials_for(api, granted);
  return {{"workerPoolId", granted.claim.name.worker_pool_id.str()},
          {"providerId", granted.claim.provider.str()},
          {"workerGroup", granted.claim.name.worker_group.str()},
          {"workerId", granted.claim.name.worker_id.str()},
          {"expires", format_time(granted.registered.credentials_expire)},
          {"credentials", json::object{{"clientId", credentials.client_id},
                                       {"accessToken", credentials.access_token},
                                       {"certificate", credentials.certificate}}},
          {"workerConfig", granted.registered.worker_config},
          {"secret", granted.secret.reveal()}};
}

Applicant relayed(const ApiPtr& api, RelayRequest wanted, const RequestPtr& request,
                  const Reply& reply) {
  Applicant applicant;
  applicant.claim.provider = wanted.provider;
  if (wanted.pool) applicant.claim.name.worker_pool_id = *wanted.pool;
  if (wanted.state) applicant.proof["state"] = std::move(*wanted.state);
  if (wanted.queue) applicant.proof["queue"] = std::move(*wanted.queue);
  applicant.address = wanted.voucher.address;
  // By the machine, so that one which fails keeps no other out.
  applicant.peer_key = relay_key(wanted.voucher.by);
  applicant.worker_key = bucket_of(wanted.voucher.address);
  applicant.booted = wanted.booted;
  applicant.refuse = [api, request, reply, voucher = wanted.voucher](const Claim& claim,
                                                                     const Failure& failure) {
    if (api->parts.fleet)
      api->parts.fleet->post([event = relay_event(claim, voucher, &failure)](
                                 fleet::Fleet& fleet, fleet::Now now) { fleet.tell(event, now); });
    reply(refused(*request, failure));
  };
  applicant.grant = [api, reply](const Granted& granted) {
    reply(http::json_answer(granted_document(*api, granted)));
  };
  applicant.witness = [voucher = wanted.voucher](fleet::Fleet& fleet, const Claim& claim,
                                                 fleet::Now now) {
    fleet.tell(relay_event(claim, voucher, nullptr), now);
  };
  applicant.voucher = std::move(wanted.voucher);
  return applicant;
}

// The scope names the provider, which only the body says.
void register_for_relay(const ApiPtr& api, Request&& given, const Reply& reply) {
  const auto request = std::make_shared<const Request>(std::move(given));
  auto caller = request->caller ? request->caller : nullptr;
  if (!caller) {
    auto known = api->parts.authority->authenticate(*request);
    if (!known) return reply(auth::unauthenticated(*request, known.error()));
    caller = *known;
  }
  if (caller->client_id.empty())
    return reply(auth::unauthenticated(
        *request, Error::auth("a relay signs its requests: its client needs the scope "
                              "muster:relay:<providerId> and nothing else")));
  auto body = http::json_body(*request);
  if (!body) return reply(body.error());
  auto wanted = relay_request(std::move(*body), caller->client_id);
  if (!wanted) return reply(error_answer(*request, 400, "InputError", wanted.error()));
  const auto scope = auth::scope("muster:relay:" + wanted->provider.str());
  if (auto refusal = auth::Authority::refuse(*caller, scope))
    return reply(error_answer(*request, 403, "InsufficientScopes", *refusal));
  if (const auto wait = api->registrations->failures.must_wait(relay_key(caller->client_id),
                                                               api->parts.clock->steady()))
    return reply(refused(
        *request, {"TooManyRequests", "too many registrations by this relay failed lately", wait}));
  register_applicant(api, relayed(api, std::move(*wanted), request, reply));
}

}  // namespace

void add_own_paths(http::Router& router, const ApiPtr& api) {
  router.add("POST", "/api/muster/v1/registration-challenges",
             http::now([api](const Request& request) { return make_challenge(*api, request); }),
             http::Access::open);
  router.add("POST", "/api/muster/v1/relay-registrations",
             [api](Request&& request, const Reply& reply) {
               register_for_relay(api, std::move(request), reply);
             });
}

}  // namespace muster::taskcluster_api
