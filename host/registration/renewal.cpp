#include "host/registration/renewal.hpp"

#include "host/fleet/service.hpp"

namespace muster::registration {
namespace {

using fleet::Fleet;
using fleet::Now;

// The answer does not tell which workers exist.
Refusal refusal_of(const Error& error) {
  const bool unknown = error.code == "wrongSecret" ||
                       (error.error_class == ErrorClass::not_found && error.code != "gone");
  return unknown ? Refusal::invalid("Could not generate credentials for this secret")
                 : Refusal::from(error);
}

class Renewal {
 public:
  Renewal(std::shared_ptr<State> state, const fleet::WorkerName& name,
          const std::string& given_secret, Done done)
      : state_(std::move(state)),
        claim_{name, {}},
        given_(sha256(given_secret)),
        next_(make_renewal_secret()),
        done_(std::move(done)) {}

  // On the fleet's thread.
  void change(Fleet& fleet, Now now) {
    at_ = now.wall;
    if (const fleet::Worker* worker = fleet.find_worker(claim_.name))
      claim_.provider = fleet.providers()[worker->provider].id;
    renewed_ = fleet.reregister_worker(claim_.name, given_, sha256(next_.reveal()), now);
  }

  // When the change is durable, or when nobody knows whether it will be.
  void finish(const std::optional<Error>& error) {
    if (error) return done_(Refusal{RefusalReason::read_only, error->message});
    if (!renewed_) {
      state_->meters.count("unknown", RegistrationOutcome::refused);
      return done_(refusal_of(renewed_.error()));
    }
    state_->meters.count(claim_.provider.str(), RegistrationOutcome::renewed);
    const Time expires = renewed_->credentials_expire;
    done_(GrantedCredentials{
        claim_, issue_credentials(*state_->host.authority, claim_, at_, expires), expires,
        std::move(renewed_->worker_config), std::move(next_), std::move(renewed_->outdated)});
  }

 private:
  const std::shared_ptr<State> state_;
  Claim claim_;
  const Sha256 given_;
  Secret next_;
  const Done done_;
  Time at_{};
  Result<fleet::Registered> renewed_ = Error::internal("nothing was done");
};

// A full disk of the host ends no worker: it gets credentials, and keeps its secret, for nothing of
// this is durable.
void renew_without_store(const std::shared_ptr<State>& state, const fleet::WorkerName& name,
                         const std::string& secret, const Done& done) {
  state->host.fleet->query([state, name, secret, done](const Fleet& fleet, Now now) {
    auto renewed = fleet.renewal_without_store(name, sha256(secret), now);
    if (!renewed) {
      state->meters.count("unknown", RegistrationOutcome::refused);
      return done(refusal_of(renewed.error()));
    }
    const Claim claim{name, fleet.providers()[fleet.find_worker(name)->provider].id};
    state->meters.count(claim.provider.str(), RegistrationOutcome::renewed);
    const Time expires = renewed->credentials_expire;
    state->host.fleet->post([name, expires](Fleet& later, Now then) {
      later.renewed_without_store(name, expires, then);
    });
    done(GrantedCredentials{claim,
                            issue_credentials(*state->host.authority, claim, now.wall, expires),
                            expires, std::move(renewed->worker_config), Secret(secret)});
  });
}

}  // namespace

void renew_credentials(const std::shared_ptr<State>& state, const fleet::WorkerName& name,
                       const std::string& renewal_secret, Done done) {
  fleet::Service* fleet = state->host.fleet;
  if (!fleet) return done(Refusal::unavailable(state->host.problem));
  const store::Health health = fleet->store_health();
  if (!health.ok) return renew_without_store(state, name, renewal_secret, done);
  const auto renewal = std::make_shared<Renewal>(state, name, renewal_secret, std::move(done));
  fleet->post_change([renewal](Fleet& of, Now now) { renewal->change(of, now); },
                     [renewal](const std::optional<Error>& error) { renewal->finish(error); });
}

}  // namespace muster::registration
