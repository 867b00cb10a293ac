// What the configuration says about task runs: how many are kept, and where messages about them
// come from.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace muster::config {

// The queue at a message broker from which the messages of Taskcluster's Queue are taken.
struct RunQueueSettings {
  std::string url;  // "amqps://user@broker:5671/vhost"
  std::filesystem::path password_file = {}, ca_file = {};
  std::string name;     // "queue/<namespace>/<name>"
  bool quorum = false;  // else a classic queue
  std::string exchange_prefix = "exchange/taskcluster-queue/v1/";
  std::chrono::milliseconds heartbeat = std::chrono::seconds(20);
  std::uint32_t prefetch = 1000;  // messages that are not acknowledged yet
  friend bool operator==(const RunQueueSettings&, const RunQueueSettings&) = default;
};

struct WorkerStateSettings {
  std::chrono::milliseconds kept = std::chrono::hours(24 * 30);
  std::uint32_t most_of_worker = 200, most_of_pool = 100'000, most_of_configuration = 300'000;
  std::optional<RunQueueSettings> queue = {};
  friend bool operator==(const WorkerStateSettings&, const WorkerStateSettings&) = default;
};

}  // namespace muster::config
