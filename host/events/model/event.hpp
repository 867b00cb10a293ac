// Something that happened and that others may want to hear of. Events are numbered without gaps,
// written in the same transaction as the change they tell of, and never changed afterwards.
#pragma once

#include <muster/launch_types.hpp>

namespace muster::events {

// Kinds are words with dashes, by what they are about:
//
// Pools: worker-pool-created, -updated, -removed, -fault; by task outcomes: outcomes-quarantined,
// -released, -withheld, failures-everywhere-began, -ended.
//
// Workers: worker-requested (intended, without a name yet), worker-launched (its instance is
// known), worker-running, worker-draining, worker-quarantined, worker-released, worker-stopping,
// worker-stopped, worker-error.
//
// Launch configurations: launch-configuration-created, -updated, -archived, -paused, -resumed.
//
// Providers: hold-began, hold-ended, provider-up, provider-down, instance-unknown, machine-refused,
// listing-doubted, listing-believed.
//
// The host: plugin-activated, -refused, -stopped; configuration-accepted, -refused, -emptied;
// client-created, -changed, -removed; relay-registration; store-repaired, store-incomplete.
//
// Who changed what: audit.
struct Event {
  static constexpr std::string_view table = "events";
  static constexpr std::size_t key_columns = 1;
  std::int64_t number = 0;  // 1, 2, 3, ...
  Time at{};
  std::string kind = {};
  // What it is about; empty where there is no such thing.
  WorkerPoolId worker_pool_id = {};
  LaunchConfigId launch_config_id = {};
  ProviderId provider_id = {};
  WorkerGroup worker_group = {};
  WorkerId worker_id = {};
  std::string text = {};      // one line for people
  json::object details = {};  // what programs need besides: capacity, reason, errorId, title, ...

  static constexpr auto fields(auto visit) {
    return visit(required("number", &Event::number), required("at", &Event::at),
                 required("kind", &Event::kind), optional("workerPoolId", &Event::worker_pool_id),
                 optional("launchConfigId", &Event::launch_config_id),
                 optional("providerId", &Event::provider_id),
                 optional("workerGroup", &Event::worker_group),
                 optional("workerId", &Event::worker_id), required("text", &Event::text),
                 optional("details", &Event::details));
  }
};

inline constexpr const char* audit_kind = "audit";

// How far one consumer has come: "amqp", or "webhook/<name>".
struct DeliveryRow {
  static constexpr std::string_view table = "event_deliveries";
  static constexpr std::size_t key_columns = 1;
  std::string consumer;
  std::int64_t delivered = 0;  // the number of the last event that it has confirmed, or given up
  Time at{};

  static constexpr auto fields(auto visit) {
    return visit(required("consumer", &DeliveryRow::consumer),
                 required("delivered", &DeliveryRow::delivered), required("at", &DeliveryRow::at));
  }
};

// An event that a webhook did not take however often it was tried.
struct DeadLetterRow {
  static constexpr std::string_view table = "event_dead_letters";
  static constexpr std::size_t key_columns = 2;
  std::string consumer;
  std::int64_t number = 0;  // of the event
  Time at{};                // when it was given up
  std::int64_t attempts = 0;
  std::string problem;  // what the last attempt met
  json::object event;   // the events themselves are kept for a bounded time only

  static constexpr auto fields(auto visit) {
    return visit(
        required("consumer", &DeadLetterRow::consumer), required("number", &DeadLetterRow::number),
        required("at", &DeadLetterRow::at), required("attempts", &DeadLetterRow::attempts),
        required("problem", &DeadLetterRow::problem), required("event", &DeadLetterRow::event));
  }
};

}  // namespace muster::events
