// The queue's documents.
#pragma once

#include <muster/json.hpp>

#include "host/fleet/fleet.hpp"
#include "host/fleet/queue_load.hpp"
#include "host/queue/queue.hpp"

namespace muster::api {

// Of one that has not ended, with the verdict about it.
json::object request_document(const queue::Request& request, const verdict::Verdict& verdict,
                              const fleet::Fleet& fleet);
json::object request_document(const queue::Request& request, const fleet::Fleet& fleet,
                              fleet::Now now);
json::object team_document(const queue::Team& team, const fleet::Fleet& fleet, fleet::Now now);
json::object team_pool_document(const queue::TeamPool& pool, const fleet::Fleet& fleet);

// Added to a document: since when the oldest of them waits, if any does, and what a pool has to do.
void put_oldest(json::object& document, const std::optional<Time>& oldest, fleet::Now now);
void put_load(json::object& pool, const fleet::PoolLoad& load, fleet::Now now);

}  // namespace muster::api
