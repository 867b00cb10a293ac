#include "agent/identity.hpp"

#include <charconv>
#include <fcntl.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "agent/metadata.hpp"
#include "agent/pool_key.hpp"
#include "lib/base/secret_file.hpp"
#include "lib/crypto/sha256_digits.hpp"

namespace muster::agent {
namespace {

constexpr Milliseconds command_timeout = std::chrono::seconds(30);

json::object queue_description(const ReportedCapabilities& reported) {
  json::object said;
  if (!reported.resources.empty()) said["resources"] = codec::to_value(reported.resources);
  if (!reported.tags.empty()) said["tags"] = codec::to_value(reported.tags);
  if (!reported.team.empty()) said["team"] = reported.team;
  return said;
}

}  // namespace

Time machine_boot_time(const Clock& clock) {
  // Not by read_file(): what /proc has says that it is empty, and the file may be long.
  const FileDescriptor file(::open("/proc/stat", O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  for (ssize_t got = 0; (got = ::read(file.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  const auto at = text.find("\nbtime ");
  std::int64_t seconds = 0;
  if (at != std::string::npos)
    std::from_chars(text.data() + at + 7, text.data() + text.size(), seconds);
  return seconds > 0 ? Time(std::chrono::seconds(seconds)) : clock.now();
}

Registrar::Registrar(const Configuration& configuration, EventLoop& loop, HttpClient& http,
                     HostCalls& host, Children& children, Time boot, Secret registration_key)
    : configuration_(configuration),
      loop_(loop),
      http_(http),
      host_(host),
      children_(children),
      boot_(boot),
      registration_key_(std::move(registration_key)) {}

Registrar::~Registrar() = default;

void Registrar::register_worker(Done done) {
  done_ = std::move(done);
  place_ = configuration_.place;
  state_.clear();
  settings_.assign(configuration_.state.begin(), configuration_.state.end());
  gather_state(0);
}

// One after the other: commands may be heavy, and there are few.
void Registrar::gather_state(std::size_t index) {
  while (index < settings_.size() && settings_[index].second.command.empty()) {
    state_[settings_[index].first] = settings_[index].second.text;
    ++index;
  }
  if (index == settings_.size()) return prove();
  command_ = std::make_unique<OutputOf>(
      loop_, children_, Spawn{settings_[index].second.command, own_environment()}, command_timeout,
      [this, index](Result<std::string> output) {
        const auto finished = std::move(command_);  // alive until this returns
        if (!output)
          return fail(
              Error::transient("state." + settings_[index].first + ": " + output.error().message));
        state_[settings_[index].first] = *output;
        gather_state(index + 1);
      });
}

void Registrar::prove() {
  switch (configuration_.identity.kind) {
    case IdentityKind::local:
    case IdentityKind::static_secret:
      return prove_by_secret();
    case IdentityKind::pool_key:
      return show({});
    case IdentityKind::relay:
      return host_.register_at_relay(
          configuration_.identity.relay_url, place_, described(), boot_,
          [this](const CallOutcome& outcome, std::optional<Grant> grant) {
            done_(outcome, std::move(grant), place_);
          });
    case IdentityKind::aws:
    case IdentityKind::google:
    case IdentityKind::azure:
      return prove_by_cloud();
    case IdentityKind::proof:
      return prove_by_document();
  }
}

void Registrar::prove_by_secret() {
  const IdentitySettings& identity = configuration_.identity;
  const auto secret = identity.secret
                          ? Result<Secret>(*identity.secret)
                          : read_secret_file(identity.secret_file, "the worker's secret");
  if (!secret) return fail(secret.error());
  json::object proof;
  proof[identity.kind == IdentityKind::local ? "localSecret" : "staticSecret"] = secret->reveal();
  show(std::move(proof));
}

void Registrar::prove_by_cloud() {
  const IdentitySettings& identity = configuration_.identity;
  ask_cloud(identity.kind, http_, identity.metadata_url, place_,
            [this](Result<CloudIdentity> found) {
              if (!found) return fail(found.error());
              const auto keep = [](std::string& configured, const std::string& told) {
                if (configured.empty()) configured = told;
              };
              keep(place_.root_url, found->place.root_url);
              keep(place_.worker_pool_id, found->place.worker_pool_id);
              keep(place_.provider_id, found->place.provider_id);
              keep(place_.worker_group, found->place.worker_group);
              keep(place_.worker_id, found->place.worker_id);
              if (configuration_.identity.kind == IdentityKind::azure &&
                  configuration_.identity.key_file.empty())
                return show_fresh_document(std::move(found->proof));
              show(std::move(found->proof));
            });
}

// Azure's document with a nonce that is made from the host's challenge: nobody else can use it. A
// host that gives no challenges, as Taskcluster's, gets the document as it is.
void Registrar::show_fresh_document(json::object proof) {
  host_.challenge(place_, [this, proof = std::move(proof)](const CallOutcome& outcome,
                                                           const std::string& challenge) mutable {
    if (outcome.kind != CallOutcome::Kind::done) return show(std::move(proof));
    ask_attested_document(
        http_, configuration_.identity.metadata_url, sha256_digits(challenge),
        [this, proof = std::move(proof), challenge](Result<std::string> document) mutable {
          if (!document) return fail(document.error());
          proof["document"] = *document;
          proof["registrationChallenge"] = challenge;
          show(std::move(proof));
        });
  });
}

// A proof that only the provider understands: a service behind provider/bridge, for example.
void Registrar::prove_by_document() {
  const IdentitySettings& identity = configuration_.identity;
  if (identity.proof_command.empty()) {
    const auto text =
        read_secret_file(identity.proof_file, "the worker's proof", SecretText::document);
    if (!text) return fail(text.error());
    return show_document(text->reveal(), identity.proof_file.string());
  }
  command_ = std::make_unique<OutputOf>(
      loop_, children_, Spawn{identity.proof_command, own_environment()}, command_timeout,
      [this](Result<std::string> output) {
        const auto finished = std::move(command_);  // alive until this returns
        if (!output)
          return fail(Error::transient("identity.proofCommand: " + output.error().message));
        show_document(*output,
                      "the first 4 KiB of " + configuration_.identity.proof_command.front());
      });
}

// The text is a secret: no message shows it.
void Registrar::show_document(const std::string& text, const std::string& from) {
  auto proof = json::parse_object(text);
  if (!proof)
    return fail(Error::transient("the worker's proof from " + from + " is not a JSON object"));
  show(std::move(*proof));
}

// What the worker reports of itself, whatever proves its identity.
json::object Registrar::described() const {
  json::object description;
  if (!state_.empty()) description["state"] = state_;
  if (json::object said = queue_description(configuration_.reported); !said.empty())
    description["queue"] = std::move(said);
  return description;
}

// A worker that its provider launches registers once, and again only with the same key. Others
// prove by a secret of their own.
bool Registrar::shows_registration_key() const {
  const IdentityKind kind = configuration_.identity.kind;
  return kind == IdentityKind::local || kind == IdentityKind::aws || kind == IdentityKind::google ||
         kind == IdentityKind::azure || kind == IdentityKind::proof;
}

void Registrar::show(json::object proof) {
  if (shows_registration_key()) proof["registrationKey"] = registration_key_.reveal();
  for (auto& member : described()) proof[member.key()] = member.value();
  if (configuration_.identity.key_file.empty()) return send(proof);
  sign_challenge(std::move(proof));
}

void Registrar::sign_challenge(json::object proof) {
  host_.challenge(place_, [this, proof = std::move(proof)](const CallOutcome& outcome,
                                                           const std::string& challenge) mutable {
    if (outcome.kind != CallOutcome::Kind::done) return done_(outcome, std::nullopt, place_);
    const std::filesystem::path& file = configuration_.identity.key_file;
    const auto key = read_secret_file(file, "the pool's key", SecretText::document);
    if (!key) return fail(key.error());
    const auto made = sign_with_pool_key(*key, file, challenge);
    if (!made) return fail(made.error());
    proof["poolKey"] = json::object{
        {"challenge", challenge}, {"signature", made->signature}, {"publicKey", made->public_key}};
    send(proof);
  });
}

void Registrar::send(const json::object& proof) {
  host_.register_worker(place_, proof, boot_,
                        [this](const CallOutcome& outcome, std::optional<Grant> grant) {
                          done_(outcome, std::move(grant), place_);
                        });
}

void Registrar::fail(const Error& error) {
  const bool final = error.error_class == ErrorClass::config;
  const auto kind = final ? CallOutcome::Kind::refused : CallOutcome::Kind::try_again;
  loop_.after(Milliseconds(0), [this, outcome = CallOutcome{kind, error.message}] {
    done_(outcome, std::nullopt, place_);
  });
}

}  // namespace muster::agent
