// How long the workers of a launch configuration take, and those who hold them.
#pragma once

#include <muster/fields.hpp>

#include "host/verdict/durations.hpp"

namespace muster::fleet {

struct Times {
  verdict::Durations boot;          // from the intent to the instance
  verdict::Durations registration;  // from there to the worker
  verdict::Durations start;         // both together
  verdict::Durations lease;
};

// Kept apart from its launch configuration, whose row is large and seldom changes.
struct TimesRow {
  static constexpr std::string_view table = "times";
  static constexpr std::size_t key_columns = 2;
  WorkerPoolId worker_pool_id;
  LaunchConfigId launch_config_id;
  json::array boot, registration, start, lease;  // milliseconds, the oldest first

  static constexpr auto fields(auto visit) {
    return visit(required("workerPoolId", &TimesRow::worker_pool_id),
                 required("launchConfigId", &TimesRow::launch_config_id),
                 required("boot", &TimesRow::boot),
                 required("registration", &TimesRow::registration),
                 required("start", &TimesRow::start), required("lease", &TimesRow::lease));
  }
};

}  // namespace muster::fleet
