// A plot of a simulation as SVG: what waits, what is on its way and what runs, over time. Complete
// in itself, and the same samples give the same bytes.
#pragma once

#include <string>
#include <vector>

#include "host/simulation/report.hpp"

namespace muster::cli {

// What tasks of a pool waited and what its machines cost.
struct PlotPool {
  std::string name;
  double wait_seconds = 0;  // nine of ten waited no longer
  double cost = 0;
  std::string wait_text = {}, cost_text = {};
};

struct PlotPanel {
  std::string title;
  std::vector<simulation::Sample> samples;  // in the order of time
  std::vector<PlotPool> pools = {};         // a row for each, below the curves
};

// One panel below the other, all to the same scale.
std::string plot_svg(const std::vector<PlotPanel>& panels);

}  // namespace muster::cli
