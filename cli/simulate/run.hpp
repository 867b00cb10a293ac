// `muster simulate`, without its command line.
#pragma once

#include <string>

#include "cli/host_address.hpp"

namespace muster::cli {

struct SimulateOptions {
  std::string configuration, demand;
  std::string compare;  // a second configuration; empty: none
  double hours = 0;     // 0: until all work is done
  std::uint64_t seed = 1;
  std::string strategy;  // for all pools; empty: what each says
  std::string faults = "none";
  std::string svg, html;  // files; empty: no plot
  std::string prices;     // a file; empty: none
  HostOptions host = {};  // whose prices are taken; without a url: none
  bool json = false;
};

// Prints what there is to say and throws Exit for any code but 0.
void simulate(const SimulateOptions& options);

}  // namespace muster::cli
