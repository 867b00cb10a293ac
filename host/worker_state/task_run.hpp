// Task runs as they are reported and as they are kept: only who ran what, when, and how it ended.
#pragma once

#include <optional>
#include <string>

#include <muster/context.hpp>
#include <muster/fields.hpp>
#include <muster/ids.hpp>

#include "host/worker_state/outcome.hpp"

namespace muster::worker_state {

struct WorkerKey {
  WorkerPoolId worker_pool_id = {};
  WorkerGroup worker_group = {};
  WorkerId worker_id = {};

  friend auto operator<=>(const WorkerKey&, const WorkerKey&) = default;
};

// What somebody says about a run. The same may be said again, and in any order.
struct RunReport {
  std::string task_id = {};
  std::int64_t run_id = 0;
  WorkerKey worker = {};
  Outcome outcome = Outcome::running;
  Reason reason = Reason::none;
  Time started{};   // Time{}: not said; then `resolved` stands for it
  Time resolved{};  // Time{}: it runs
};

// What the fleet knows of a worker.
struct WorkerOrigin {
  std::string launch_config_id = {}, worker_configuration = {};
};

struct TaskRunRow {
  static constexpr std::string_view table = "task_runs";
  static constexpr std::size_t key_columns = 2;
  std::string task_id = {};
  std::int64_t run_id = 0;
  WorkerPoolId worker_pool_id = {};
  WorkerGroup worker_group = {};
  WorkerId worker_id = {};
  std::string launch_config_id = {};
  std::string worker_configuration = {};
  Outcome outcome = Outcome::running;
  Reason reason = Reason::none;
  Time started{};
  std::optional<Time> resolved = {};

  static constexpr auto fields(auto visit) {
    return visit(required("taskId", &TaskRunRow::task_id), required("runId", &TaskRunRow::run_id),
                 required("workerPoolId", &TaskRunRow::worker_pool_id),
                 required("workerGroup", &TaskRunRow::worker_group),
                 required("workerId", &TaskRunRow::worker_id),
                 required("launchConfigId", &TaskRunRow::launch_config_id),
                 required("workerConfiguration", &TaskRunRow::worker_configuration),
                 required("outcome", &TaskRunRow::outcome), required("reason", &TaskRunRow::reason),
                 required("started", &TaskRunRow::started),
                 required("resolved", &TaskRunRow::resolved));
  }
};

// What outcomes are counted for.
enum class Scope { worker, pool, launchConfig, workerConfiguration };
constexpr auto enum_names(Scope) {
  return std::array<std::string_view, 4>{"worker", "pool", "launchConfig", "workerConfiguration"};
}

// The runs that are no longer kept one by one, of a worker or of a group of workers.
struct ForgottenRunsRow {
  static constexpr std::string_view table = "forgotten_runs";
  static constexpr std::size_t key_columns = 3;
  Scope scope = Scope::worker;
  WorkerPoolId worker_pool_id = {};  // empty: a worker configuration, which may have several
  std::string name = {};             // of the worker: "group/id"; empty: the pool
  std::int64_t completed = 0, failed = 0, exception = 0;
  Time until{};                          // the newest of them began then
  std::optional<Time> first_claim = {};  // of a worker

  static constexpr auto fields(auto visit) {
    return visit(required("scope", &ForgottenRunsRow::scope),
                 required("workerPoolId", &ForgottenRunsRow::worker_pool_id),
                 required("name", &ForgottenRunsRow::name),
                 required("completed", &ForgottenRunsRow::completed),
                 required("failed", &ForgottenRunsRow::failed),
                 required("exception", &ForgottenRunsRow::exception),
                 required("until", &ForgottenRunsRow::until),
                 required("firstClaim", &ForgottenRunsRow::first_claim));
  }
};

// A message that says nothing about a run, kept for those who want to know why.
struct SetAsideMessageRow {
  static constexpr std::string_view table = "run_messages_set_aside";
  static constexpr std::size_t key_columns = 1;
  std::int64_t number = 0;
  Time at{};
  std::string exchange = {}, routing_key = {}, problem = {};
  std::string body = {};  // its beginning

  static constexpr auto fields(auto visit) {
    return visit(required("number", &SetAsideMessageRow::number),
                 required("at", &SetAsideMessageRow::at),
                 required("exchange", &SetAsideMessageRow::exchange),
                 required("routingKey", &SetAsideMessageRow::routing_key),
                 required("problem", &SetAsideMessageRow::problem),
                 required("body", &SetAsideMessageRow::body));
  }
};

struct Counts {
  std::int64_t running = 0, completed = 0, failed = 0, exception = 0;

  std::int64_t& of(Outcome outcome) {
    switch (outcome) {
      case Outcome::running:
        return running;
      case Outcome::completed:
        return completed;
      case Outcome::failed:
        return failed;
      case Outcome::exception:
        break;
    }
    return exception;
  }
  friend bool operator==(const Counts&, const Counts&) = default;
};

}  // namespace muster::worker_state
