// What the fleet is told of workers from outside, and what it tells them.
#pragma once

#include <optional>
#include <string>

#include <muster/provider.hpp>

#include "host/fleet/model/queue_facts.hpp"
#include "lib/base/secret.hpp"

namespace muster::fleet {

// What a worker is told when it registers.
struct Registered {
  std::int64_t number = 0;
  LaunchConfigId launch_config_id;
  Time credentials_expire{};
  json::object worker_config;
  std::optional<std::string> outdated = {};  // it is to end when its work is done: why
};

struct ShouldTerminate {
  bool terminate = false;
  std::string reason;
};

// Names a worker from outside.
struct WorkerName {
  WorkerPoolId worker_pool_id;
  WorkerGroup worker_group;
  WorkerId worker_id;
};

// What a provider has found out about a worker that registers, and what the worker says itself.
struct Proven {
  // It may join though nobody has made it known.
  std::optional<Admission> admission = {};
  json::object claims = {};  // for those who hear of it
  std::optional<QueueFacts> reported = {};
  // Of the key that the worker itself has chosen; all zero: none.
  Sha256 registration_key = {};
};

// A worker that nobody launches: its owner says that it is there.
struct DeclaredWorker {
  WorkerName name;
  ProviderId provider_id;
  std::int64_t capacity = 1;
  Time expires{};  // then it is forgotten
  json::object provider_data = {};
};

}  // namespace muster::fleet
