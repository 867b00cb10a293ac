// What workers are to the queue beyond their capacity: the table `queue` in their `workerConfig`,
// and what they report themselves.
#pragma once

#include <muster/rules/configuration_set.hpp>

#include "host/pools/finding.hpp"

namespace muster::pools {

// What is wrong with `workerConfig.queue` of an evaluated document. Pure.
Findings check_queue_section(const json::object& document);

// What is wrong with the pool setting `publicWorkerKeys` of an evaluated document. Pure.
Findings check_worker_keys(const json::object& document);

// All that can be said of worker configurations without asking a provider: what rules::check finds,
// and what is wrong for the queue of any worker type at any place, in the order of their lines.
rules::Problems check_without_providers(const rules::ConfigurationSet& set);

}  // namespace muster::pools
