// Another program, run to its end. No shell is involved: arguments go through as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::cli {

struct Finished {
  int exit_code = 0;  // 128 + signal if it was killed
  std::string out;
  std::string err;
};

// Blocks until the program ends. Fails as `not_found` if it cannot be started.
Result<Finished> run_process(const std::vector<std::string>& arguments,
                             std::string_view input = {});

}  // namespace muster::cli
