// What the fleet keeps in the store, one struct for each table.
#pragma once

#include <muster/launch_types.hpp>

namespace muster::fleet {

enum class WorkerState { requested, running, stopping, stopped };
constexpr auto enum_names(WorkerState) {
  return std::array<std::string_view, 4>{"requested", "running", "stopping", "stopped"};
}

// How far the launch of a worker has come. `intended` is durable before the provider is called.
enum class LaunchPhase { intended, uncertain, launched };
constexpr auto enum_names(LaunchPhase) {
  return std::array<std::string_view, 3>{"intended", "uncertain", "launched"};
}

// Who says that a worker is there. All but the first are declared: the host does not launch them.
enum class Origin {
  launched,
  owner,     // by createWorker, until a time
  listing,   // its provider's configuration names it
  admission  // it came by itself and its provider let it in
};
constexpr auto enum_names(Origin) {
  return std::array<std::string_view, 4>{"launched", "owner", "listing", "admission"};
}

// Why a worker takes no work: it is to end when its work is done, or it waits for something.
enum class Drain {
  none,
  surplus,
  outdated,
  interrupted,
  quarantined,   // until an operator's time
  removed,       // an operator drains it
  absent,        // declared and not registered: it comes back by registering
  nonconformant  // not in the state that its pool wants: likewise, in that state
};
constexpr auto enum_names(Drain) {
  return std::array<std::string_view, 8>{"none",        "surplus", "outdated", "interrupted",
                                         "quarantined", "removed", "absent",   "nonconformant"};
}

enum class LaunchConfigStatus { active, paused, archived };
constexpr auto enum_names(LaunchConfigStatus) {
  return std::array<std::string_view, 3>{"active", "paused", "archived"};
}

// "hostId", "epoch", "nextNumber".
struct HostRow {
  static constexpr std::string_view table = "host";
  static constexpr std::size_t key_columns = 1;
  // "yes" from the loss of changes until all providers were listed: a host that is killed before
  // that would not know of the loss at its next start.
  static constexpr const char* lists_awaited = "listsAwaited";
  std::string name;
  std::string value;

  static constexpr auto fields(auto visit) {
    return visit(required("name", &HostRow::name), required("value", &HostRow::value));
  }
};

// A pool that was made through the API and not by a worker configuration.
struct ApiPoolRow {
  static constexpr std::string_view table = "api_pools";
  static constexpr std::size_t key_columns = 1;
  WorkerPoolId worker_pool_id;
  json::object document;  // as its maker gave it
  Time created{};
  Time last_modified{};

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &ApiPoolRow::worker_pool_id),
                 required("document", &ApiPoolRow::document),
                 required("created", &ApiPoolRow::created),
                 required("lastModified", &ApiPoolRow::last_modified));
  }
};

// A pool as it was last configured, and its last hour as strategies see it. A host that starts goes
// on with it, whatever has become of the files meanwhile.
struct PoolRow {
  static constexpr std::string_view table = "pools";
  static constexpr std::size_t key_columns = 1;
  WorkerPoolId worker_pool_id;
  json::object spec;  // without launch configurations; empty: no longer configured
  json::array history;
  std::optional<Time> created = {};
  std::optional<Time> last_modified = {};  // when its configuration changed

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &PoolRow::worker_pool_id),
                 required("spec", &PoolRow::spec), required("history", &PoolRow::history),
                 required("created", &PoolRow::created),
                 required("lastModified", &PoolRow::last_modified));
  }
};

struct LaunchConfigRow {
  static constexpr std::string_view table = "launch_configs";
  static constexpr std::size_t key_columns = 2;
  WorkerPoolId worker_pool_id;
  LaunchConfigId launch_config_id;
  ProviderId provider_id;
  LaunchConfigStatus status = LaunchConfigStatus::active;
  std::optional<Time> paused_until = {};
  std::string pause_reason = {};
  Time created{};
  std::optional<Time> archived = {};
  bool on_probation = false;  // it failed until its weight was zero; the next launch is a canary
  json::object spec;          // placement, document, capacityPerInstance, ... (configuration.hpp)
  json::array health = {};    // the last hour by minutes (health.hpp)

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &LaunchConfigRow::worker_pool_id),
                 required("launchConfigId", &LaunchConfigRow::launch_config_id),
                 required("providerId", &LaunchConfigRow::provider_id),
                 required("status", &LaunchConfigRow::status),
                 required("pausedUntil", &LaunchConfigRow::paused_until),
                 required("pauseReason", &LaunchConfigRow::pause_reason),
                 required("created", &LaunchConfigRow::created),
                 required("archived", &LaunchConfigRow::archived),
                 required("doubted", &LaunchConfigRow::on_probation),
                 required("spec", &LaunchConfigRow::spec),
                 required("health", &LaunchConfigRow::health));
  }
};

struct WorkerRow {
  static constexpr std::string_view table = "workers";
  static constexpr std::size_t key_columns = 1;
  std::int64_t number = 0;  // of the intent; the idempotency key is made from it
  WorkerPoolId worker_pool_id;
  LaunchConfigId launch_config_id;
  ProviderId provider_id;
  WorkerGroup worker_group;  // empty until the instance is known
  WorkerId worker_id;
  WorkerState state = WorkerState::requested;
  LaunchPhase phase = LaunchPhase::intended;
  Drain drain = Drain::none;
  std::int64_t capacity = 1;
  std::int64_t busy = -1;  // of its capacity, without what is leased of it; -1: not known
  std::int64_t epoch = 0;  // of the host that launched it
  std::int64_t attempts = 0;
  double price = 0;  // of the whole worker for an hour, as it was bid
  Time created{};
  Time since{};  // when it entered its state
  std::optional<Time> registered = {};
  std::optional<Time> credentials_expire = {};
  std::optional<Time> last_active = {};
  std::optional<Time> idle_since = {};
  std::optional<Time> interruption = {};
  std::optional<Time> quarantined_until = {};
  std::string reason = {};           // why it is in its state, or why it drains
  std::string provider_data = {};    // JSON, opaque
  std::optional<Time> expires = {};  // of a worker that its owner declared; then it is forgotten
  std::optional<Time> last_modified = {};
  // Of the secrets with which it may renew its credentials: the one that it used last or has got
  // first, and the one that it was told last, which may have been lost on the way.
  std::string secret_digest = {};
  std::string next_secret_digest = {};
  Origin origin = Origin::launched;
  // Of the key with which a launched worker may register again.
  std::string registration_key_digest = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("number", &WorkerRow::number),
        required("workerPoolId", &WorkerRow::worker_pool_id),
        required("launchConfigId", &WorkerRow::launch_config_id),
        required("providerId", &WorkerRow::provider_id),
        required("workerGroup", &WorkerRow::worker_group),
        required("workerId", &WorkerRow::worker_id), required("state", &WorkerRow::state),
        required("phase", &WorkerRow::phase), required("drain", &WorkerRow::drain),
        required("capacity", &WorkerRow::capacity), required("busy", &WorkerRow::busy),
        required("epoch", &WorkerRow::epoch), required("attempts", &WorkerRow::attempts),
        required("price", &WorkerRow::price), required("created", &WorkerRow::created),
        required("since", &WorkerRow::since), required("registered", &WorkerRow::registered),
        required("credentialsExpire", &WorkerRow::credentials_expire),
        required("lastActive", &WorkerRow::last_active),
        required("idleSince", &WorkerRow::idle_since),
        required("interruption", &WorkerRow::interruption),
        required("quarantinedUntil", &WorkerRow::quarantined_until),
        required("reason", &WorkerRow::reason), required("providerData", &WorkerRow::provider_data),
        required("expires", &WorkerRow::expires),
        required("lastModified", &WorkerRow::last_modified),
        required("secretDigest", &WorkerRow::secret_digest),
        required("nextSecretDigest", &WorkerRow::next_secret_digest),
        required("origin", &WorkerRow::origin),
        required("registrationKeyDigest", &WorkerRow::registration_key_digest));
  }
};

// What a worker said of itself to the queue when it registered last; most say nothing.
struct WorkerFactsRow {
  static constexpr std::string_view table = "worker_facts";
  static constexpr std::size_t key_columns = 1;
  std::int64_t number = 0;  // the worker's
  json::object facts = {};

  static constexpr auto fields(auto visit) {
    return visit(required("number", &WorkerFactsRow::number),
                 required("facts", &WorkerFactsRow::facts));
  }
};

// What not to try for a while, for all pools.
struct HoldRow {
  static constexpr std::string_view table = "holds";
  static constexpr std::size_t key_columns = 2;
  ProviderId provider_id;
  std::string scope;  // its parts in one text: the key
  std::string error_class;
  std::optional<std::string> region = {};
  std::optional<std::string> zone = {};
  std::optional<std::string> instance_type = {};
  std::optional<std::string> launch_config_id = {};
  std::string message;
  std::string code;
  Time since{};
  Time until{};
  std::int64_t strikes = 1;  // how often in a row; each doubles the time
  bool probing = false;      // the time is over, one canary launch decides

  static constexpr auto fields(auto visit) {
    return visit(required("providerId", &HoldRow::provider_id), required("scope", &HoldRow::scope),
                 required("errorClass", &HoldRow::error_class),
                 required("region", &HoldRow::region), required("zone", &HoldRow::zone),
                 required("instanceType", &HoldRow::instance_type),
                 required("launchConfigId", &HoldRow::launch_config_id),
                 required("message", &HoldRow::message), required("code", &HoldRow::code),
                 required("since", &HoldRow::since), required("until", &HoldRow::until),
                 required("strikes", &HoldRow::strikes), required("probing", &HoldRow::probing));
  }
};

// What is known by task outcomes of a worker, an image or a launch configuration, and of their
// pool.
struct OutcomeHealthRow {
  static constexpr std::string_view table = "outcome_health";
  static constexpr std::size_t key_columns = 3;
  WorkerPoolId worker_pool_id;
  std::string kind;  // "pool", "worker", "image", "launchConfig"
  std::string subject;
  json::object state = {};

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &OutcomeHealthRow::worker_pool_id),
                 required("kind", &OutcomeHealthRow::kind),
                 required("subject", &OutcomeHealthRow::subject),
                 required("state", &OutcomeHealthRow::state));
  }
};

// One decision, for `muster log`.
struct DecisionRow {
  static constexpr std::string_view table = "decisions";
  static constexpr std::size_t key_columns = 2;
  WorkerPoolId worker_pool_id;
  std::int64_t number = 0;
  Time at{};
  std::string kind;            // "size", "select", "allocate", "lifecycle", "configuration"
  std::string digest;          // of its inputs: the same digest, the same decision
  std::string reason;          // in words
  json::object document = {};  // inputs and answers

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &DecisionRow::worker_pool_id),
                 required("number", &DecisionRow::number), required("at", &DecisionRow::at),
                 required("kind", &DecisionRow::kind), required("digest", &DecisionRow::digest),
                 required("reason", &DecisionRow::reason),
                 required("document", &DecisionRow::document));
  }
};

// Something that went wrong, for the pool's owner.
struct PoolErrorRow {
  static constexpr std::string_view table = "pool_errors";
  static constexpr std::size_t key_columns = 2;
  WorkerPoolId worker_pool_id;
  std::int64_t number = 0;
  Time at{};
  std::string kind;  // "creation-error", "registration-timeout", "worker-reported", ...
  std::string title;
  std::string description;
  LaunchConfigId launch_config_id;
  json::object extra = {};

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &PoolErrorRow::worker_pool_id),
                 required("number", &PoolErrorRow::number), required("at", &PoolErrorRow::at),
                 required("kind", &PoolErrorRow::kind), required("title", &PoolErrorRow::title),
                 required("description", &PoolErrorRow::description),
                 required("launchConfigId", &PoolErrorRow::launch_config_id),
                 required("extra", &PoolErrorRow::extra));
  }
};

}  // namespace muster::fleet
