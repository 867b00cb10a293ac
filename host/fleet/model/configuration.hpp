// What the fleet should look like: pools and their launch configurations, as one immutable value.
// Made from the worker configurations (host/config/worker) and from pools of the API; the fleet
// swaps it whole.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <muster/bidding_strategy.hpp>
#include <muster/launch_types.hpp>

#include "host/queue/model.hpp"

namespace muster::fleet {

// Times of a worker's life and how a pool shrinks and renews itself: the pool setting `lifecycle`.
struct Lifecycle {
  std::chrono::seconds registration_timeout{30 * 60};
  std::chrono::seconds reregistration_timeout{96 * 3600};  // how long credentials last
  std::chrono::seconds queue_inactivity_timeout{2 * 3600};
  std::chrono::seconds idle_timeout{10 * 60};  // an idle worker that is too many ends after that
  std::int64_t warm_capacity = 0;              // idle capacity that is kept, whatever the demand

  // Outdated workers are told to end at most so many at once: a number, or a share of the pool.
  struct CyclingBudget {
    std::optional<std::int64_t> workers = {};
    double share = 1;
    friend bool operator==(const CyclingBudget&, const CyclingBudget&) = default;
  } cycling_budget = {};

  // How long an outdated worker that works, or does not say whether it does, has for its tasks: so
  // long its credentials are renewed.
  std::chrono::seconds finish_tasks{24 * 3600};

  // When cycling may begin, in UTC; none: always. A window that ends before it begins spans
  // midnight.
  struct Window {
    std::vector<int> weekdays = {};  // 0 is Sunday; empty: every day
    std::chrono::minutes from{0}, to{24 * 60};
    friend bool operator==(const Window&, const Window&) = default;
  };
  std::vector<Window> cycling_windows = {};
  friend bool operator==(const Lifecycle&, const Lifecycle&) = default;
};

// One thing that a provider can launch for a pool.
struct LaunchConfigSpec {
  LaunchConfig launch_config;
  ProviderId provider_id;
  std::optional<std::int64_t> max_capacity = {};
  double initial_weight = 1;
  json::object worker_config = {};  // what its workers receive

  static constexpr auto fields(auto visit) {
    return visit(required("launchConfig", &LaunchConfigSpec::launch_config),
                 required("providerId", &LaunchConfigSpec::provider_id),
                 optional("maxCapacity", &LaunchConfigSpec::max_capacity),
                 optional("initialWeight", &LaunchConfigSpec::initial_weight),
                 optional("workerConfig", &LaunchConfigSpec::worker_config));
  }
};

struct PoolSpec {
  WorkerPoolId worker_pool_id;
  std::string origin;  // the file that it comes from; empty: made through the API
  std::string owner;
  std::string description;
  bool email_on_error = false;
  std::string strategy;  // of the host configuration
  PoolSettings settings;
  Lifecycle lifecycle;
  std::vector<ProviderId> providers;
  std::vector<std::shared_ptr<const LaunchConfigSpec>> launch_configs;
  std::vector<std::string> teams = {};
  std::vector<std::string> public_worker_keys =
      {};  // of workers that join it; empty: none is needed
  std::vector<queue::Strategy> placement_strategies = {};  // empty: as the host says
  json::object payload_schema = {};                        // of what tasks may ask for
  // Providers that could not be asked: the launch configurations that the pool has of theirs stay.
  std::vector<ProviderId> unasked_providers = {};
};

struct Configuration {
  std::string revision;  // of what it was made from: the git commit, or a digest of the files
  std::map<WorkerPoolId, std::shared_ptr<const PoolSpec>> pools;
  // What a change of a launch document means for running workers, as the providers have it.
  std::map<ProviderId, FieldClasses> field_classes = {};
  // Files about which nothing can be said now: the pools that came from them stay as they are.
  std::set<std::string> untouched_origins = {};
};

}  // namespace muster::fleet
