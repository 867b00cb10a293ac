#include "host/registration/registrar.hpp"

#include "host/registration/registration_attempt.hpp"
#include "host/registration/renewal.hpp"

namespace muster::registration {
namespace {

Dependencies without_slash(Dependencies host) {
  while (host.root_url.ends_with('/')) host.root_url.pop_back();
  return host;
}

}  // namespace

Registrar::Registrar(Dependencies host, FailureLimits limits)
    : state_(std::make_shared<State>(without_slash(std::move(host)), limits)) {}

Registrar::~Registrar() {
  state_->checks.stop();
}

std::optional<Refusal> Registrar::check_peer(const std::string& address) {
  const auto wait = state_->failures.must_wait(network_of(address), state_->host.clock->steady());
  if (!wait) return std::nullopt;
  state_->meters.count("unknown", RegistrationOutcome::limited);
  return Refusal{RefusalReason::too_many_failures,
                 "too many registrations from this address failed lately", wait};
}

std::optional<Refusal> Registrar::check_relay(const std::string& client_id) {
  const auto wait = state_->failures.must_wait(relay_key(client_id), state_->host.clock->steady());
  if (!wait) return std::nullopt;
  return Refusal{RefusalReason::too_many_failures,
                 "too many registrations by this relay failed lately", wait};
}

void Registrar::note_malformed_request(const std::string& address) {
  state_->failures.failed(network_of(address), "", state_->host.clock->steady());
}

Challenge Registrar::make_challenge(const Claim& claim) {
  return state_->challenges.make(claim, state_->host.clock->now());
}

void Registrar::register_worker(Application application, Done done) {
  begin_registration(state_, std::move(application), std::move(done));
}

void Registrar::renew(const fleet::WorkerName& name, const std::string& renewal_secret, Done done) {
  renew_credentials(state_, name, renewal_secret, std::move(done));
}

}  // namespace muster::registration
