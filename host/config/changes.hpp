// What differs between two configurations, and what of it a running host can take over.
#pragma once

#include <string>
#include <vector>

#include "host/config/host_configuration.hpp"

namespace muster::config {

struct Change {
  std::string key;  // "listen", "http", "providers.ec2-us"
  bool needs_restart = false;
  friend bool operator==(const Change&, const Change&) = default;
};

std::vector<Change> changes_between(const HostConfiguration& before,
                                    const HostConfiguration& after);

}  // namespace muster::config
