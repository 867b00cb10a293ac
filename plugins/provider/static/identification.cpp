#include "plugins/provider/static/identification.hpp"

#include "lib/ssh/pool_key_proof.hpp"
#include "plugins/base/digest.hpp"
#include "plugins/provider/static/wanted_state.hpp"

namespace muster::static_machines {
namespace {

const char* const digest_key = "staticSecretSha256";  // of rows that createWorker makes
const char* const host_name_key = "hostName";         // of rows that a relay has vouched for
const char* const key_key = "key";                    // of rows that came in by a key

std::string text_in(const json::object& object, std::string_view key) {
  const json::value* const found = object.if_contains(key);
  return found && found->is_string() ? std::string(found->get_string()) : std::string();
}

Error refused(std::string message) {
  return Error::auth(std::move(message));
}

// Finds out who it is; each way in is a function.
class Identification {
 public:
  Identification(const Settings& settings, Power& power, const IdentifyRequest& request)
      : settings_(settings), power_(power), request_(request) {}

  Result<Identity> run() {
    const auto proven = request_.voucher ? vouched() : proof();
    if (!proven) return proven.error();
    if (machine_ && machine_->powered)
      if (const auto launched = was_launched(); !launched) return launched.error();
    if (const auto fits = is_conformant(); !fits) return fits.error();
    return std::move(identity_);
  }

 private:
  Result<void> proof() {
    const json::value* const secret = request_.proof.if_contains("staticSecret");
    const json::value* const key = request_.proof.if_contains(ssh::pool_key_member);
    if (!secret && !key) return refused("missing staticSecret in workerIdentityProof");
    const Machine* const found = settings_.find(request_.worker_id);
    if (found && found->worker_pool_id == request_.worker_pool_id &&
        request_.worker_group == settings_.worker_group)
      machine_ = found;
    identity_.worker_group = request_.worker_group;
    identity_.worker_id = request_.worker_id;
    // Beside a secret, a key is for the host: its pool wants one.
    return secret ? shown_secret(*secret) : signed_challenge(*key);
  }

  // -----------------------------------------------------------------------------------------------
  // A secret

  Result<void> shown_secret(const json::value& secret) {
    const std::string in_row = text_in(request_.provider_data, digest_key);
    const bool configured = machine_ && !machine_->secret_sha256.empty();
    const std::string& digest = configured ? machine_->secret_sha256 : in_row;
    if (!secret.is_string() || !is_digest_of(digest, secret.get_string()))
      return refused("bad staticSecret in workerIdentityProof");
    identity_.claims["provenBy"] = "staticSecret";
    if (machine_) admit(*machine_);
    return {};
  }

  // -----------------------------------------------------------------------------------------------
  // A key

  Result<void> signed_challenge(const json::value& proof) {
    const bool free = !machine_ || !machine_->proves_itself();
    if (const auto may = may_come_by_key(free); !may) return may.error();
    if (free && !request_.pool_key.empty()) return came_by_key(request_.pool_key);
    const std::vector<PublicKey>& keys = free ? pool_keys() : machine_->keys;
    if (keys.empty()) return refused("no poolKey opens this pool");
    const auto signer = ssh::signer_in(proof, request_.challenge, keys);
    if (!signer) return signer.error();
    return came_by_key((*signer)->fingerprint());
  }

  Result<void> came_by_key(const std::string& fingerprint) {
    identity_.claims["provenBy"] = "poolKey";
    identity_.claims["key"] = fingerprint;
    if (machine_)
      admit(*machine_);
    else
      identity_.admission =
          Admission{.capacity = 1, .provider_data = {{"v", 1}, {key_key, fingerprint}}};
    return {};
  }

  // The host has checked a key of its own (IdentifyRequest::pool_key), or it is one of these.
  const std::vector<PublicKey>& pool_keys() const {
    static const std::vector<PublicKey> none;
    const auto pool = settings_.pools.find(request_.worker_pool_id);
    return pool == settings_.pools.end() ? none : pool->second.keys;
  }

  Result<void> may_come_by_key(bool free) const {
    if (!text_in(request_.provider_data, digest_key).empty())
      return refused("this worker was declared with a secret: a poolKey is not enough to be it");
    if (free) return pool_of_the_free();
    if (machine_->keys.empty())
      return refused("this worker has a secret of its own: a poolKey is not enough to be it");
    return {};
  }

  // A machine that is not named in the configuration cannot take the name of one that is.
  Result<void> pool_of_the_free() const {
    if (machine_) return {};
    if (!text_in(request_.provider_data, host_name_key).empty())
      return refused("this worker is known by its hostName: a poolKey is not enough to be it");
    if (request_.worker_group != settings_.worker_group)
      return refused("workerGroup is not that of this provider's machines");
    if (settings_.find(request_.worker_id))
      return refused("this workerId is that of a machine of another pool");
    return {};
  }

  // -----------------------------------------------------------------------------------------------
  // A relay

  Result<void> vouched() {
    const Voucher& voucher = *request_.voucher;
    const auto name = plain_host_name(voucher.host_name);
    if (!name) return refused("hostName is not a host name");
    const auto known = known_under(*name);
    if (!known) return known.error();
    WorkerPoolId pool;
    machine_ = settings_.find_host(*name);
    if (machine_) {
      pool = machine_->worker_pool_id;
      identity_.worker_id = machine_->worker_id;
      admit(*machine_);
    } else {
      const auto found = pool_by_pattern(*name);
      if (!found) return found.error();
      pool = *found;
      identity_.admission =
          Admission{.capacity = 1, .provider_data = {{"v", 1}, {host_name_key, *name}}};
    }
    identity_.worker_group = settings_.worker_group;
    if (request_.worker_pool_id.empty()) identity_.worker_pool_id = pool;
    identity_.claims = {{"provenBy", "relay"},
                        {"relay", voucher.by},
                        {host_name_key, *name},
                        {"address", voucher.address}};
    return agrees(pool);
  }

  // The row says as whom the worker came in: another machine cannot follow under the same id.
  Result<void> known_under(const std::string& name) const {
    const std::string before = text_in(request_.provider_data, host_name_key);
    if (!before.empty() && before != name)
      return refused("this worker is known under another hostName");
    if (!text_in(request_.provider_data, digest_key).empty())
      return refused("this worker was declared with a secret: a relay's word is not enough");
    if (!text_in(request_.provider_data, key_key).empty())
      return refused("this worker came in by a key: a relay's word is not enough");
    return {};
  }

  Result<WorkerPoolId> pool_by_pattern(const std::string& name) {
    std::vector<WorkerPoolId> fitting;
    for (const auto& [id, pool] : settings_.pools)
      for (const HostNamePattern& pattern : pool.host_names)
        if (pattern.matches(name) &&
            (request_.worker_pool_id.empty() || request_.worker_pool_id == id)) {
          fitting.push_back(id);
          break;
        }
    if (fitting.empty())
      return refused("hostName is that of no machine, and fits no pattern of " +
                     std::string(request_.worker_pool_id.empty() ? "any pool" : "this pool"));
    if (fitting.size() > 1)
      return refused(
          "hostName fits the patterns of several pools: say which workerPoolId it is for");
    const std::string label = name.substr(0, name.find('.'));
    if (!is_worker_name(label))
      return refused("the first label of hostName is not a workerId: it is longer than 38 letters");
    if (settings_.find(WorkerId(label)))
      return refused("the first label of hostName is the workerId of a machine with another name");
    identity_.worker_id = WorkerId(label);
    return fitting.front();
  }

  Result<void> agrees(const WorkerPoolId& pool) const {
    if (!request_.worker_pool_id.empty() && request_.worker_pool_id != pool)
      return refused("workerPoolId is not that of this machine");
    if (!request_.worker_group.empty() && request_.worker_group != identity_.worker_group)
      return refused("workerGroup is not that of this machine");
    if (!request_.worker_id.empty() && request_.worker_id != identity_.worker_id)
      return refused("workerId is not that of this machine");
    return {};
  }

  // -----------------------------------------------------------------------------------------------
  // For any machine

  // A powered machine is launched and has a row by that; it cannot come in by itself.
  void admit(const Machine& machine) {
    if (!machine.powered) identity_.admission = Admission{machine.capacity, row_of(machine)};
  }

  Result<void> was_launched() {
    const auto awake = power_.is_awake(*machine_, machine_->worker_pool_id);
    if (!awake) return awake.error();
    if (*awake) return {};
    return refused(
        "this machine is woken when it is needed, and was not: it may try again later, "
        "or sleep");
  }

  Result<void> is_conformant() {
    const auto reported = reported_state(request_.proof);
    if (!reported) return reported.error();
    if (!reported->empty()) {
      json::object state;
      for (const auto& [name, said] : *reported) state[name] = said;
      identity_.claims["state"] = std::move(state);
    }
    const json::value* const section = request_.document.if_contains(section_name);
    const json::value* const wanted =
        section && section->is_object() ? section->get_object().if_contains("state") : nullptr;
    if (!wanted) return {};
    const auto parsed = WantedState::parse(*wanted, "static.state");
    if (!parsed) return parsed.error();
    const std::string difference = parsed->difference(*reported);
    if (difference.empty()) return {};
    return Error::invalid("the machine is not in the state that its pool wants: " + difference)
        .with_code(not_conformant);
  }

  const Settings& settings_;
  Power& power_;
  const IdentifyRequest& request_;
  const Machine* machine_ = nullptr;  // if it is one of the configuration
  Identity identity_;
};

}  // namespace

json::object row_of(const Machine& machine) {
  json::object row{{"v", 1}};
  if (!machine.host_name.empty()) row[host_name_key] = machine.host_name;
  return row;
}

Result<Identity> identify(const Settings& settings, Power& power, const IdentifyRequest& request) {
  return Identification(settings, power, request).run();
}

}  // namespace muster::static_machines
