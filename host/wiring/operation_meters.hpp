// What happened since the host started, counted for /metrics: launches, their failures, stops of
// plugins, and calls of plugins.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "host/events/model/event.hpp"
#include "host/fleet/question_lanes.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// Labels are names of the host's configuration and of classes, so there are few series. THREADS:
// any.
class OperationMeters {
 public:
  // Events that are durable now.
  void observe(const std::vector<events::Event>& durable);
  void observe(const fleet::EndedCall& call);
  void write(metrics::Page& page) const;

 private:
  using Pair = std::pair<std::string, std::string>;
  struct Calls {
    metrics::Histogram duration;
    std::uint64_t failures = 0;
  };

  mutable std::mutex mutex_;
  std::map<std::string, std::uint64_t> launches_;       // by provider
  std::map<Pair, std::uint64_t> failures_;              // by provider and class of the error
  std::map<std::string, std::uint64_t> worker_errors_;  // by kind, but failures of launches
  std::map<std::string, std::uint64_t> plugin_stops_;   // by instance
  std::map<Pair, Calls> calls_;                         // by instance and method
};

}  // namespace muster
