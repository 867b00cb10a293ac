// The launch configurations of one pool, gathered by the places where muster evaluates a worker
// configuration: one launch document for each place, whose provider makes a launch configuration of
// each type and market in it.
#pragma once

#include <vector>

#include "cli/import/launch_choice.hpp"

namespace muster::importing {

struct Place {
  std::string region = {}, zone = {};   // no zone: the rules are about the region as a whole
  json::object document = {};           // the section, workerManager, workerConfig
  std::vector<std::string> zones = {};  // that the document itself names, if `zone` is empty
};

// In the order of their first launch configurations. What cannot be said in one document is in
// `report`, with the reason; `carried` there counts the launch configurations that are said.
std::vector<Place> gather(const Cloud& cloud, const std::vector<LaunchChoice>& choices,
                          PoolReport& report);

}  // namespace muster::importing
