// A demand trace: which work arrived when, as an operator's queue recorded it or as a person made
// it up. CSV, JSON lines or TOML; docs/simulating.md describes them.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

#include "host/simulation/scenario.hpp"

namespace muster::cli {

struct TraceMistake {
  std::size_t line = 0;  // 0: the trace as a whole
  std::string text;
  friend bool operator==(const TraceMistake&, const TraceMistake&) = default;
};

// `demand.csv:12: tasks: "many" is ...`.
std::string to_string(const TraceMistake& mistake, const std::string& name);

struct Trace {
  std::vector<simulation::Arrival> arrivals;  // in the order of time, then of the lines
  std::map<WorkerPoolId, std::size_t> pools;  // and the first line that names each
  std::int64_t tasks = 0;
  std::chrono::milliseconds last{0};  // the time of the last arrival
  std::optional<Time> begins = {};    // if the trace has dates: that of its first row
};

struct TraceReading {
  Trace trace;                         // to be used only without mistakes
  std::vector<TraceMistake> mistakes;  // the first twenty
};

// What a trace may be at most. Larger ones are no demand but a mistake, or need another tool.
struct TraceLimits {
  std::size_t rows = 10'000'000;
  std::size_t line_bytes = 64 * 1024;
  std::int64_t tasks = 50'000'000;
  std::chrono::hours length{366 * 24};
};

// Reads line by line and keeps only the arrivals, so that a million lines cost little memory. The
// format is recognised by the first character: `{` begins JSON lines, `[` TOML, anything else CSV.
TraceReading read_trace(std::istream& in, const TraceLimits& limits = {});

// Pools of the trace that are none of `known`, each with the line that first names it.
std::vector<TraceMistake> unknown_pools(const Trace& trace, const std::vector<WorkerPoolId>& known);

}  // namespace muster::cli
