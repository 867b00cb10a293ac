// What an operator asks of a simulation, in numbers. Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "cli/simulate/clouds.hpp"
#include "cli/terminal.hpp"
#include "host/simulation/report.hpp"

namespace muster::cli {

// Tasks that never began count with the time that they wait already, so that a fleet that is too
// small does not look quick.
struct Waits {
  std::chrono::milliseconds p50{0}, p90{0}, p99{0}, most{0};
};
std::optional<Waits> waits_of(std::vector<std::chrono::milliseconds> waits);

struct PoolFigures {
  std::string name;
  std::int64_t tasks = 0, done = 0;
  std::int64_t waiting = 0;      // never began
  std::int64_t interrupted = 0;  // began anew because their machine went away
  std::optional<Waits> waits;    // none without tasks
  std::int64_t launches = 0, launch_errors = 0, workers_most = 0;
  double machine_hours = 0, cost = 0;
  std::string verdict;  // why it is not satisfied at the end; empty if it is
};

struct Figures {
  std::string configuration;  // its name
  std::chrono::milliseconds end{0};
  std::vector<PoolFigures> pools;  // by name
  PoolFigures total;
  std::string digest;
  std::vector<std::string> violations;
  std::string currency = {};  // of all costs
  std::vector<UsedPrice> prices = {};
};

Figures figures_of(const std::string& configuration, const simulation::Report& report);

std::string figures_text(const Figures& figures, const Style& style);
json::object figures_json(const Figures& figures, const simulation::Report& report);

// Two of them side by side, with what differs.
std::string comparison_text(const Figures& first, const Figures& second, const Style& style);
json::object comparison_json(const Figures& first, const Figures& second);

// "850ms", "45s", "3m 20s", "2h 05m", "1d 03h".
std::string in_words(std::chrono::milliseconds time);

}  // namespace muster::cli
