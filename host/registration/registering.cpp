#include "host/registration/registering.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/auth/authority.hpp"
#include "host/fleet/service.hpp"
#include "host/queue/pool_keys.hpp"
#include "host/queue/queue.hpp"
#include "host/registration/registration.hpp"
#include "host/taskcluster_api/pattern.hpp"
#include "lib/ssh/pool_key_proof.hpp"

namespace muster::taskcluster_api {
namespace {

using namespace std::chrono_literals;
using fleet::Fleet;
using fleet::Now;

std::vector<std::string> scopes_of(const Claim& claim) {
  const std::string& pool = claim.name.worker_pool_id.str();
  const std::string worker = claim.in_words();
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

// What a key has signed, as the worker gives it back.
const json::value* challenge_in(const json::object& proof) {
  const json::value* key = proof.if_contains(ssh::pool_key_member);
  const json::object* members = key ? key->if_object() : nullptr;
  return members ? members->if_contains("challenge") : nullptr;
}

// What the provider is told of a worker; its word is good as long as that is true.
struct Seen {
  std::string provider_data;
  std::shared_ptr<const fleet::LaunchConfigSpec> place;
  std::vector<std::string> pool_keys;  // one of which it has to show

  const LaunchConfigId& place_id() const {
    static const LaunchConfigId none;
    return place ? place->launch_config.launch_config_id : none;
  }
  bool operator==(const Seen& other) const {
    return provider_data == other.provider_data && place_id() == other.place_id() &&
           pool_keys == other.pool_keys;
  }
};

class Registration : public std::enable_shared_from_this<Registration> {
 public:
  Registration(std::shared_ptr<const Api> api, Applicant applicant)
      : api_(std::move(api)), applicant_(std::move(applicant)) {}

  void begin() {
    if (const auto wait =
            shared().failures.must_wait(applicant_.peer_key, applicant_.worker_key, steady())) {
      shared().meters.count(counted_provider(), RegistrationOutcome::limited);
      return applicant_.refuse(
          claim(),
          {"TooManyRequests", "worker " + named() + " failed to register too often lately", wait});
    }
    if (!parts().fleet) return refuse({"ServiceUnavailable", parts().problem});
    const store::Health health = parts().fleet->store_health();
    if (!health.ok) return refuse({"ReadOnly", health.sentence});
    if (const auto refusal = take_announced()) return refuse(*refusal);
    if (claim().name.worker_id.empty())
      ask_who();
    else
      look_up();
  }

 private:
  const Parts& parts() const { return api_->parts; }
  Registrations& shared() const { return *api_->registrations; }
  SteadyTime steady() const { return parts().clock->steady(); }
  const Claim& claim() const { return applicant_.claim; }

  std::string named() const {
    return claim().name.worker_id.empty() ? applicant_.worker_key : claim().key();
  }

  // Names that strangers make up are not counted by name.
  std::string counted_provider() const {
    return known_provider_ ? claim().provider.str() : "unknown";
  }

  // It is no part of the proof, and no provider's business.
  std::optional<Failure> take_announced() {
    const json::value* given = applicant_.proof.if_contains("queue");
    if (!given) return std::nullopt;
    auto read = fleet::read_reported(*given);
    if (!read) return input_error(read.error().message);
    announced_ = std::move(*read);
    applicant_.proof.erase("queue");
    return std::nullopt;
  }

  // ---- who it is, if somebody vouches for it

  void ask_who() {
    if (const auto refusal = check_provider(parts().providers())) return refuse(*refusal);
    IdentifyRequest request{.worker_pool_id = claim().name.worker_pool_id,
                            .worker_group = {},
                            .worker_id = {},
                            .proof = {},
                            .peer_address = applicant_.address,
                            .voucher = applicant_.voucher};
    ask(std::move(request), [self = shared_from_this()](const Identity& identity) {
      if (const auto refusal = self->take_name(identity)) return self->refuse(*refusal);
      self->look_up();
    });
  }

  std::optional<Failure> take_name(const Identity& identity) {
    fleet::WorkerName& name = applicant_.claim.name;
    const bool named_a_pool = !name.worker_pool_id.empty();
    if (named_a_pool && !identity.worker_pool_id.empty() &&
        identity.worker_pool_id != name.worker_pool_id)
      return input_error("the machine belongs to worker pool " + identity.worker_pool_id.str() +
                         " and not to " + name.worker_pool_id.str());
    if (!named_a_pool) name.worker_pool_id = identity.worker_pool_id;
    name.worker_group = identity.worker_group;
    name.worker_id = identity.worker_id;
    // They become parts of scopes.
    if (worker_pool_id_pattern.matches(name.worker_pool_id.str()) &&
        name_pattern.matches(name.worker_group.str()) && name_pattern.matches(name.worker_id.str()))
      return std::nullopt;
    const std::string given = claim().key();
    name = {};
    return Failure{"ServiceUnavailable", "provider " + claim().provider.str() +
                                             " says that this is worker " + given +
                                             ", which no worker can be called"};
  }

  // ---- what can be said without the provider

  void look_up() {
    parts().fleet->look(
        [self = shared_from_this(), providers = parts().providers()](const Fleet& fleet, Now now) {
          if (auto refusal = self->check(fleet, providers)) return self->refuse(*refusal);
          if (auto refusal = self->take_challenge(now.wall)) return self->refuse(*refusal);
          self->ask_provider();
        });
  }

  std::optional<Failure> check_provider(const std::vector<ProviderInfo>& providers) {
    const auto provider = std::ranges::find(providers, claim().provider, &ProviderInfo::id);
    if (provider == providers.end())
      return not_found("Provider " + claim().provider.str() + " does not exist");
    known_provider_ = true;
    announces_ = provider->announced;
    if (!provider->running)
      return Failure{"ProviderSetupFailed", "Provider backend may be down or misconfigured"};
    return std::nullopt;
  }

  // In the order that clients know.
  std::optional<Failure> check(const Fleet& fleet, const std::vector<ProviderInfo>& providers) {
    const std::string& pool_id = claim().name.worker_pool_id.str();
    const fleet::Pool* pool = fleet.find_pool(claim().name.worker_pool_id);
    if (!pool) return not_found("Worker pool " + pool_id + " does not exist");
    if (auto refusal = check_provider(providers)) return refusal;
    if (!uses(fleet, *pool))
      return input_error("Worker pool " + pool_id + " not associated with provider " +
                         claim().provider.str());
    const fleet::Worker* worker = fleet.find_worker(claim().name);
    unknown_worker_ = !worker;
    if (!worker && !announces_) return does_not_exist();
    if (worker && fleet.providers()[worker->provider].id != claim().provider)
      return input_error("Worker " + claim().in_words() + " does not have provider " +
                         claim().provider.str());
    if (worker) created_ = worker->created;
    seen_ = look_at(fleet);
    return seen_.pool_keys.empty() ? std::nullopt : check_key_is_shown();
  }

  // Whoever comes through a relay does not know yet which worker it is, and so cannot have signed.
  std::optional<Failure> check_key_is_shown() const {
    const std::string pool =
        "Worker pool " + claim().name.worker_pool_id.str() + " requires a key to join";
    if (applicant_.voucher)
      return input_error(pool + ", and a relay's word is none: the machine has to register by " +
                         "itself, with a private key of the pool");
    if (applicant_.proof.contains(ssh::pool_key_member)) return std::nullopt;
    return input_error(pool +
                       ": ask for a challenge (POST /api/muster/v1/registration-challenges), " +
                       "sign it with a private key of the pool, and show it as poolKey in " +
                       "workerIdentityProof (poolKeyFile in the configuration of muster-agent)");
  }

  Seen look_at(const Fleet& fleet) const {
    const fleet::Worker* worker = fleet.find_worker(claim().name);
    const queue::TeamPool* pool = fleet.queue().find_pool(claim().name.worker_pool_id);
    return {worker ? worker->provider_data : "", fleet.place_for(claim().name, claim().provider),
            pool ? pool->public_keys : std::vector<std::string>()};
  }

  Failure does_not_exist(const std::string& why = {}) const {
    return not_found("Worker " + claim().in_words() + " in worker pool " +
                     claim().name.worker_pool_id.str() + " does not exist" +
                     (why.empty() ? "" : ": " + why));
  }

  // Now, or before: workers that were launched earlier may still come.
  bool uses(const Fleet& fleet, const fleet::Pool& pool) const {
    const auto is_of_it = [&](fleet::Index at) {
      return fleet.launch_configs()[at].spec->provider_id == claim().provider;
    };
    return (pool.spec && std::ranges::find(pool.spec->providers, claim().provider) !=
                             pool.spec->providers.end()) ||
           std::ranges::any_of(pool.launch_configs, is_of_it);
  }

  // Whatever comes of it, it is used then.
  std::optional<Failure> take_challenge(Time now) {
    const json::value* given = challenge_in(applicant_.proof);
    if (!given) return std::nullopt;
    if (!given->is_string())
      return input_error("poolKey.challenge in workerIdentityProof is not a string");
    const std::string_view text = given->get_string();
    if (const auto taken = shared().challenges.take(text, claim(), now); !taken)
      return input_error(taken.error().message);
    challenge_ = text;
    return std::nullopt;
  }

  // Tells the provider which key it was.
  std::optional<Failure> check_key(IdentifyRequest& request) const {
    if (seen_.pool_keys.empty()) return std::nullopt;
    const auto keys = queue::read_pool_keys("publicKeys", seen_.pool_keys);
    if (!keys) return Failure{"ServiceUnavailable", keys.error().message};
    const auto signer =
        ssh::signer_in(request.proof.at(ssh::pool_key_member), request.challenge, *keys);
    if (!signer) return input_error(signer.error().message);
    request.pool_key = (*signer)->fingerprint();
    return std::nullopt;
  }

  // ---- the provider's word

  void ask(IdentifyRequest request, std::function<void(const Identity&)> then) {
    const bool asked = shared().checks.run(
        claim().provider, [self = shared_from_this(), request = std::move(request),
                           then = std::move(then)](const Identify& identify) mutable {
          if (const auto refusal = self->check_key(request)) return self->refuse(*refusal);
          const auto answer = identify(self->claim().provider, request);
          if (!answer) return self->refused_by_provider(answer.error());
          then(*answer);
        });
    if (!asked)
      refuse({"ServiceUnavailable", "too many workers of this provider register at the moment",
              std::chrono::seconds(5)});
  }

  void ask_provider() {
    IdentifyRequest request{.worker_pool_id = claim().name.worker_pool_id,
                            .worker_group = claim().name.worker_group,
                            .worker_id = claim().name.worker_id,
                            .proof = applicant_.proof,
                            .peer_address = applicant_.address,
                            .challenge = challenge_,
                            .voucher = applicant_.voucher};
    if (auto data = json::parse_object(seen_.provider_data))
      request.provider_data = std::move(*data);
    if (seen_.place) request.document = seen_.place->launch_config.document;
    ask(std::move(request),
        [self = shared_from_this()](const Identity& identity) { self->identified(identity); });
  }

  void refused_by_provider(const Error& error) {
    const ErrorClass why = error.error_class;
    if (why == ErrorClass::invalid && error.code == not_conformant) return set_aside(error.message);
    const bool wrong = why == ErrorClass::auth || why == ErrorClass::invalid ||
                       why == ErrorClass::not_found || why == ErrorClass::unsupported;
    if (!wrong) return refuse({"ServiceUnavailable", error.message});
    refuse(unknown_worker_ ? does_not_exist(error.message) : input_error(error.message));
  }

  // It is who it says, and not as its pool wants it.
  void set_aside(const std::string& why) {
    parts().fleet->post(
        [self = shared_from_this(), why](Fleet& fleet, Now now) {
          fleet.not_conformant(self->claim().name, self->claim().provider, why, now);
        },
        [self = shared_from_this(), why] {
          self->refuse({"ResourceExpired", why});
        });
  }

  void identified(const Identity& identity) {
    if (identity.worker_group != claim().name.worker_group ||
        identity.worker_id != claim().name.worker_id)
      return refuse(input_error("the proof is that of worker " + identity.worker_group.str() + "/" +
                                identity.worker_id.str()));
    const store::Health health = parts().fleet->store_health();
    if (!health.ok) return refuse({"ReadOnly", health.sentence});
    fleet::Proven proven{.admission = {}, .claims = identity.claims, .reported = announced_};
    if (announces_) proven.admission = identity.admission;
    if (unknown_worker_ && !proven.admission) return refuse(does_not_exist());
    let_in(std::move(proven));
  }

  // Answers, when it is durable, with credentials made on the way out: making them takes time that
  // the fleet's thread does not have.
  void let_in(fleet::Proven proven) {
    const auto granted = std::make_shared<Granted>(Granted{claim(), {}, new_secret()});
    const auto refusal =
        std::make_shared<std::optional<Error>>(Error::internal("nothing was done"));
    parts().fleet->post(
        [=, self = shared_from_this(), proven = std::move(proven)](Fleet& fleet, Now now) {
          granted->at = now.wall;
          if (self->look_at(fleet) != self->seen_) {
            *refusal =
                Error::transient("worker " + self->claim().key() +
                                 ", or its pool, was changed while it registered; try again");
            return;
          }
          auto made = fleet.register_worker(self->claim().name, self->claim().provider,
                                            sha256(granted->secret.reveal()), now, proven);
          if (!made) {
            *refusal = made.error();
            return;
          }
          granted->registered = std::move(*made);
          refusal->reset();
          if (self->applicant_.witness) self->applicant_.witness(fleet, self->claim(), now);
        },
        [=, self = shared_from_this()] {
          if (*refusal) return self->refuse(to_failure(**refusal));
          self->measure();
          self->applicant_.grant(*granted);
        });
  }

  // Only what is the worker's own mistake counts against it.
  void refuse(const Failure& failure) {
    const bool own = status_of(failure.code) < 500;
    if (own) shared().failures.failed(applicant_.peer_key, applicant_.worker_key, steady());
    shared().meters.count(counted_provider(),
                          own ? RegistrationOutcome::refused : RegistrationOutcome::unavailable);
    applicant_.refuse(claim(), failure);
    // Its launch may have lost its answer: the fleet then asks the provider what there is. Nobody
    // registers by this, for one that is known by now has to prove itself first.
    if (unknown_worker_)
      parts().fleet->post([claim = claim()](Fleet& fleet, Now now) {
        if (!fleet.find_worker(claim.name))
          (void)fleet.register_worker(claim.name, claim.provider, {}, now);
      });
  }

  void measure() {
    shared().meters.count(claim().provider.str(), RegistrationOutcome::registered);
    if (!applicant_.booted || created_ == Time{}) return;
    const std::chrono::duration<double> provision = *applicant_.booted - created_;
    const std::chrono::duration<double> startup = parts().clock->now() - *applicant_.booted;
    shared().meters.observe_start(claim().provider.str(), provision.count(), startup.count());
  }

  const std::shared_ptr<const Api> api_;
  Applicant applicant_;
  bool known_provider_ = false, announces_ = false, unknown_worker_ = false;
  std::string challenge_;
  std::optional<fleet::QueueFacts> announced_;
  Seen seen_;
  Time created_{};
};

}  // namespace

void register_applicant(const std::shared_ptr<const Api>& api, Applicant applicant) {
  std::make_shared<Registration>(api, std::move(applicant))->begin();
}

Secret new_secret() {
  return Secret(random_token().reveal() + random_token().reveal().substr(0, 1));
}

// Clocks of workers are not always right: credentials are good a little before they were made.
WorkerCredentials credentials_for(const Api& api, const Granted& granted) {
  auto made = api.parts.authority->issue(granted.claim.client_id(), scopes_of(granted.claim),
                                         granted.at - 15min, granted.registered.credentials_expire);
  return {std::move(made.client_id), std::move(made.access_token), std::move(made.certificate)};
}

}  // namespace muster::taskcluster_api
