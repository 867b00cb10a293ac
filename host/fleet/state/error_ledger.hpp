// What is kept of the errors of pools, so that no worker fills the disk: which rows there are,
// which of them go when a new one comes, and how often workers may report.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include <muster/error.hpp>

#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/rows.hpp"

namespace muster::fleet {

struct ErrorLimits {
  std::size_t extra_bytes = 16 * 1024;  // of `extra` in one report, as JSON
  std::size_t kept_of_worker = 100;     // the oldest go
  std::size_t kept_of_pool = 1'000;     // the oldest go
  std::size_t bytes_of_pool = std::size_t{4} << 20;
  // Reports: so many at once, and then one more in each such time.
  int at_once_of_worker = 20, at_once_of_pool = 200;
  std::chrono::milliseconds each_of_worker = std::chrono::minutes(1);
  std::chrono::milliseconds each_of_pool = std::chrono::seconds(6);
};

// A value of the fleet's thread.
class ErrorLedger {
 public:
  using Dropped = std::vector<std::int64_t>;  // numbers of rows of the pool that are kept no longer

  explicit ErrorLedger(ErrorLimits limits = {}) : limits_(limits) {}

  // Whether a worker may report now; counted if so. Fails as `invalid` if the report is too large,
  // and as `throttle` if there were too many.
  Result<void> admit(const WorkerName& worker, const json::object& extra, Time now);

  // A row that is new, or that the store has; older ones first.
  Dropped add(const PoolErrorRow& row);
  // The store forgets those by itself.
  void forget_before(Time bound);

 private:
  struct Entry {
    std::int64_t number;
    Time at;
    std::size_t bytes;
    std::size_t worker;  // a digest of its name; 0: it is not of one
  };
  struct Kept {
    std::deque<Entry> entries;  // the oldest first
    std::size_t bytes = 0;
  };
  // Spent by reports, filled up again by time.
  struct Allowance {
    double spent = 0;
    Time at{};
    double spent_at(Time now, std::chrono::milliseconds each) const;
  };
  using Allowances = std::unordered_map<std::string, Allowance>;

  static std::size_t bytes_of(const PoolErrorRow& row);
  static std::size_t worker_of(const PoolErrorRow& row);
  static void make_room(Allowances& allowances, Time now, std::chrono::milliseconds each);

  ErrorLimits limits_;
  std::map<WorkerPoolId, Kept> kept_;
  Allowances of_workers_, of_pools_;
};

}  // namespace muster::fleet
