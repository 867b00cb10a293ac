// From a request to its handler and back: the one place where routes are added, threads are chosen
// and exceptions are caught, for all APIs.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "host/endpoints/call.hpp"

namespace muster::endpoints {

// Adds a route for each row, in their order. The rows must outlive the router.
void add_routes(http::Router& router, const std::shared_ptr<const Api>& api,
                std::span<const Endpoint> rows);

// For handlers that answer by themselves. What they are given may throw.

// Answered from the state of this moment, without waiting.
void read_fleet(const CallPtr& call, std::function<Answer(const fleet::Fleet&, fleet::Now)> read);
// The same for a function that answers by itself.
void visit_fleet(const CallPtr& call, std::function<void(const fleet::Fleet&, fleet::Now)> visit);
// Answered when what was changed is durable; at once if nothing can be.
void change_fleet(const CallPtr& call, FleetChange change);
// For a change of a pool that is there: the caller needs the row's scopes for the providers that
// the pool has, too. Nothing: the caller may, or there is no such pool.
std::optional<Failure> refuse_current_providers(const Call& call, const fleet::Fleet& fleet);
// On a thread that may wait.
void run_on_worker(const CallPtr& call, std::function<void()> work);
void run_on_worker(const CallPtr& call, http::WorkerThreads& threads, std::function<void()> work);
// On the fleet's thread; `durable`, if given, follows when all that came of it is durable.
void post_to_fleet(const CallPtr& call, std::function<void(fleet::Fleet&, fleet::Now)> input,
                   std::function<void()> durable = {});

// Answers. A good answer of a row that is audited waits until its event is durable; for handlers
// that answer by themselves and change something that is not the fleet's.
void finish_audited(const CallPtr& call, Answer answer);

// Whether the fleet is there; if not, it was answered.
bool has_fleet(const CallPtr& call);
// Whether the fleet is there and can change anything; if not, it was answered.
bool can_change(const CallPtr& call);

}  // namespace muster::endpoints
