// Workers prove who they are and get credentials; later they renew them.
#include "host/registration/registration.hpp"

#include <muster/codec.hpp>

#include "host/fleet/service.hpp"
#include "host/registration/registering.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::taskcluster_api {
namespace {

using fleet::Fleet;
using fleet::Now;
using fleet::WorkerName;

WorkerName name_in(const Call& call) {
  return {WorkerPoolId(call.text("workerPoolId")), WorkerGroup(call.text("workerGroup")),
          WorkerId(call.text("workerId"))};
}

std::string answer_with_credentials(const Api& api, const Granted& granted) {
  const WorkerCredentials credentials = credentials_for(api, granted);
  PrettyText text;
  text.begin_object().key("expires").time(granted.registered.credentials_expire);
  text.key("credentials").begin_object().key("clientId").string(credentials.client_id);
  text.key("accessToken").string(credentials.access_token);
  text.key("certificate").string(credentials.certificate).end_object();
  text.key("workerConfig").object(granted.registered.worker_config);
  text.key("secret").string(granted.secret.reveal());
  return text.end_object().take();
}

}  // namespace

std::optional<Failure> refuse_peer(const Api& api, const http::Request& request) {
  const auto wait =
      api.registrations->failures.must_wait(address_of(request.peer), api.parts.clock->steady());
  if (!wait) return std::nullopt;
  api.registrations->meters.count("unknown", RegistrationOutcome::limited);
  return Failure{"TooManyRequests", "too many registrations from this address failed lately", wait};
}

void register_worker(const CallPtr& call) {
  Claim claim{name_in(*call), ProviderId(call->text("providerId"))};
  const std::string address = address_of(call->request().peer);
  std::string worker_key = claim.key();
  Applicant applicant{
      .claim = std::move(claim),
      .proof = call->body().at("workerIdentityProof").as_object(),
      .address = address,
      .peer_key = address,
      .worker_key = std::move(worker_key),
      .refuse = [call](const Claim&, const Failure& failure) { call->fail(failure); },
      .grant =
          [call](const Granted& granted) {
            call->answer(answer_with_credentials(call->api(), granted));
          }};
  if (call->body().contains("systemBootTime"))
    applicant.booted = parse_time(call->text("systemBootTime"));
  register_applicant(call->shared_api(), std::move(applicant));
}

void reregister_worker(const CallPtr& call) {
  const WorkerName name = name_in(*call);
  if (!call->authorize({{"workerPoolId", name.worker_pool_id.str()},
                        {"workerGroup", name.worker_group.str()},
                        {"workerId", name.worker_id.str()}}))
    return;
  if (!can_change(call)) return;
  const auto granted = std::make_shared<Granted>(Granted{{name, {}}, {}, new_secret()});
  const auto refusal = std::make_shared<std::optional<Error>>(Error::internal("nothing was done"));
  call->parts().fleet->post(
      [=, given = sha256(call->text("secret"))](Fleet& fleet, Now now) {
        granted->at = now.wall;
        if (const fleet::Worker* worker = fleet.find_worker(granted->claim.name))
          granted->claim.provider = fleet.providers()[worker->provider].id;
        auto made = fleet.reregister_worker(granted->claim.name, given,
                                            sha256(granted->secret.reveal()), now);
        if (!made) {
          *refusal = made.error();
          return;
        }
        granted->registered = std::move(*made);
        refusal->reset();
      },
      [=] {
        Meters& meters = call->api().registrations->meters;
        if (!*refusal) {
          meters.count(granted->claim.provider.str(), RegistrationOutcome::renewed);
          return call->answer(answer_with_credentials(call->api(), *granted));
        }
        const Error& error = **refusal;
        const bool unknown = error.code == "wrongSecret" ||
                             (error.error_class == ErrorClass::not_found && error.code != "gone");
        meters.count("unknown", RegistrationOutcome::refused);
        call->fail(unknown ? input_error("Could not generate credentials for this secret")
                           : to_failure(error));
      });
}

}  // namespace muster::taskcluster_api
