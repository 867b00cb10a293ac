// How many machines of what are there now, so that a call counts them once.
#pragma once

#include <map>
#include <string>
#include <tuple>

#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulated {

struct Cloud::Use {
  std::map<std::tuple<std::string, std::string, std::string>, std::int64_t>
      machines;  // by region, zone, type

  void add(const Site& site) { ++machines[{site.region, site.zone, site.instance_type}]; }

  std::int64_t at(const Site& site) const {
    const auto found = machines.find({site.region, site.zone, site.instance_type});
    return found == machines.end() ? 0 : found->second;
  }

  std::int64_t of(const QuotaSetting& quota) const {
    std::int64_t total = 0;
    for (const auto& [place, count] : machines)
      if ((!quota.region || *quota.region == std::get<0>(place)) &&
          (!quota.instance_type || *quota.instance_type == std::get<2>(place)))
        total += count;
    return total;
  }
};

}  // namespace muster::simulated
