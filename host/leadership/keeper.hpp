// The thread that looks who leads, asks for the lead when nobody has it, and keeps it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "host/leadership/lease.hpp"
#include "host/leadership/lease_table.hpp"
#include "lib/base/log.hpp"

namespace muster::leadership {

enum class Role {
  neither,    // nobody is known to lead, or the table cannot be reached
  following,  // another host leads
  leading,
  lost,  // it led and does no more; the host must begin again
};

std::string_view to_string(Role role);

struct View {
  Role role = Role::neither;
  Lead lead = {};            // as it was seen last
  std::string problem = {};  // why the table cannot be reached, or why the lead was lost
};

class Keeper {
 public:
  struct Parts {
    std::unique_ptr<LeaseTable> table;
    LeaseTimes times = {};
    HostEntry self = {};
    // Called on the keeper's thread before each look: its problem and its lag as they are now.
    std::function<void(HostEntry&)> describe = {};
    // Does not ask for the lead so long: after it was handed over.
    std::chrono::milliseconds stand_back{};
    // Called on the keeper's thread after a change of the role. Must not wait.
    std::function<void()> role_changed = {};
    std::function<BootTime()> clock = boot_time;
    Log log = {};
  };
  explicit Keeper(Parts parts);
  ~Keeper();
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // THREADS: any, all of them.
  View view() const;
  // May this host decide, call providers and acknowledge changes now? Looks at the clock each time,
  // so it is right also if the process was stopped until now.
  bool may_act() const;
  Result<std::vector<HostEntry>> hosts();

  // From now on the host may not act. Returns at once; the lease itself stays until release().
  void stop_acting(const std::string& why);
  // Ends the lease, so that another host takes it at once. Waits for the database.
  void release();

 private:
  void run();
  std::chrono::milliseconds step();
  std::chrono::milliseconds follow();
  std::chrono::milliseconds keep();
  void set_role(Role role, const std::string& problem = {});

  Parts parts_;
  std::mutex table_mutex_;  // held during calls of the table
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  View view_;
  bool stopping_ = false;
  const BootTime competes_from_;
  Holding holding_;  // the thread's own
  std::int64_t epoch_ = 0;
  std::atomic<std::int64_t> relied_until_{0};
  std::thread thread_;
};

}  // namespace muster::leadership
