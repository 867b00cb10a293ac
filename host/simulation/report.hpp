// What came of a simulation.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/fleet/model/state.hpp"
#include "host/simulation/scenario.hpp"

namespace muster::simulation {

struct PoolReport {
  std::int64_t tasks = 0, done = 0;
  std::int64_t interrupted = 0;       // tasks that lost their machine and began anew
  std::vector<milliseconds> waits;    // of tasks that began, until they first did, in that order
  std::vector<milliseconds> waiting;  // of tasks that never began: how long they wait already
  std::int64_t launches = 0, launch_errors = 0, workers_most = 0;
  double cost = 0;  // of the machines, by the hour
  double machine_hours = 0;
  std::string verdict;  // the last one
  verdict::Kind verdict_kind = verdict::Kind::waiting;
};

struct Sample {
  milliseconds at{};
  std::int64_t pending = 0, requested = 0, running = 0;
};

struct Report {
  std::map<WorkerPoolId, PoolReport> pools;
  std::vector<Sample> samples;  // of all pools together, by the minute
  std::int64_t workers_most = 0;
  std::map<std::string, std::int64_t> happenings;
  std::int64_t steps = 0, commits = 0, crashes = 0, calls = 0;
  milliseconds end{};  // the virtual time that passed
  std::string digest;  // of all that happened and of the store at the end: same seed, same digest
  std::vector<std::string> violations;  // invariants that did not hold; the first few
};

}  // namespace muster::simulation
