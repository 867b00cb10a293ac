// The queue's documents.
#pragma once

#include <muster/json.hpp>

#include "host/fleet/fleet.hpp"
#include "host/queue/queue.hpp"

namespace muster::api {

json::object request_document(const queue::Request& request, const fleet::Fleet& fleet,
                              fleet::Now now);
json::object team_document(const queue::Team& team, const fleet::Fleet& fleet, fleet::Now now);
json::object team_pool_document(const queue::TeamPool& pool, const fleet::Fleet& fleet);

}  // namespace muster::api
