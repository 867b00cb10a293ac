// The fleet in documents, for the API. Every function is pure and quick: it runs on the fleet's
// thread.
#pragma once

#include "host/fleet/fleet.hpp"
#include "host/fleet/rows.hpp"

namespace muster {

json::object pool_document(const fleet::Fleet& fleet, const fleet::Pool& pool);
// With launch configurations, their weights and the arithmetic.
json::object pool_detail(const fleet::Fleet& fleet, const fleet::Pool& pool, Time now);
json::object worker_document(const fleet::Fleet& fleet, const fleet::Worker& worker);
json::array holds_document(const fleet::Fleet& fleet);
json::array providers_document(const fleet::Fleet& fleet);

}  // namespace muster
