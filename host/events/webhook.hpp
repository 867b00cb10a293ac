// One webhook: sends events one by one, in their order, until the other side has taken each or it
// is given up.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <set>

#include "host/config/host_configuration.hpp"
#include "host/events/delivery_store.hpp"
#include "host/events/event_log.hpp"
#include "host/events/filter.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::events {

struct WebhookRequest {
  std::int64_t number = 0;
  std::string kind;
  std::string body;
  bool again = false;  // a dead letter that somebody wants to be tried again
};

struct WebhookAnswer {
  long status = 0;  // 0: there was none, and `problem` says why
  std::string problem = {};
  std::optional<std::chrono::seconds> retry_after = {};
  bool stopped = false;  // the host stops: this was no attempt
};

// Waits for the answer, at most for the webhook's timeout.
using WebhookTransport = std::function<WebhookAnswer(const WebhookRequest&)>;

struct WebhookStatus {
  std::string name, url;
  std::int64_t delivered = 0;  // the last event that was taken, given up or not asked for
  std::int64_t lag = 0;        // events behind the newest
  std::int64_t sent = 0, failed = 0, given_up = 0, lost = 0;  // since the host started
  std::int64_t attempts = 0;                                  // of the event that is tried now
  std::string problem;                                        // of the last attempt, if it failed
  std::optional<Time> problem_at, retry_at;
};

class Webhook {
 public:
  struct Parts {
    config::WebhookSettings settings;
    const EventLog* log = nullptr;  // these three are borrowed
    DeliveryStore* deliveries = nullptr;
    const Clock* clock = nullptr;
    WebhookTransport transport;
    std::function<double()> random;  // from 0 to 1
    std::function<void()> wake;      // asks for a step(); called on any thread
    Log log_lines = {};
    // When somebody had `patience` since `from`, without the time in which the host did not run or
    // its clock was set. None: by the wall clock.
    std::function<Time(Time from, std::chrono::milliseconds patience)> deadline = {};
  };
  // Goes on after this number.
  Webhook(Parts parts, std::int64_t delivered);

  // Does what is due, one attempt at most, and returns when the next thing is: SteadyTime::max() if
  // that is when an event comes or wake() is called. THREADS: one at a time.
  SteadyTime step();

  // Tries a dead letter once more, soon, out of the order. THREADS: any.
  void retry_dead_letter(std::int64_t number);

  // THREADS: any.
  WebhookStatus status() const;

  static std::string consumer_of(const std::string& name) { return "webhook/" + name; }

 private:
  struct Saving {  // kept alive by the callback of a commit that outlives the webhook
    std::atomic<bool> busy = false;
  };

  SteadyTime next_event();
  SteadyTime attempt();
  std::optional<std::int64_t> next_retry();
  SteadyTime retry(std::int64_t number);
  SteadyTime failed(const WebhookAnswer& answer, bool for_good);
  void give_up(const WebhookAnswer& answer);
  void finish(std::vector<store::Change> more);
  void note(const std::string& problem, std::optional<std::chrono::milliseconds> delay);
  std::chrono::milliseconds backoff() const;

  const Parts parts_;
  const std::string consumer_;
  const Filter filter_;
  Cursor cursor_;
  std::shared_ptr<Saving> saving_ = std::make_shared<Saving>();
  std::int64_t attempts_ = 0;  // of the event at the cursor
  int failures_ = 0;           // in a row
  std::int64_t saved_ = 0;     // the position that is stored, or being stored
  SteadyTime not_before_{}, skipped_saved_at_;

  mutable std::mutex mutex_;
  std::set<std::int64_t> retries_;
  WebhookStatus status_;
};

// Whether the answer says that it will never be taken.
bool is_final_refusal(long status);

}  // namespace muster::events
