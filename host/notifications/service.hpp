// Looks at what is the case every few seconds and sends what the ledger decides. The ledger is kept
// in a file and not in the store: that the store fails is one of the things to tell.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>

#include "host/config/notification_settings.hpp"
#include "host/events/step_thread.hpp"
#include "host/notifications/ledger.hpp"
#include "host/notifications/senders.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::notifications {

// For /metrics.
struct Numbers {
  std::map<std::string, std::int64_t> active;          // conditions by cause
  std::map<std::string, std::int64_t> sent, failures;  // attempts by channel: "mail", "chat"
  std::int64_t pending = 0, dropped = 0;
};

class Service {
 public:
  struct Parts {
    std::filesystem::path file;  // of the ledger
    std::shared_ptr<const Clock> clock;
    Log log = {};
    std::string url = {};  // where the host serves
    std::function<std::vector<Condition>()> observe;
  };
  // Reads the file; one that cannot be read is begun anew. Starts the thread.
  Service(Parts parts, config::NotificationSettings settings);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // THREADS: any, for all of these.
  void configure(config::NotificationSettings settings);
  Numbers numbers() const;
  // What lasts, who was told, and what could not be sent: for the host's status.
  json::object status_json() const;
  // Sends no more. IDEMPOTENT. THREADS: one at a time.
  void stop();

 private:
  SteadyTime step();
  void send_what_is_due(const config::NotificationSettings& settings);
  void save();

  const Parts parts_;
  std::atomic<bool> stop_ = false;
  std::string saved_;  // the text of the file
  bool cannot_save_ = false;

  mutable std::mutex mutex_;
  config::NotificationSettings settings_;
  Ledger ledger_;
  std::map<std::string, std::int64_t> sent_, failures_;

  std::unique_ptr<events::StepThread> thread_;  // last: it uses all of it
};

}  // namespace muster::notifications
