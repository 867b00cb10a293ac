// How a task run ends, in the words of Taskcluster's Queue.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include <muster/enum_name.hpp>

namespace muster::worker_state {

enum class Outcome : std::uint8_t { running, completed, failed, exception };
constexpr auto enum_names(Outcome) {
  return std::array<std::string_view, 4>{"running", "completed", "failed", "exception"};
}

// Why a run ended with an exception.
enum class Reason : std::uint8_t {
  none,  // it did not
  deadline_exceeded,
  canceled,
  claim_expired,
  worker_shutdown,
  malformed_payload,
  resource_unavailable,
  internal_error,
  intermittent_task,
  superseded,
  other  // a word that is not known here
};
constexpr auto enum_names(Reason) {
  return std::array<std::string_view, 11>{"none",
                                          "deadline-exceeded",
                                          "canceled",
                                          "claim-expired",
                                          "worker-shutdown",
                                          "malformed-payload",
                                          "resource-unavailable",
                                          "internal-error",
                                          "intermittent-task",
                                          "superseded",
                                          "other"};
}

}  // namespace muster::worker_state
