// What the handlers of muster's own API share, and the rows of each file of them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/codec.hpp>

#include "host/api/services.hpp"
#include "host/endpoints/dispatch.hpp"
#include "host/fleet/fleet.hpp"
#include "host/fleet/service.hpp"

namespace muster::api {

using endpoints::all_of;
using endpoints::all_unless_open;
using endpoints::Answer;
using endpoints::any_caller;
using endpoints::audited;
using endpoints::audited_by_handler;
using endpoints::Call;
using endpoints::CallPtr;
using endpoints::conflict;
using endpoints::Endpoint;
using endpoints::Failure;
using endpoints::FleetChange;
using endpoints::FleetChangeOrFailure;
using endpoints::input_error;
using endpoints::not_audited;
using endpoints::not_found;
using endpoints::OnWorkerThread;
using endpoints::OnWorkerThreadWithFleet;
using endpoints::open_to_all;
using endpoints::Query;
using endpoints::QueryParameter;
using endpoints::to_failure;

// All paths but those of the dashboard, of health checks, metrics and Taskcluster's auth service.
inline const std::string base = "/api/muster/v1";

const Services& services_of(const Call& call);

// The document as it is sent.
Answer json_answer(const json::value& document);

fleet::WorkerName worker_of(const Call& call);
Failure no_pool(const Call& call);

// The first key of the body that the struct does not have; empty if there is none.
template <class Struct>
std::string unknown_key(const json::object& body) {
  for (const auto& [key, value] : body) {
    const auto known =
        Struct::fields([&key = key](const auto&... field) { return ((field.name == key) || ...); });
    if (!known) return key;
  }
  return {};
}

// The body as a struct.
template <class Struct>
boost::system::result<Struct, Failure> body_as(const Call& call) {
  if (const std::string unknown = unknown_key<Struct>(call.body()); !unknown.empty())
    return input_error("`" + unknown + "` is not known here");
  auto given = from_value<Struct>(json::value(call.body()));
  if (!given) return input_error(given.error().message);
  return std::move(*given);
}

// A change that is answered with an empty document.
template <class Change>
FleetChange plain_change(Change change) {
  return [change = std::move(change)](fleet::Fleet& fleet, fleet::Now now) -> Answer {
    if (const Result<void> done = change(fleet, now); !done) return to_failure(done.error());
    return json_answer(json::object{});
  };
}

// The codes of failures, for the rows.
inline constexpr std::string_view bad_input = "InputError", missing = "ResourceNotFound",
                                  conflicting = "RequestConflict", expired = "ResourceExpired",
                                  unavailable = "ServiceUnavailable",
                                  precondition = "PreconditionFailed", too_large = "InputTooLarge";

// The rows, by subject.
std::vector<Endpoint> host_endpoints();           // the host itself, plugins, health, metrics
std::vector<Endpoint> dashboard_endpoints();      // the page and what it needs
std::vector<Endpoint> fleet_read_endpoints();     // pools, workers, launch configurations, holds
std::vector<Endpoint> run_endpoints();            // task runs of workers
std::vector<Endpoint> history_endpoints();        // capacity, demand and cost over time
std::vector<Endpoint> journal_endpoints();        // decisions, errors
std::vector<Endpoint> fleet_change_endpoints();   // what operators may do
std::vector<Endpoint> worker_notice_endpoints();  // what workers report with their credentials
std::vector<Endpoint> queue_request_endpoints();  // requests for a worker
std::vector<Endpoint> payload_endpoints();        // what tasks of a pool may ask for
std::vector<Endpoint> documentation_endpoints();  // of pools and worker configurations
std::vector<Endpoint> team_endpoints();           // teams and their pools, and what waits
std::vector<Endpoint> explanation_endpoints();    // why something waits, and for how long
std::vector<Endpoint> configuration_endpoints();  // worker configurations, providers, demand
std::vector<Endpoint> configuration_difference_endpoints();  // what the last version changed
std::vector<Endpoint> diagnosis_endpoints();     // what a provider lacks for its launches
std::vector<Endpoint> event_endpoints();         // events, webhooks, the message broker
std::vector<Endpoint> registration_endpoints();  // challenges, and machines of relays
std::vector<Endpoint> backup_endpoints();        // copies of the store
std::vector<Endpoint> set_aside_endpoints();     // rows of the store that cannot be read
std::vector<Endpoint> client_endpoints();        // clients, and Taskcluster's auth service
std::vector<Endpoint> session_endpoints();       // log-in and log-out of the dashboard

}  // namespace muster::api
