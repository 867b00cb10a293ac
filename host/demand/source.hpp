// Those who know how much work waits.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>

#include <muster/error.hpp>
#include <muster/json.hpp>

#include "host/config/host_configuration.hpp"
#include "host/demand/combine.hpp"
#include "lib/base/folder_watch.hpp"

namespace muster::demand {

constexpr std::size_t most_unknown = 100;  // pools of which anybody wants to hear

// One answer. A pool that is in none of the two is one that the source did not speak of this time.
struct Answer {
  Counts counts;
  std::map<WorkerPoolId, std::string> pool_errors = {};  // in words
  std::vector<std::string> unknown_pools = {};  // that it named, but that this host does not have
};

// Borrowed by one thread at a time.
class DemandSource {
 public:
  virtual ~DemandSource() = default;

  // How much waits for each of the pools. Returns by the context's deadline, and soon after it was
  // cancelled. Changes nothing anywhere; may be repeated at will.
  virtual Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) = 0;

  // Folders in which something happens when the answer changes.
  virtual std::vector<WatchedFolder> folders_to_watch() const { return {}; }

  // Whether the answer depends on which pools are asked for, so that a new one is worth a poll.
  virtual bool asks_by_pool() const { return false; }
};

// muster's own queue, or anything else in this process that knows demand at once. THREADS: any.
class OwnQueue {
 public:
  virtual ~OwnQueue() = default;
  virtual Counts counts() const = 0;
  // `changed` is called from any thread whenever counts() may have changed; an empty one ends that,
  // and when the call returns, the one before is not running any more.
  virtual void on_change(std::function<void()> changed) = 0;
};

// `{workerPoolId: pending}` or `{workerPoolId: {pending, claimed}}`, as files and HTTP services say
// it. A pool that is not named has nothing pending. What is no whole number from 0 is an error of
// its pool alone; fails as `invalid` only if nothing can be read. Pure.
Result<Answer> read_counts(const json::value& document, const std::vector<WorkerPoolId>& pools,
                           Time at);

// A source as it is configured. Reads no file yet and opens no connection.
std::unique_ptr<DemandSource> make_source(const config::DemandSettings& settings);

std::unique_ptr<DemandSource> file_source(const config::DemandSettings& settings);
std::unique_ptr<DemandSource> folder_source(const config::DemandSettings& settings);
std::unique_ptr<DemandSource> http_source(const config::DemandSettings& settings);
std::unique_ptr<DemandSource> taskcluster_source(const config::DemandSettings& settings);

}  // namespace muster::demand
