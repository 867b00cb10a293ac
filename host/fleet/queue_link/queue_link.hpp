// The fleet and its queue: workers that run are what the queue hands out, and a lease keeps its
// worker busy.
#pragma once

#include <map>
#include <memory>
#include <optional>

#include "host/fleet/model/queue_facts.hpp"
#include "host/fleet/model/registration.hpp"
#include "host/fleet/workers/measurements.hpp"

namespace muster::queue {
class Queue;
}  // namespace muster::queue

namespace muster::fleet {

class QueueLink : Stage {
 public:
  QueueLink(const StageContext& context, Measurements& measurements);
  ~QueueLink();

  const queue::Queue& queue() const { return *queue_; }
  queue::Queue& queue() { return *queue_; }
  // For a change by a client. From the first one on the queue knows the workers: until then they
  // would only cost memory.
  queue::Queue& use();

  // What a worker reports of itself when it registers.
  Result<void> check_reported(const WorkerName& name, const ProviderId& provider,
                              const QueueFacts& reported) const;
  void keep_reported(std::int64_t worker, const std::optional<QueueFacts>& reported);
  // Null: nothing.
  const QueueFacts* reported_facts(const Worker& worker) const;
  // The newest launch configuration of a worker of that name, or the one that it would join; null:
  // there is none.
  std::shared_ptr<const LaunchConfigSpec> place_for(const WorkerName& name,
                                                    const ProviderId& provider) const;

  // A worker counts tasks, of which it may take more or fewer at once than its capacity is.
  std::int64_t tasks_at_once(const Worker& worker) const;
  std::int32_t capacity_at_work(const Worker& worker, std::int64_t tasks) const;
  // The part of its capacity that is leased, by the resource that it has the least left of.
  std::int32_t leased_of(const Worker& worker) const;

  void offer_changed_workers();
  void withdraw(const Worker& worker);
  // Takes over what the queue says about leases.
  void count_leases();
  void configure_pools();

  void write_everything(store::Batch& out) const;
  Result<void> load_reported(const store::Store& store);
  Result<void> load_queue(const store::Store& store);

 private:
  QueueFacts facts_of(const Worker& worker) const;
  void offer(Index worker);

  Measurements& measurements_;
  const std::unique_ptr<queue::Queue> queue_;
  std::map<std::int64_t, QueueFacts> reported_;  // by worker; few report anything
  bool in_use_ = false;
};

}  // namespace muster::fleet
