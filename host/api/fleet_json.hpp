// The fleet in documents, for the API. Every function is pure and quick: it runs while nothing may
// be decided.
#pragma once

#include "host/fleet/fleet.hpp"

namespace muster::api {

using fleet::Weights;

json::object times_document(const fleet::Times& times);
json::object verdict_document(const verdict::Verdict& verdict);
// When the first launch configuration of a pool that is paused as a whole may launch again; Time{}
// if it is not paused.
Time paused_until(const fleet::Fleet& fleet, const fleet::Pool& pool);
json::object pool_document(const fleet::Fleet& fleet, const fleet::Pool& pool, fleet::Now now);
// With launch configurations, their weights and the arithmetic.
json::object pool_detail(const fleet::Fleet& fleet, const fleet::Pool& pool, fleet::Now now);

// `weights` are those of its pool.
json::object launch_config_document(const fleet::Fleet& fleet, fleet::Index index,
                                    const Weights& weights, fleet::Now now);
// With the document that it launches, what its workers receive, and what holds it back.
json::object launch_config_detail(const fleet::Fleet& fleet, const fleet::Pool& pool,
                                  fleet::Index index, fleet::Now now);

json::object worker_document(const fleet::Fleet& fleet, const fleet::Worker& worker);
json::object hold_document(const bidding::Hold& hold);
json::object provider_document(const fleet::Fleet& fleet, const fleet::ProviderState& provider);

}  // namespace muster::api
