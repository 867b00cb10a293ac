// What the host can say about itself at any moment.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <muster/json.hpp>

#include "host/config/host_configuration.hpp"
#include "lib/base/clock.hpp"

namespace muster {

enum class HostState { starting, ready, stopping };
std::string_view to_string(HostState state);

// Immutable; a new one is published at every change.
struct HostStatus {
  HostState state = HostState::starting;
  Time started{};
  SteadyTime started_steady{};
  std::string url;
  std::filesystem::path data_directory;
  std::shared_ptr<const config::HostConfiguration> configuration;
  Time configuration_loaded{};
  std::vector<std::string> configuration_problems;  // why the newest file is not the one in use
  std::vector<std::string> restart_needed;          // keys whose new values wait for a restart
};

// THREADS: any may read; one writes.
class PublishedStatus {
 public:
  std::shared_ptr<const HostStatus> get() const {
    const std::lock_guard guard(mutex_);
    return status_;
  }
  void change(const std::function<void(HostStatus&)>& edit);

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const HostStatus> status_ = std::make_shared<const HostStatus>();
};

// The body of GET /api/muster/v1/status. `plugins` is the loader's own summary.
json::object status_document(const HostStatus& status, const Clock& clock,
                             const json::object& plugins);

}  // namespace muster
