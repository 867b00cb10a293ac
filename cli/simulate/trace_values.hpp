// What the fields of a trace say. Pure.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include <muster/context.hpp>
#include <muster/error.hpp>
#include <muster/ids.hpp>

namespace muster::cli {

struct TraceTime {
  bool is_date = false;             // else since the start of the trace
  std::chrono::milliseconds at{0};  // since the epoch, or since the start
};

// "00:15:00", "26:30", "90", "1.5" (seconds) or RFC 3339.
Result<TraceTime> parse_trace_time(std::string_view text);

// A whole number from 1 to `most`.
Result<std::int64_t> parse_task_count(std::string_view text, std::int64_t most);

// Seconds, more than 0 and at most thirty days.
Result<std::chrono::milliseconds> parse_task_seconds(std::string_view text);

// A worker pool, or a worker type of a worker configuration, whose pool is meant.
Result<WorkerPoolId> parse_pool(std::string_view text);

}  // namespace muster::cli
