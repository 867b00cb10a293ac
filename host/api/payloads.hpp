// Whether the payload of a task fits the JSON Schema that its pool's configuration has for
// payloads.
#pragma once

#include <optional>
#include <vector>

#include <muster/json_schema.hpp>

#include "host/endpoints/failure.hpp"
#include "host/fleet/service.hpp"

namespace muster::api {

// Empty: it fits, or the pool has no schema. `notFound`: there is no such pool. It takes as long as
// the schema is large. THREADS: any but the fleet's; not one that must not wait.
Result<std::vector<json::Violation>> validate_payload(fleet::Service& fleet,
                                                      const WorkerPoolId& pool,
                                                      const json::object& payload);

// For a request that carries a payload. Nothing: it fits.
std::optional<endpoints::Failure> refuse_payload(fleet::Service& fleet, const WorkerPoolId& pool,
                                                 const json::object& payload);

}  // namespace muster::api
