// Requests and answers of the provider contract (provider.hpp), method by method, and the
// description of a provider.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/identity_types.hpp>
#include <muster/launch_types.hpp>

namespace muster {

struct FactDescription {
  std::string name;  // "availabilityZone"
  std::string description;

  static constexpr auto fields(auto visit) {
    return visit(required("name", &FactDescription::name),
                 optional("description", &FactDescription::description));
  }
};

// What a change of a field of the launch document means for running workers (dotted paths; a path
// covers all below it): static fields make them outdated; dynamic ones only if the worker's own
// value is no longer produced; behavioural ones never. A field that is not listed is static.
struct FieldClasses {
  std::vector<std::string> static_fields;
  std::vector<std::string> dynamic_fields;
  std::vector<std::string> behavioural_fields;

  static constexpr auto fields(auto visit) {
    return visit(optional("static", &FieldClasses::static_fields),
                 optional("dynamic", &FieldClasses::dynamic_fields),
                 optional("behavioural", &FieldClasses::behavioural_fields));
  }
};

// The optional methods that a provider offers.
namespace capability {
inline constexpr const char* notices = "notices/1";
// Some of its workers are machines that nobody launches: their owners announce them to the host
// (createWorker), or the provider does (Listing::announced, Identity::admission).
inline constexpr const char* announced_workers = "announced-workers/1";
inline constexpr const char* diagnosis = "diagnosis/1";
}  // namespace capability

// How the provider's cloud likes to be asked for machines: what the host goes by unless the
// operator says otherwise. What is absent, the host knows as well.
struct LaunchPace {
  std::optional<std::int64_t> per_call = {};  // machines that one `allocate` asks for at most
  std::optional<std::int64_t> burst = {};     // machines at once after a pause
  std::optional<double> per_second = {};      // machines in the long run

  static constexpr auto fields(auto visit) {
    return visit(optional("perCall", &LaunchPace::per_call), optional("burst", &LaunchPace::burst),
                 optional("perSecond", &LaunchPace::per_second));
  }
};

struct ProviderDescription {
  std::string name = {};        // filled in from muster_add_plugin()
  std::string version = {};     // likewise
  std::string description;      // one sentence for `muster plugin list`
  json::object config_schema;   // JSON Schema of the instance's configuration
  std::string section;          // the provider's own table in worker configurations: "aws"
  json::object section_schema;  // JSON Schema of that table
  std::vector<FactDescription> facts = {};     // beyond workerType, provider and region
  std::vector<std::string> capabilities = {};  // of namespace capability
  FieldClasses field_classes = {};
  LaunchPace launch_pace = {};
  json::object example_config = {};  // a configuration and a section that work without any account,
  json::object example_section = {};  // with which the contract is checked

  static constexpr auto fields(auto visit) {
    return visit(required("name", &ProviderDescription::name),
                 required("version", &ProviderDescription::version),
                 optional("description", &ProviderDescription::description),
                 required("configSchema", &ProviderDescription::config_schema),
                 required("section", &ProviderDescription::section),
                 required("sectionSchema", &ProviderDescription::section_schema),
                 optional("facts", &ProviderDescription::facts),
                 optional("capabilities", &ProviderDescription::capabilities),
                 optional("fieldClasses", &ProviderDescription::field_classes),
                 optional("launchPace", &ProviderDescription::launch_pace),
                 optional("exampleConfig", &ProviderDescription::example_config),
                 optional("exampleSection", &ProviderDescription::example_section));
  }
};

struct PlacementsRequest {
  static constexpr auto fields(auto visit) { return visit(); }
};

struct Placements {
  std::vector<Placement> placements;  // each has at least the fact "region"

  static constexpr auto fields(auto visit) {
    return visit(required("placements", &Placements::placements));
  }
};

// An evaluated worker configuration for one placement, to be checked and expanded.
struct ExpandRequest {
  WorkerPoolId worker_pool_id;
  Placement placement;
  json::object document;

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &ExpandRequest::worker_pool_id),
                 required("placement", &ExpandRequest::placement),
                 required("document", &ExpandRequest::document));
  }
};

struct LaunchDocument {
  json::object document;
  std::int64_t capacity_per_instance = 1;
  std::string instance_type = {};

  static constexpr auto fields(auto visit) {
    return visit(required("document", &LaunchDocument::document),
                 optional("capacityPerInstance", &LaunchDocument::capacity_per_instance),
                 optional("instanceType", &LaunchDocument::instance_type));
  }
};

struct Expansion {
  std::vector<LaunchDocument>
      launch_documents;  // one for each instance type, say; empty: nothing to launch here

  static constexpr auto fields(auto visit) {
    return visit(required("launchDocuments", &Expansion::launch_documents));
  }
};

struct BidRequest {
  struct Candidate {
    LaunchConfig launch_config;
    double weight = 1;                               // its health, 0 to 1
    std::optional<std::int64_t> max_instances = {};  // room below its limits; absent: none known

    static constexpr auto fields(auto visit) {
      return visit(required("launchConfig", &Candidate::launch_config),
                   optional("weight", &Candidate::weight),
                   optional("maxInstances", &Candidate::max_instances));
    }
  };

  Owner owner;
  WorkerPoolId worker_pool_id;
  std::int64_t capacity = 0;  // wanted; a bid may offer less or a little more
  std::vector<Candidate> candidates;

  static constexpr auto fields(auto visit) {
    return visit(required("owner", &BidRequest::owner),
                 required("workerPoolId", &BidRequest::worker_pool_id),
                 required("capacity", &BidRequest::capacity),
                 required("candidates", &BidRequest::candidates));
  }
};

struct Bid {
  LaunchConfigId launch_config_id;
  std::int64_t capacity_per_instance = 1;
  std::int64_t instances = 0;  // at most so many
  double price_per_capacity_hour = 0;
  double reliability = 1;   // 0 to 1: how likely the launch succeeds and the instance stays
  json::value data = {};    // opaque: comes back with `allocate`
  std::string reason = {};  // in words, where there is something to say

  static constexpr auto fields(auto visit) {
    return visit(required("launchConfigId", &Bid::launch_config_id),
                 required("capacityPerInstance", &Bid::capacity_per_instance),
                 required("instances", &Bid::instances),
                 required("pricePerCapacityHour", &Bid::price_per_capacity_hour),
                 optional("reliability", &Bid::reliability), optional("data", &Bid::data),
                 optional("reason", &Bid::reason));
  }
};

struct Bids {
  std::vector<Bid> bids;
  std::vector<Error> problems = {};  // why some candidates got no bid

  static constexpr auto fields(auto visit) {
    return visit(required("bids", &Bids::bids), optional("problems", &Bids::problems));
  }
};

struct AllocateRequest {
  Owner owner;
  LaunchConfig launch_config;
  json::value bid_data = {};
  std::vector<IdempotencyKey> idempotency_keys;  // one for each worker to launch
  std::map<std::string, std::string> tags = {};  // to be put on every instance
  json::object registration = {};  // what the workers need to find the host and register
  // Those of the keys that an earlier call may have used, also one of an earlier process of the
  // host or of the plugin.
  std::vector<IdempotencyKey> repeated_keys = {};

  static constexpr auto fields(auto visit) {
    return visit(required("owner", &AllocateRequest::owner),
                 required("launchConfig", &AllocateRequest::launch_config),
                 optional("bidData", &AllocateRequest::bid_data),
                 required("idempotencyKeys", &AllocateRequest::idempotency_keys),
                 optional("tags", &AllocateRequest::tags),
                 optional("registration", &AllocateRequest::registration),
                 optional("repeatedKeys", &AllocateRequest::repeated_keys));
  }
};

// What became of one key: an instance or an error.
struct Launch {
  IdempotencyKey idempotency_key;
  std::optional<Instance> instance = {};
  std::optional<Error> error = {};

  static constexpr auto fields(auto visit) {
    return visit(required("idempotencyKey", &Launch::idempotency_key),
                 optional("instance", &Launch::instance), optional("error", &Launch::error));
  }
};

struct Allocation {
  std::vector<Launch> launches;  // one for each key, in their order

  static constexpr auto fields(auto visit) {
    return visit(required("launches", &Allocation::launches));
  }
};

struct ListRequest {
  Owner owner;

  static constexpr auto fields(auto visit) { return visit(required("owner", &ListRequest::owner)); }
};

// A machine that nobody launches, which the provider's configuration names. It is there as long as
// listings say so.
struct AnnouncedMachine {
  WorkerPoolId worker_pool_id;
  WorkerGroup worker_group;
  WorkerId worker_id;
  std::int64_t capacity = 1;
  json::object provider_data = {};  // as Instance::provider_data

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &AnnouncedMachine::worker_pool_id),
                 required("workerGroup", &AnnouncedMachine::worker_group),
                 required("workerId", &AnnouncedMachine::worker_id),
                 optional("capacity", &AnnouncedMachine::capacity),
                 optional("providerData", &AnnouncedMachine::provider_data));
  }
};

struct Listing {
  std::vector<Instance> instances;
  std::vector<Error> problems =
      {};  // regions that could not be listed: what is missing there is not gone
  std::vector<AnnouncedMachine> announced = {};  // only of a provider with that capability

  static constexpr auto fields(auto visit) {
    return visit(required("instances", &Listing::instances),
                 optional("problems", &Listing::problems),
                 optional("announced", &Listing::announced));
  }
};

struct TerminateRequest {
  Owner owner;
  std::vector<WorkerRef> workers;
  std::string reason = {};

  static constexpr auto fields(auto visit) {
    return visit(required("owner", &TerminateRequest::owner),
                 required("workers", &TerminateRequest::workers),
                 optional("reason", &TerminateRequest::reason));
  }
};

struct Termination {
  struct Failure {
    WorkerGroup worker_group;
    WorkerId worker_id;
    Error error;

    static constexpr auto fields(auto visit) {
      return visit(required("workerGroup", &Failure::worker_group),
                   required("workerId", &Failure::worker_id), required("error", &Failure::error));
    }
  };
  std::vector<Failure> failures = {};  // all others are stopping or gone

  static constexpr auto fields(auto visit) {
    return visit(optional("failures", &Termination::failures));
  }
};

struct NoticesRequest {
  Owner owner;

  static constexpr auto fields(auto visit) {
    return visit(required("owner", &NoticesRequest::owner));
  }
};

// Instances that the cloud is about to take away, delivered again until the instance is gone; and
// launches that failed after `allocate` had answered.
struct Notices {
  struct Notice {
    WorkerGroup worker_group;
    WorkerId worker_id;
    Interruption interruption;

    static constexpr auto fields(auto visit) {
      return visit(required("workerGroup", &Notice::worker_group),
                   required("workerId", &Notice::worker_id),
                   required("interruption", &Notice::interruption));
    }
  };
  // A launch that `allocate` has answered with an instance, or whose end it did not know, and that
  // has failed since: no machine is or will be there.
  struct FailedLaunch {
    IdempotencyKey idempotency_key;
    Error error;

    static constexpr auto fields(auto visit) {
      return visit(required("idempotencyKey", &FailedLaunch::idempotency_key),
                   required("error", &FailedLaunch::error));
    }
  };
  std::vector<Notice> notices;
  std::vector<FailedLaunch> failed_launches = {};

  static constexpr auto fields(auto visit) {
    return visit(required("notices", &Notices::notices),
                 optional("failedLaunches", &Notices::failed_launches));
  }
};

// What an operator wants to know before, or when, launches fail.
struct DiagnoseRequest {
  Owner owner;
  std::vector<LaunchConfig> launch_configs = {};  // those that pools have for this provider

  static constexpr auto fields(auto visit) {
    return visit(required("owner", &DiagnoseRequest::owner),
                 optional("launchConfigs", &DiagnoseRequest::launch_configs));
  }
};

enum class CheckOutcome { good, failed, unknown };
constexpr auto enum_names(CheckOutcome) {
  return std::array<std::string_view, 3>{"good", "failed", "unknown"};
}

struct Diagnosis {
  struct Check {
    std::string subject;  // "credentials", "us-east-1: permissions"
    CheckOutcome outcome = CheckOutcome::unknown;
    std::string message;      // what was seen
    std::string remedy = {};  // what to do, unless it is good

    static constexpr auto fields(auto visit) {
      return visit(required("subject", &Check::subject), required("outcome", &Check::outcome),
                   required("message", &Check::message), optional("remedy", &Check::remedy));
    }
  };
  std::vector<Check> checks;

  static constexpr auto fields(auto visit) { return visit(required("checks", &Diagnosis::checks)); }
};

}  // namespace muster
