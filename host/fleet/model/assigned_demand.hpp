// What waits in the queue, as demand of pools.
#pragma once

#include <functional>
#include <vector>

#include "host/fleet/model/state.hpp"

namespace muster::queue {
struct WaitingCapacity;
}  // namespace muster::queue

namespace muster::fleet {

// What waits in the queue, or a part of it, as demand of a pool.
struct Assigned {
  Index pool = no_index;  // no_index: none could serve it
  std::int64_t requests = 0;
  double capacity = 0;                     // of workers of that pool
  std::vector<Index> launch_configs = {};  // whose workers could serve it
};
using TakeDemand = std::function<void(const queue::WaitingCapacity&, const Assigned&)>;

}  // namespace muster::fleet
