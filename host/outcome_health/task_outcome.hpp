// How one run of a task ended, and whose fault that may be.
#pragma once

#include <array>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/ids.hpp>

namespace muster::outcome_health {

enum class Resolution { completed, failed, exception };
constexpr auto enum_names(Resolution) {
  return std::array<std::string_view, 3>{"completed", "failed", "exception"};
}

// Nothing of the task itself: neither its name nor what it belongs to.
struct TaskOutcome {
  WorkerPoolId worker_pool_id;
  WorkerGroup worker_group;
  WorkerId worker_id;                    // the machine
  LaunchConfigId launch_config_id = {};  // empty: not known
  std::string image = {};                // likewise
  Resolution resolution = Resolution::completed;
  std::string reason = {};  // of an exception, in Taskcluster's words
  Time started{};           // Time{}: not known
  Time resolved{};
};

// An outcome that may not be the worker's fault says nothing about the worker.
enum class Counted { as_completed, as_failed, not_at_all };
Counted counted(Resolution resolution, std::string_view reason);

}  // namespace muster::outcome_health
