// What workers are to the queue beyond their capacity: the table `queue` in their `workerConfig`,
// and what they report themselves.
#pragma once

#include <muster/json.hpp>

#include "host/pools/finding.hpp"

namespace muster::pools {

// What is wrong with `workerConfig.queue` of an evaluated document. Pure.
Findings check_queue_section(const json::object& document);

// What is wrong with the pool setting `publicWorkerKeys` of an evaluated document. Pure.
Findings check_worker_keys(const json::object& document);

}  // namespace muster::pools
