// Which workers a listing that has problems says nothing about.
#pragma once

#include <string>

#include <muster/provider.hpp>

namespace muster::fleet {

// One of its problems covers that place: what is missing there is not gone.
bool hides(const Listing& listing, const std::string& group, const LaunchConfig& launch_config);

}  // namespace muster::fleet
