// What of the host needs a person at the moment.
#pragma once

#include <map>
#include <optional>

#include "host/events/event_log.hpp"
#include "host/notifications/condition.hpp"
#include "host/wiring/fleet_runtime.hpp"
#include "host/wiring/host_auth.hpp"
#include "host/wiring/host_status.hpp"

namespace muster {

// Borrows everything. THREADS: one at a time.
class NotificationConditions {
 public:
  struct Parts {
    FleetRuntime* fleet = nullptr;  // none: because of `no_fleet`
    std::string no_fleet = {};
    PublishedStatus* status = nullptr;
    HostAuth* auth = nullptr;
    const Clock* clock = nullptr;
    std::function<std::optional<Time>()> certificate_expires = {};
  };
  explicit NotificationConditions(Parts parts);

  std::vector<notifications::Condition> observe();

 private:
  using Conditions = std::vector<notifications::Condition>;
  struct PoolErrors {
    std::int64_t count = 0;
    Time newest{};
    std::string text;
  };

  void add_host(Conditions& all) const;
  void add_expiries(Conditions& all) const;
  void add_store(Conditions& all) const;
  void add_fleet(Conditions& all);
  void count_errors();

  const Parts parts_;
  std::optional<events::Cursor> cursor_;  // of the events whose errors are counted
  std::map<WorkerPoolId, PoolErrors> errors_;
};

}  // namespace muster
