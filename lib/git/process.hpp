// Another program, run to its end. No shell is involved: arguments go through as they are.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::git {

struct Finished {
  int exit_code = 0;  // 128 + signal if it was killed
  std::string out;
  std::string err;
};

struct ProcessLimits {
  // Past it, the program and all that it started are killed. None: it may take as long as it likes,
  // and stays in the caller's session, so that Ctrl-C reaches it.
  std::optional<std::chrono::milliseconds> time = {};
  std::size_t output_bytes = std::size_t{1} << 30;  // past it, it is killed, too
};

// Blocks until the program ends. `environment` is all that it sees, as "NAME=value". Fails as
// `not_found` if it cannot be started, as `transient` if time or output ran over. THREADS: any.
Result<Finished> run_process(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment,
                             std::string_view input = {}, const ProcessLimits& limits = {});

// What this process has.
std::vector<std::string> own_environment();

}  // namespace muster::git
