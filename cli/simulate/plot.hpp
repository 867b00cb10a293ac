// A plot of a simulation as SVG: what waits, what is on its way and what runs, over time. Complete
// in itself, and the same samples give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "host/simulation/report.hpp"

namespace muster::cli {

struct PlotPanel {
  std::string title;
  std::vector<simulation::Sample> samples;  // in the order of time
};

// One panel below the other, all to the same scale.
std::string plot_svg(const std::vector<PlotPanel>& panels);

}  // namespace muster::cli
