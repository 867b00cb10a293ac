// Bounds on what a file may ask for. Past each of them stands a clear error, never a slow or
// crashing host. All in one place, so that a host can widen them.
#pragma once

#include <cstddef>

namespace muster::rules {

struct Limits {
  std::size_t max_file_bytes = 1'048'576;
  std::size_t max_nesting = 32;          // tables and arrays inside each other
  std::size_t max_rules = 1'000;         // in one file
  std::size_t max_worker_types = 1'000;  // in one file
  std::size_t max_clauses = 64;          // alternatives (OR) of one rule
  std::size_t max_patterns = 256;        // globs of one condition
  std::size_t max_pattern_length = 256;  // characters of one glob
  std::size_t max_files = 10'000;        // in one folder
  std::size_t max_combinations =
      250'000;  // worker types × placements of opted-in providers, of one file
  // Work for one file: worker types × patterns; worker types × rules that apply to them; rules that
  // apply to launch documents, of which equal ones count once.
  std::size_t max_pattern_checks = 10'000'000;
  std::size_t max_pool_rules = 200'000;
  std::size_t max_launch_rules = 2'000'000;
  std::size_t max_problems = 100;  // reported for one file; a last line says how many more
};

}  // namespace muster::rules
