// The values that providers and the host exchange: what can be launched, what was launched.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/fields.hpp>
#include <muster/ids.hpp>
#include <muster/json.hpp>

namespace muster {

using Facts =
    std::map<std::string, std::string>;  // "region" → "eu-1", "availabilityZone" → "eu-1a"

// A place where a provider can launch, named by its facts. Rules' conditions are matched against
// them.
struct Placement {
  Facts facts;

  static constexpr auto fields(auto visit) { return visit(required("facts", &Placement::facts)); }
  friend bool operator==(const Placement&, const Placement&) = default;
};

// On whose behalf a call is made. Every instance carries it in its tags; `list` shows only
// instances of this host and provider, whatever their epoch.
struct Owner {
  std::string host_id;
  ProviderId provider_id;
  std::int64_t epoch =
      0;  // grows with each start of a host; a smaller one than seen before is a superseded host

  static constexpr auto fields(auto visit) {
    return visit(required("hostId", &Owner::host_id), required("providerId", &Owner::provider_id),
                 required("epoch", &Owner::epoch));
  }
};

// An immutable document that the provider can launch workers from.
struct LaunchConfig {
  LaunchConfigId launch_config_id;
  WorkerPoolId worker_pool_id;
  Placement placement;
  json::object document;  // evaluated from the rules and expanded by the provider
  std::int64_t capacity_per_instance = 1;
  std::string instance_type =
      {};  // for errors' scopes and prices; empty where the provider has no types

  static constexpr auto fields(auto visit) {
    return visit(required("launchConfigId", &LaunchConfig::launch_config_id),
                 required("workerPoolId", &LaunchConfig::worker_pool_id),
                 required("placement", &LaunchConfig::placement),
                 required("document", &LaunchConfig::document),
                 optional("capacityPerInstance", &LaunchConfig::capacity_per_instance),
                 optional("instanceType", &LaunchConfig::instance_type));
  }
};

enum class InstanceState { pending, running, stopping, stopped };
constexpr auto enum_names(InstanceState) {
  return std::array<std::string_view, 4>{"pending", "running", "stopping", "stopped"};
}

// The cloud takes the instance away at that time.
struct Interruption {
  Time at{};
  std::string reason;

  static constexpr auto fields(auto visit) {
    return visit(required("at", &Interruption::at), optional("reason", &Interruption::reason));
  }
};

// One machine as the provider knows it.
struct Instance {
  WorkerGroup worker_group;
  WorkerId worker_id;
  WorkerPoolId worker_pool_id;
  LaunchConfigId launch_config_id;
  IdempotencyKey idempotency_key;
  InstanceState state = InstanceState::pending;
  std::int64_t capacity = 1;
  std::int64_t epoch = 0;  // of the owner that launched it
  Time created{};
  std::optional<Interruption> interruption = {};
  json::object provider_data =
      {};  // opaque to the host, which keeps it and gives it back; starts with {"v": N}
  std::map<std::string, std::string> tags = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("workerGroup", &Instance::worker_group),
        required("workerId", &Instance::worker_id),
        required("workerPoolId", &Instance::worker_pool_id),
        required("launchConfigId", &Instance::launch_config_id),
        required("idempotencyKey", &Instance::idempotency_key), required("state", &Instance::state),
        optional("capacity", &Instance::capacity), optional("epoch", &Instance::epoch),
        required("created", &Instance::created), optional("interruption", &Instance::interruption),
        optional("providerData", &Instance::provider_data), optional("tags", &Instance::tags));
  }
};

// Names one machine to its provider.
struct WorkerRef {
  WorkerGroup worker_group;
  WorkerId worker_id;
  json::object provider_data = {};

  static constexpr auto fields(auto visit) {
    return visit(required("workerGroup", &WorkerRef::worker_group),
                 required("workerId", &WorkerRef::worker_id),
                 optional("providerData", &WorkerRef::provider_data));
  }
};

}  // namespace muster
