// What workers did, as the host serves it: the table of runs, its rows in the store, and the queue
// at a message broker that they come from.
//
//   auto runs = worker_state::Service::make({configuration, store, clock, log, ...});  // reads
//   runs->start();
//
// It ends before the committer that it submits to.
#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <mutex>

#include <muster/json.hpp>

#include "host/config/host_configuration.hpp"
#include "host/events/step_thread.hpp"
#include "host/store/store.hpp"
#include "host/worker_state/consumer.hpp"
#include "host/worker_state/run_table.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::worker_state {

struct Numbers {
  std::size_t kept = 0, workers = 0;
  Counts counts = {};
  std::int64_t set_aside = 0;  // messages, since the host started
  std::optional<ConsumerStatus> consumer = {};
};

json::object to_json(const TaskRunRow& run);
json::object to_json(const Counts& counts);
json::object to_json(const SetAsideMessageRow& message);
json::object to_json(const ConsumerStatus& status);

// THREADS: any, unless said otherwise.
class Service {
 public:
  struct Parts {
    std::shared_ptr<const config::HostConfiguration> configuration;
    const store::Store* store = nullptr;  // borrowed
    std::shared_ptr<const Clock> clock;
    Log log = {};
    // As Committer::submit.
    std::function<bool(store::Batch, std::function<void()> durable)> submit = {};
    // What the fleet knows of each of these workers; nothing: their pool is none of the fleet's.
    // May wait.
    std::function<std::vector<std::optional<WorkerOrigin>>(const std::vector<WorkerKey>&)>
        origins_of = {};
    // Told of runs that have ended, once that is durable, on the committer's thread.
    std::function<void(const std::vector<ResolvedRun>&)> resolved = {};
    // Messages of before are gone. Called on the consumer's thread.
    std::function<void()> missed = {};
    // For tests: another broker.
    std::function<std::unique_ptr<ConsumerLink>(const config::RunQueueSettings&)> link =
        rabbitmq_consumer_link;
  };
  // Reads the rows of the store.
  static Result<std::unique_ptr<Service>> make(Parts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Begins to consume and to forget. Once.
  void start();
  void reconfigure(std::shared_ptr<const config::HostConfiguration> configuration);
  void set_pools(std::vector<WorkerPoolId> pools);
  // Consumes no more. IDEMPOTENT.
  void stop();

  // What a worker or the Queue says. `durable` is called when it is, on the committer's thread.
  // Reports that make no sense change nothing; the first of them is the error. False in the error's
  // place: the host is stopping.
  Result<void> report(const std::vector<RunReport>& reports, std::function<void()> durable);

  Counts counts(Scope scope, const WorkerPoolId& pool, std::string_view name) const;
  std::optional<WorkerActivity> activity(const WorkerKey& worker) const;
  Result<RunPage> page(const RunFilter& filter, const std::string& after, std::size_t limit) const;
  std::vector<TaskRunRow> running(const WorkerPoolId& pool) const;
  // The newest first.
  std::vector<SetAsideMessageRow> set_aside_messages() const;
  Numbers numbers() const;
  json::object status_json() const;

 private:
  struct Running;

  explicit Service(Parts parts);
  Result<void> load();
  void start_consumer(const config::RunQueueSettings& settings);
  void take(const std::vector<Delivery>& deliveries, Consumer& consumer,
            std::function<void()> durable);
  void set_aside(const Delivery& delivery, const std::string& problem, store::Batch& changes);
  void submit(store::Batch changes, std::vector<ResolvedRun> ended, std::function<void()> durable);
  SteadyTime forget_old();

  Parts parts_;
  mutable std::mutex mutex_;  // guards what is below
  RunTable table_;
  std::deque<SetAsideMessageRow> set_aside_;  // the oldest first
  std::int64_t set_aside_count_ = 0;
  std::vector<WorkerPoolId> pools_;

  std::mutex submitting_;  // what is applied is submitted in the same order
  std::mutex reconfiguring_;
  std::shared_ptr<Running> running_;
  std::unique_ptr<events::StepThread> housekeeping_;
};

}  // namespace muster::worker_state
