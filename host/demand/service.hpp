// Asks all sources of demand, each at its own interval, and gives the fleet the sum.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "host/demand/source.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/folder_watch.hpp"
#include "lib/base/log.hpp"
#include "lib/base/time_watch.hpp"

namespace muster::demand {

// One source as operators see it.
struct SourceStatus {
  std::string name;
  std::string type;
  std::optional<Time> answered = {};
  std::optional<std::chrono::milliseconds> age = {};  // of its newest count
  std::string error = {};
  std::optional<Time> failed_since = {};
  std::size_t pools = 0;  // of which it has said something
  std::size_t stale_pools = 0;
  std::int64_t pending = 0;  // over all pools, without those that are stale
  std::map<WorkerPoolId, std::string> pool_errors = {};  // at most 20
  std::vector<std::string> unknown_pools = {};
};
json::array to_json(const std::vector<SourceStatus>& status);

struct ConfiguredSource {
  config::DemandSettings settings;
  std::unique_ptr<DemandSource> source;
};

struct Patience {
  // A pool that a source names and this host does not have may come with the next configuration;
  // after so long, the log says once that it did not.
  std::chrono::milliseconds with_unknown_pools{60'000};
};

class DemandService {
 public:
  using Publish = std::function<void(const fleet::Demand&)>;

  // With a watch, which is borrowed, time in which the host did not run makes nothing stale.
  // `publish` is called on a thread of the service, first when each source was asked once, then
  // whenever the demand has changed or a part of it went stale. `queue` may be null and must
  // outlive the service.
  static Result<std::unique_ptr<DemandService>> start(std::vector<ConfiguredSource> sources,
                                                      OwnQueue* queue, Publish publish,
                                                      std::shared_ptr<const Clock> clock,
                                                      Log log = {}, Patience patience = {},
                                                      TimeWatch* watch = nullptr);
  // Cancels what is under way, and waits for it.
  ~DemandService();

  // Whose demand is asked for. THREADS: any; returns at once.
  void set_pools(std::vector<WorkerPoolId> pools);
  // Asks all sources now. THREADS: any; returns at once.
  void poll_now();

  std::vector<SourceStatus> status() const;  // THREADS: any

 private:
  struct Worker;
  DemandService(OwnQueue* queue, Publish publish, std::shared_ptr<const Clock> clock, Log log,
                Patience patience, TimeWatch* watch);
  void remember_unknown(Worker& worker, std::vector<std::string> pools, Time now) const;
  void run_source(Worker& worker);
  void poll(Worker& worker);
  void take(Worker& worker, Result<Answer> polled, Time now);
  void run_combiner();
  void changed();

  OwnQueue* const queue_;
  const Publish publish_;
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  const Patience patience_;
  TimeWatch* const watch_;

  mutable std::mutex mutex_;  // guards what follows, and the reports of all workers
  std::condition_variable wake_;
  std::vector<WorkerPoolId> pools_;
  bool changed_ = true;
  std::atomic<bool> leaving_{false};

  std::vector<std::unique_ptr<Worker>> workers_;
  std::thread combiner_;
};

}  // namespace muster::demand
