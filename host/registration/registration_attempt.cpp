#include "host/registration/registration_attempt.hpp"

#include <muster/codec.hpp>

#include "host/fleet/service.hpp"
#include "host/identifiers/identifiers.hpp"
#include "host/registration/pool_key_check.hpp"
#include "host/registration/relay_event.hpp"
#include "host/registration/worker_record.hpp"

namespace muster::registration {
namespace {

using fleet::Fleet;
using fleet::Now;
using Checked = std::optional<Refusal>;  // nothing: it passes

// Below that it could be guessed: 22 letters of base64 are 132 bits.
constexpr std::size_t shortest_registration_key = 22, longest_registration_key = 256;

class RegistrationAttempt : public std::enable_shared_from_this<RegistrationAttempt> {
 public:
  RegistrationAttempt(std::shared_ptr<State> state, Application application, Done done)
      : state_(std::move(state)),
        application_(std::move(application)),
        done_(std::move(done)),
        peer_key_(application_.voucher ? relay_key(application_.voucher->by)
                                       : network_of(application_.address)),
        // By the machine, so that one which fails delays no other behind the same relay.
        worker_key_(application_.voucher ? network_of(application_.voucher->address)
                                         : claim().key()) {}

  void begin() {
    if (const auto wait = state_->failures.must_wait(peer_key_, worker_key_, steady())) {
      state_->meters.count(counted_provider(), RegistrationOutcome::limited);
      return answer({RefusalReason::too_many_failures,
                     "worker " + worker_in_words() + " failed to register too often lately", wait});
    }
    if (!host().fleet) return refuse(Refusal::unavailable(host().problem));
    const store::Health health = host().fleet->store_health();
    if (!health.ok) return refuse({RefusalReason::read_only, health.sentence});
    if (const Checked refusal = take_reported_resources()) return refuse(*refusal);
    if (const Checked refusal = take_registration_key()) return refuse(*refusal);
    if (claim().name.worker_id.empty())
      ask_provider_for_name();
    else
      check_with_fleet();
  }

 private:
  const Dependencies& host() const { return state_->host; }
  SteadyTime steady() const { return host().clock->steady(); }
  const Claim& claim() const { return application_.claim; }

  std::string worker_in_words() const {
    return claim().name.worker_id.empty() ? worker_key_ : claim().key();
  }

  // Names that strangers make up must not become labels of metrics.
  std::string counted_provider() const {
    return known_provider_ ? claim().provider.str() : "unknown";
  }

  // They are for the queue; the provider does not get them.
  Checked take_reported_resources() {
    const json::value* given = application_.proof.if_contains("queue");
    if (!given) return std::nullopt;
    auto read = fleet::read_reported(*given);
    if (!read) return Refusal::invalid(read.error().message);
    reported_ = std::move(*read);
    application_.proof.erase("queue");
    return std::nullopt;
  }

  // It is for the fleet, which keeps its digest; the provider does not get it.
  Checked take_registration_key() {
    const json::value* given = application_.proof.if_contains("registrationKey");
    if (!given) return std::nullopt;
    const std::string_view key = given->is_string() ? std::string_view(given->get_string()) : "";
    if (key.size() < shortest_registration_key || key.size() > longest_registration_key)
      return Refusal::invalid("registrationKey in workerIdentityProof must be a string of " +
                              std::to_string(shortest_registration_key) + " to " +
                              std::to_string(longest_registration_key) +
                              " characters that the worker has drawn at random");
    registration_key_ = sha256(key);
    application_.proof.erase("registrationKey");
    return std::nullopt;
  }

  // ---- which worker it is, if a relay vouches for it

  void ask_provider_for_name() {
    if (const Checked refusal = check_provider(host().find_provider(claim().provider)))
      return refuse(*refusal);
    IdentifyRequest request{.worker_pool_id = claim().name.worker_pool_id,
                            .worker_group = {},
                            .worker_id = {},
                            .proof = {},
                            .peer_address = application_.address,
                            .voucher = application_.voucher};
    ask(std::move(request), [self = shared_from_this()](const Identity& identity) {
      if (const Checked refusal = self->take_name(identity)) return self->refuse(*refusal);
      self->check_with_fleet();
    });
  }

  Checked take_name(const Identity& identity) {
    fleet::WorkerName& name = application_.claim.name;
    const bool named_a_pool = !name.worker_pool_id.empty();
    if (named_a_pool && !identity.worker_pool_id.empty() &&
        identity.worker_pool_id != name.worker_pool_id)
      return Refusal::invalid("the machine belongs to worker pool " +
                              identity.worker_pool_id.str() + " and not to " +
                              name.worker_pool_id.str());
    if (!named_a_pool) name.worker_pool_id = identity.worker_pool_id;
    name.worker_group = identity.worker_group;
    name.worker_id = identity.worker_id;
    if (identifiers::is_worker_pool_id(name.worker_pool_id.str()) &&
        identifiers::is_name(name.worker_group.str()) && identifiers::is_name(name.worker_id.str()))
      return std::nullopt;
    const std::string given = claim().key();
    name = {};
    return Refusal::unavailable("provider " + claim().provider.str() +
                                " says that this is worker " + given +
                                ", which no worker can be called");
  }

  // ---- what can be checked without the provider

  void check_with_fleet() {
    host().fleet->query(
        [self = shared_from_this(), provider = host().find_provider(claim().provider)](
            const Fleet& fleet, Now now) {
          if (const Checked refusal = self->check(fleet, provider)) return self->refuse(*refusal);
          if (const Checked refusal = self->take_challenge(now.wall)) return self->refuse(*refusal);
          self->ask_provider();
        });
  }

  Checked check_provider(const std::optional<ProviderState>& provider) {
    if (!provider)
      return Refusal::not_found("Provider " + claim().provider.str() + " does not exist");
    known_provider_ = true;
    declared_workers_ = provider->declared_workers;
    if (!provider->running)
      return Refusal{RefusalReason::provider_down, "Provider backend may be down or misconfigured"};
    return std::nullopt;
  }

  // In the order that Taskcluster's clients know.
  Checked check(const Fleet& fleet, const std::optional<ProviderState>& provider) {
    if (Checked refusal = check_pool_exists(fleet, claim())) return refusal;
    if (Checked refusal = check_provider(provider)) return refusal;
    if (Checked refusal = check_pool_uses_provider(fleet, claim())) return refusal;
    const fleet::Worker* worker = fleet.find_worker(claim().name);
    unknown_worker_ = !worker;
    expected_ = worker && worker->state != fleet::WorkerState::stopping &&
                worker->state != fleet::WorkerState::stopped;
    if (Checked refusal = check_stranger()) return refusal;
    if (!worker && !declared_workers_) return worker_does_not_exist(claim());
    if (worker && fleet.providers()[worker->provider].id != claim().provider)
      return Refusal::invalid("Worker " + claim().in_words() + " does not have provider " +
                              claim().provider.str());
    if (worker) created_ = worker->created;
    record_ = worker_record(fleet, claim());
    return record_.pool_keys.empty() ? std::nullopt : check_pool_key_is_shown(application_);
  }

  // Who floods an address with names that are made up keeps out others that are not expected, and
  // none that is.
  Checked check_stranger() const {
    if (expected_ || application_.voucher) return std::nullopt;
    const auto wait = state_->failures.stranger_must_wait(peer_key_, steady());
    if (!wait) return std::nullopt;
    return Refusal{RefusalReason::too_many_failures,
                   "too many registrations from this address failed lately", wait};
  }

  // The challenge counts as used from here on, whatever the outcome.
  Checked take_challenge(Time now) {
    const json::value* given = challenge_in(application_.proof);
    if (!given) return std::nullopt;
    if (!given->is_string())
      return Refusal::invalid("the challenge in workerIdentityProof is not a string");
    const std::string_view text = given->get_string();
    if (const auto taken = state_->challenges.take(text, claim(), now); !taken)
      return Refusal::invalid(taken.error().message);
    challenge_ = text;
    return std::nullopt;
  }

  // ---- what the provider says

  void ask(IdentifyRequest request, std::function<void(const Identity&)> then) {
    const Turn turn = expected_ || application_.voucher ? Turn::of_worker(peer_key_, worker_key_)
                                                        : Turn::of_stranger(peer_key_);
    const bool asked =
        state_->checks.run(claim().provider, turn,
                           [self = shared_from_this(), request = std::move(request),
                            then = std::move(then)](const Identify& identify) mutable {
                             if (const Checked refusal = self->check_key(request))
                               return self->refuse(*refusal);
                             const auto answer = identify(self->claim().provider, request,
                                                          self->application_.trace_parent);
                             if (!answer) return self->refused_by_provider(answer.error());
                             then(*answer);
                           });
    if (!asked)
      refuse({RefusalReason::unavailable,
              "too many workers of this provider, or too many from this address, register at the "
              "moment",
              std::chrono::seconds(5)});
  }

  // Adds to the request which key of the pool was shown.
  Checked check_key(IdentifyRequest& request) const {
    if (record_.pool_keys.empty()) return std::nullopt;
    const auto fingerprint = check_pool_key(request.proof, request.challenge, record_.pool_keys);
    if (!fingerprint) return fingerprint.error();
    request.pool_key = *fingerprint;
    return std::nullopt;
  }

  void ask_provider() {
    IdentifyRequest request{.worker_pool_id = claim().name.worker_pool_id,
                            .worker_group = claim().name.worker_group,
                            .worker_id = claim().name.worker_id,
                            .proof = application_.proof,
                            .peer_address = application_.address,
                            .challenge = challenge_,
                            .voucher = application_.voucher};
    if (auto data = json::parse_object(record_.provider_data))
      request.provider_data = std::move(*data);
    if (record_.launch_config) request.document = record_.launch_config->launch_config.document;
    ask(std::move(request),
        [self = shared_from_this()](const Identity& identity) { self->identified(identity); });
  }

  void refused_by_provider(const Error& error) {
    const ErrorClass why = error.error_class;
    if (why == ErrorClass::invalid && error.code == not_conformant)
      return quarantine(error.message);
    const bool wrong = why == ErrorClass::auth || why == ErrorClass::invalid ||
                       why == ErrorClass::not_found || why == ErrorClass::unsupported;
    if (!wrong) return refuse(Refusal::unavailable(error.message));
    refuse(unknown_worker_ ? worker_does_not_exist(claim(), error.message)
                           : Refusal::invalid(error.message));
  }

  // The worker is who it says, but not in the state that its pool wants.
  void quarantine(const std::string& why) {
    host().fleet->post_change(
        [self = shared_from_this(), why](Fleet& fleet, Now now) {
          fleet.not_conformant(self->claim().name, self->claim().provider, why, now);
        },
        [self = shared_from_this(), why](const std::optional<Error>& error) {
          if (error) return self->refuse({RefusalReason::read_only, error->message});
          self->refuse({RefusalReason::gone, why});
        });
  }

  void identified(const Identity& identity) {
    if (identity.worker_group != claim().name.worker_group ||
        identity.worker_id != claim().name.worker_id)
      return refuse(Refusal::invalid("the proof is that of worker " + identity.worker_group.str() +
                                     "/" + identity.worker_id.str()));
    const store::Health health = host().fleet->store_health();
    if (!health.ok) return refuse({RefusalReason::read_only, health.sentence});
    fleet::Proven proven{.admission = {},
                         .claims = identity.claims,
                         .reported = reported_,
                         .registration_key = registration_key_};
    if (declared_workers_) proven.admission = identity.admission;
    if (unknown_worker_ && !proven.admission) return refuse(worker_does_not_exist(claim()));
    enter_fleet(std::move(proven));
  }

  // ---- the fleet takes it

  // Answers when the change is durable.
  void enter_fleet(fleet::Proven proven) {
    renewal_secret_ = make_renewal_secret();
    host().fleet->post_change([self = shared_from_this(), proven = std::move(proven)](
                                  Fleet& fleet, Now now) { self->change(fleet, proven, now); },
                              [self = shared_from_this()](const std::optional<Error>& error) {
                                if (error)
                                  return self->refuse({RefusalReason::read_only, error->message});
                                self->finish();
                              });
  }

  void change(Fleet& fleet, const fleet::Proven& proven, Now now) {
    at_ = now.wall;
    if (worker_record(fleet, claim()) != record_) {
      registered_ = Error::transient("worker " + claim().key() +
                                     ", or its pool, was changed while it registered; try again");
      return;
    }
    registered_ = fleet.register_worker(claim().name, claim().provider,
                                        sha256(renewal_secret_.reveal()), now, proven);
    if (registered_ && application_.voucher)
      fleet.emit_event(relay_event(claim(), *application_.voucher), now);
  }

  // Credentials are made here because that takes time, which the fleet's thread does not have.
  void finish() {
    if (!registered_) return refuse(Refusal::from(registered_.error()));
    measure();
    const Time expires = registered_->credentials_expire;
    done_(GrantedCredentials{claim(), issue_credentials(*host().authority, claim(), at_, expires),
                             expires, std::move(registered_->worker_config),
                             std::move(renewal_secret_)});
  }

  void measure() {
    state_->meters.count(claim().provider.str(), RegistrationOutcome::registered);
    if (!application_.booted || created_ == Time{}) return;
    const std::chrono::duration<double> provision = *application_.booted - created_;
    const std::chrono::duration<double> startup = host().clock->now() - *application_.booted;
    state_->meters.observe_start(claim(), provision.count(), startup.count());
  }

  // ---- it gets nothing

  // Only the worker's own mistakes count against it.
  void refuse(const Refusal& refusal) {
    const bool own = is_workers_fault(refusal.reason);
    if (own && application_.voucher) state_->failures.failed(peer_key_, worker_key_, steady());
    if (own && !application_.voucher)
      state_->failures.claim_failed(peer_key_, worker_key_, steady());
    state_->meters.count(counted_provider(),
                         own ? RegistrationOutcome::refused : RegistrationOutcome::unavailable);
    log_refusal(refusal);
    answer(refusal);
    // The answer to its launch may have been lost: the fleet then asks the provider for its
    // workers. Nobody registers by this, because a worker that is known by now is left alone.
    if (unknown_worker_ && refusal.reason != RefusalReason::too_many_failures)
      host().fleet->post([claim = claim()](Fleet& fleet, Now now) {
        if (!fleet.find_worker(claim.name))
          (void)fleet.register_worker(claim.name, claim.provider, {}, now);
      });
  }

  // Those who wait for their next attempt are not logged: that bounds the lines.
  void log_refusal(const Refusal& refusal) const {
    if (!is_workers_fault(refusal.reason) || refusal.reason == RefusalReason::too_many_failures)
      return;
    host().log.warning("a registration was refused", {{"worker", claim().key()},
                                                      {"providerId", claim().provider.str()},
                                                      {"address", application_.address},
                                                      {"reason", refusal.message}});
  }

  void answer(const Refusal& refusal) {
    if (application_.voucher && host().fleet)
      host().fleet->post([event = relay_event(claim(), *application_.voucher, refusal)](
                             Fleet& fleet, Now now) { fleet.emit_event(event, now); });
    done_(refusal);
  }

  const std::shared_ptr<State> state_;
  Application application_;
  const Done done_;
  const std::string peer_key_, worker_key_;  // whose failures these are

  bool known_provider_ = false, declared_workers_ = false, unknown_worker_ = false;
  bool expected_ = false;  // the fleet has it, and it is not about to end
  std::string challenge_;
  std::optional<fleet::QueueFacts> reported_;
  Sha256 registration_key_{};
  WorkerRecord record_;
  Time created_{};

  Time at_{};
  Secret renewal_secret_{std::string()};  // made when the provider has confirmed the worker
  Result<fleet::Registered> registered_ = Error::internal("nothing was done");
};

}  // namespace

void begin_registration(const std::shared_ptr<State>& state, Application application, Done done) {
  std::make_shared<RegistrationAttempt>(state, std::move(application), std::move(done))->begin();
}

}  // namespace muster::registration
