// Workers prove who they are and get credentials; later they renew them.
#include "host/worker_manager/registration.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/auth/authority.hpp"
#include "host/base/secret.hpp"
#include "host/fleet/service.hpp"
#include "host/worker_manager/handlers.hpp"
#include "host/worker_manager/pretty_text.hpp"

namespace muster::worker_manager {
namespace {

using namespace std::chrono_literals;
using fleet::Fleet;
using fleet::Now;
using fleet::WorkerName;

// What a worker says that it is.
struct Claim {
  WorkerName name;
  ProviderId provider;

  std::string in_words() const { return name.worker_group.str() + "/" + name.worker_id.str(); }
  std::string key() const { return name.worker_pool_id.str() + "/" + in_words(); }
};

WorkerName name_in(const Call& call) {
  return {WorkerPoolId(call.text("workerPoolId")), WorkerGroup(call.text("workerGroup")),
          WorkerId(call.text("workerId"))};
}

// 44 letters that need no quoting anywhere, 264 bits.
Secret new_secret() {
  return Secret(random_token().reveal() + random_token().reveal().substr(0, 1));
}

// -------------------------------------------------------------------------------------------------
// Credentials

std::vector<std::string> scopes_of(const WorkerName& name) {
  const std::string& pool = name.worker_pool_id.str();
  const std::string worker = name.worker_group.str() + "/" + name.worker_id.str();
  return {"assume:worker-type:" + pool,
          "assume:worker-pool:" + pool,
          "assume:worker-id:" + worker,
          "queue:worker-id:" + worker,
          "secrets:get:worker-type:" + pool,
          "secrets:get:worker-pool:" + pool,
          "queue:claim-work:" + pool,
          "worker-manager:remove-worker:" + pool + "/" + worker,
          "worker-manager:reregister-worker:" + pool + "/" + worker,
          "worker-manager:should-worker-terminate:" + pool + "/" + worker};
}

// Clocks of workers are not always right: credentials are good a little before they were made.
std::string answer_with_credentials(const Call& call, const Claim& claim,
                                    const fleet::Registered& registered, const Secret& secret,
                                    Time now) {
  const auto credentials = call.parts().authority->issue(
      "worker/" + claim.provider.str() + "/" + claim.key(), scopes_of(claim.name), now - 15min,
      registered.credentials_expire);
  PrettyText text;
  text.begin_object().key("expires").time(registered.credentials_expire);
  text.key("credentials").begin_object().key("clientId").string(credentials.client_id);
  text.key("accessToken").string(credentials.access_token);
  text.key("certificate").string(credentials.certificate).end_object();
  text.key("workerConfig").object(registered.worker_config);
  text.key("secret").string(secret.reveal());
  return text.end_object().take();
}

// Changes the fleet by `renew` and answers, when that is durable, with credentials made on the way
// out: making them takes time that the fleet's thread does not have.
using Renew = std::function<Result<fleet::Registered>(Fleet&, const Sha256& secret, Now)>;

void renew_credentials(const CallPtr& call, const Claim& claim, const Renew& renew,
                       const std::function<void(const Error&)>& refused,
                       const std::function<void()>& done) {
  if (!can_change(call)) return;
  const auto secret = std::make_shared<const Secret>(new_secret());
  const auto made =
      std::make_shared<Result<fleet::Registered>>(Error::internal("nothing was done"));
  const auto at = std::make_shared<Time>();
  call->parts().fleet->post(
      [=, digest = sha256(secret->reveal())](Fleet& fleet, Now now) {
        *at = now.wall;
        *made = renew(fleet, digest, now);
      },
      [=] {
        if (!*made) return refused(made->error());
        done();
        call->answer(answer_with_credentials(*call, claim, **made, *secret, *at));
      });
}

// -------------------------------------------------------------------------------------------------
// Registration

class Registration : public std::enable_shared_from_this<Registration> {
 public:
  explicit Registration(CallPtr call)
      : call_(std::move(call)),
        claim_{name_in(*call_), ProviderId(call_->text("providerId"))},
        peer_(address_of(call_->request().peer)) {}

  void begin() {
    if (const auto wait = shared().failures.must_wait(peer_, claim_.key(), steady())) {
      shared().meters.count(counted_provider(), RegistrationOutcome::limited);
      return call_->fail({"TooManyRequests",
                          "worker " + claim_.key() + " failed to register too often lately", wait});
    }
    if (!can_change(call_)) return;
    call_->parts().fleet->look([self = shared_from_this(), providers = call_->parts().providers()](
                                   const Fleet& fleet, Now now) {
      if (auto refusal = self->check(fleet, providers, now)) return self->refuse(*refusal);
      self->ask_provider();
    });
  }

 private:
  Registrations& shared() const { return *call_->api().registrations; }
  SteadyTime steady() const { return call_->parts().clock->steady(); }

  // Names that strangers make up are not counted by name.
  std::string counted_provider() const {
    return known_provider_ ? claim_.provider.str() : "unknown";
  }

  // Everything that can be said without the provider, in the order that clients know.
  std::optional<Failure> check(const Fleet& fleet, const std::vector<ProviderInfo>& providers,
                               Now now) {
    const std::string& pool_id = claim_.name.worker_pool_id.str();
    const fleet::Pool* pool = fleet.find_pool(claim_.name.worker_pool_id);
    if (!pool) return not_found("Worker pool " + pool_id + " does not exist");
    const auto provider = std::ranges::find(providers, claim_.provider, &ProviderInfo::id);
    if (provider == providers.end())
      return not_found("Provider " + claim_.provider.str() + " does not exist");
    known_provider_ = true;
    if (!provider->running)
      return Failure{"ProviderSetupFailed", "Provider backend may be down or misconfigured"};
    if (!uses(fleet, *pool))
      return input_error("Worker pool " + pool_id + " not associated with provider " +
                         claim_.provider.str());
    const fleet::Worker* worker = fleet.find_worker(claim_.name);
    if (!worker) {
      unknown_worker_ = true;
      return not_found("Worker " + claim_.in_words() + " in worker pool " + pool_id +
                       " does not exist");
    }
    if (worker->announced() && worker->expires < now.wall)
      return input_error("Worker " + claim_.in_words() + " has expired");
    if (fleet.providers()[worker->provider].id != claim_.provider)
      return input_error("Worker " + claim_.in_words() + " does not have provider " +
                         claim_.provider.str());
    provider_data_ = worker->provider_data;
    created_ = worker->created;
    return std::nullopt;
  }

  // Now, or before: workers that were launched earlier may still come.
  bool uses(const Fleet& fleet, const fleet::Pool& pool) const {
    const auto is_of_it = [&](fleet::Index at) {
      return fleet.launch_configs()[at].spec->provider_id == claim_.provider;
    };
    return (pool.spec && std::ranges::find(pool.spec->providers, claim_.provider) !=
                             pool.spec->providers.end()) ||
           std::ranges::any_of(pool.launch_configs, is_of_it);
  }

  void ask_provider() {
    IdentifyRequest request{.worker_pool_id = claim_.name.worker_pool_id,
                            .worker_group = claim_.name.worker_group,
                            .worker_id = claim_.name.worker_id,
                            .proof = call_->body().at("workerIdentityProof").as_object(),
                            .peer_address = peer_};
    if (auto data = json::parse_object(provider_data_)) request.provider_data = std::move(*data);
    const bool asked = shared().checks.check(
        claim_.provider, std::move(request),
        [self = shared_from_this()](const Result<Identity>& answer) { self->identified(answer); });
    if (!asked)
      refuse({"ServiceUnavailable", "too many workers of this provider register at the moment",
              std::chrono::seconds(5)});
  }

  void identified(const Result<Identity>& answer) {
    if (!answer) {
      const ErrorClass why = answer.error().error_class;
      const bool wrong = why == ErrorClass::auth || why == ErrorClass::invalid ||
                         why == ErrorClass::not_found || why == ErrorClass::unsupported;
      return refuse(wrong ? input_error(answer.error().message)
                          : Failure{"ServiceUnavailable", answer.error().message});
    }
    if (answer->worker_group != claim_.name.worker_group ||
        answer->worker_id != claim_.name.worker_id)
      return refuse(input_error("the proof is that of worker " + answer->worker_group.str() + "/" +
                                answer->worker_id.str()));
    renew_credentials(
        call_, claim_,
        [claim = claim_](Fleet& fleet, const Sha256& secret, Now now) {
          return fleet.register_worker(claim.name, claim.provider, secret, now);
        },
        [self = shared_from_this()](const Error& error) { self->refuse(to_failure(error)); },
        [self = shared_from_this()] { self->measure(); });
  }

  // Only what is the worker's own mistake counts against it.
  void refuse(const Failure& failure) {
    const bool own = status_of(failure.code) < 500;
    if (own) shared().failures.failed(peer_, claim_.key(), steady());
    shared().meters.count(counted_provider(),
                          own ? RegistrationOutcome::refused : RegistrationOutcome::unavailable);
    call_->fail(failure);
    // Its launch may have lost its answer: the fleet then asks the provider what there is. Nobody
    // registers by this, for one that is known by now has to prove itself first.
    if (unknown_worker_)
      call_->parts().fleet->post([claim = claim_](Fleet& fleet, Now now) {
        if (!fleet.find_worker(claim.name))
          (void)fleet.register_worker(claim.name, claim.provider, {}, now);
      });
  }

  void measure() {
    shared().meters.count(claim_.provider.str(), RegistrationOutcome::registered);
    const json::value* given = call_->body().if_contains("systemBootTime");
    const auto boot = given ? parse_time(call_->text("systemBootTime")) : std::nullopt;
    if (!boot) return;
    const std::chrono::duration<double> provision = *boot - created_;
    const std::chrono::duration<double> startup = call_->parts().clock->now() - *boot;
    shared().meters.observe_start(claim_.provider.str(), provision.count(), startup.count());
  }

  const CallPtr call_;
  const Claim claim_;
  const std::string peer_;
  bool known_provider_ = false, unknown_worker_ = false;
  std::string provider_data_;
  Time created_{};
};

}  // namespace

std::optional<Failure> refuse_peer(const Api& api, const http::Request& request) {
  const auto wait =
      api.registrations->failures.must_wait(address_of(request.peer), api.parts.clock->steady());
  if (!wait) return std::nullopt;
  api.registrations->meters.count("unknown", RegistrationOutcome::limited);
  return Failure{"TooManyRequests", "too many registrations from this address failed lately", wait};
}

void register_worker(const CallPtr& call) {
  std::make_shared<Registration>(call)->begin();
}

void reregister_worker(const CallPtr& call) {
  const WorkerName name = name_in(*call);
  if (!call->authorize({{"workerPoolId", name.worker_pool_id.str()},
                        {"workerGroup", name.worker_group.str()},
                        {"workerId", name.worker_id.str()}}))
    return;
  if (!can_change(call)) return;
  const auto claim = std::make_shared<Claim>(Claim{name, {}});
  call->parts().fleet->look([call, claim](const Fleet& fleet, Now) {
    if (const fleet::Worker* worker = fleet.find_worker(claim->name))
      claim->provider = fleet.providers()[worker->provider].id;
    renew_credentials(
        call, *claim,
        [claim, given = sha256(call->text("secret"))](Fleet& of, const Sha256& next,
                                                      Now now) -> Result<fleet::Registered> {
          const fleet::Worker* worker = of.find_worker(claim->name);
          auto renewed = of.reregister_worker(claim->name, given, next, now);
          if (renewed && worker->announced() && worker->expires < now.wall)
            return Error::invalid("Worker " + claim->in_words() + " has expired");
          return renewed;
        },
        [call](const Error& error) {
          const bool unknown = error.code == "wrongSecret" ||
                               (error.error_class == ErrorClass::not_found && error.code != "gone");
          call->api().registrations->meters.count("unknown", RegistrationOutcome::refused);
          call->fail(unknown ? input_error("Could not generate credentials for this secret")
                             : to_failure(error));
        },
        [call, claim] {
          call->api().registrations->meters.count(claim->provider.str(),
                                                  RegistrationOutcome::renewed);
        });
  });
}

}  // namespace muster::worker_manager
