// Worker pools of Taskcluster as they are listed: by worker-manager, or by tools that make them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "cli/import/report.hpp"

namespace muster::importing {

struct TaskclusterPool {
  std::string worker_pool_id;
  json::object document;
};

inline constexpr std::size_t most_pools = 10'000;

// Adds the pools of a document: an answer of listWorkerPools or workerPool, a list of pools, or
// what `tc-admin generate --json` prints. Names in the style of Python (pool_id) are known, too.
// Fails as `invalid` if it holds none of these. A pool that cannot be one is refused in `report`.
Result<void> add_pools(const json::value& document, std::vector<TaskclusterPool>& pools,
                       Report& report);

// provisionerId/workerType as Taskcluster allows them.
bool is_worker_pool_id(std::string_view text);

}  // namespace muster::importing
