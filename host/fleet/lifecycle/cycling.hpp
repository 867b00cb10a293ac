// How fast a pool renews itself.
#pragma once

#include <cstdint>

#include "host/fleet/model/configuration.hpp"

namespace muster::lifecycle {

// How many workers of a pool of that size may be told to end because they are outdated, at once. A
// share is rounded up: a pool of one worker can be renewed, too.
std::int64_t cycling_room(const fleet::Lifecycle::CyclingBudget& budget, std::int64_t workers);

bool inside_window(const std::vector<fleet::Lifecycle::Window>& windows, Time now);

// The next time that inside_window() may answer otherwise: within a day.
Time next_window_edge(const std::vector<fleet::Lifecycle::Window>& windows, Time now);

}  // namespace muster::lifecycle
