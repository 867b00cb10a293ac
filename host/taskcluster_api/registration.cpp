// Workers prove who they are and get credentials; later they renew them.
#include <muster/codec.hpp>

#include "host/registration/registrar.hpp"
#include "host/taskcluster_api/handlers.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::taskcluster_api {
namespace {

fleet::WorkerName name_in(const Call& call) {
  return {WorkerPoolId(call.text("workerPoolId")), WorkerGroup(call.text("workerGroup")),
          WorkerId(call.text("workerId"))};
}

std::string credentials_text(const registration::GrantedCredentials& granted) {
  PrettyText text;
  text.begin_object().key("expires").time(granted.expires);
  text.key("credentials").begin_object().key("clientId").string(granted.credentials.client_id);
  text.key("accessToken").string(granted.credentials.access_token);
  text.key("certificate").string(granted.credentials.certificate).end_object();
  text.key("workerConfig").object(granted.worker_config);
  text.key("secret").string(granted.renewal_secret.reveal());
  if (granted.outdated) text.key("outdated").string(*granted.outdated);
  return text.end_object().take();
}

registration::Done answer_to(const CallPtr& call) {
  return [call](const registration::Outcome& outcome) {
    if (outcome)
      call->answer(credentials_text(*outcome));
    else
      call->fail(to_failure(outcome.error()));
  };
}

}  // namespace

std::optional<Failure> refuse_peer(const Call& call) {
  const auto refusal =
      parts_of(call).registrar->check_peer(registration::address_of(call.request()));
  if (!refusal) return std::nullopt;
  return to_failure(*refusal);
}

void note_malformed(const Call& call) {
  parts_of(call).registrar->note_malformed_request(registration::address_of(call.request()));
}

void register_worker(const CallPtr& call) {
  registration::Application application{
      .claim = {name_in(*call), ProviderId(call->text("providerId"))},
      .proof = call->body().at("workerIdentityProof").as_object(),
      .address = registration::address_of(call->request())};
  application.trace_parent = call->request().header("traceparent").value_or("");
  if (call->body().contains("systemBootTime"))
    application.booted = parse_time(call->text("systemBootTime"));
  parts_of(*call).registrar->register_worker(std::move(application), answer_to(call));
}

void reregister_worker(const CallPtr& call) {
  const fleet::WorkerName name = name_in(*call);
  parts_of(*call).registrar->renew(name, call->text("secret"), answer_to(call));
}

}  // namespace muster::taskcluster_api
