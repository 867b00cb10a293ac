// Takes the messages of Taskcluster's Queue from a message broker. A message is acknowledged when
// what it changed is durable, so that nothing is lost; what comes again changes nothing.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <vector>

#include "host/worker_state/consumer_link.hpp"
#include "host/worker_state/queue_message.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::worker_state {

struct ConsumerStatus {
  std::string url = {}, queue = {};
  bool connected = false;
  std::int64_t connections = 0, received = 0, redelivered = 0, acknowledged = 0, gaps = 0;
  std::size_t bindings = 0;
  std::string problem = {};
  std::optional<Time> problem_at = {}, retry_at = {}, last_message = {};
};

// THREADS: one at a time, but status(), set_pools() and interrupt().
class Consumer {
 public:
  // Calls `durable` when all that came of these messages is durable, on any thread; or never, if
  // the host is stopping.
  using Take = std::function<void(std::vector<Delivery>, std::function<void()> durable)>;

  struct Parts {
    config::RunQueueSettings settings;
    std::unique_ptr<ConsumerLink> link;
    std::shared_ptr<const Clock> clock;
    Log log = {};
    Take take;
    std::function<void()> wake;           // makes somebody call step() soon; from any thread
    std::function<void()> missed = {};    // messages of before are gone: the queue is new
    std::function<double()> random = {};  // from 0 to 1, for the time between two attempts
  };
  explicit Consumer(Parts parts);

  // Does what can be done now. Returns when it is to be called again, at the latest.
  SteadyTime step();
  int descriptor() const { return parts_.link->descriptor(); }
  void interrupt() { parts_.link->interrupt(); }
  void end() { parts_.link->close(); }

  // The pools whose messages are wanted. THREADS: any.
  void set_pools(const std::vector<WorkerPoolId>& pools);
  // A message of a pool that nobody wants came: a binding of an earlier host. THREADS: as step().
  void unwanted(const WorkerPoolId& pool);
  // THREADS: any.
  ConsumerStatus status() const;

 private:
  // How far the messages of one connection are durable.
  struct Progress {
    std::atomic<std::uint64_t> durable = 0;
  };
  Result<void> connect();
  Result<void> update_bindings();
  Result<void> receive();
  Result<void> acknowledge();
  SteadyTime fail(const std::string& problem);

  Parts parts_;
  std::set<std::string> bound_;
  std::set<std::string> unwanted_;
  std::shared_ptr<Progress> progress_;
  std::uint64_t acknowledged_ = 0;
  bool connected_ = false;
  int failures_ = 0;
  SteadyTime not_before_{};

  mutable std::mutex mutex_;
  std::set<std::string> wanted_;
  ConsumerStatus status_;
};

}  // namespace muster::worker_state
