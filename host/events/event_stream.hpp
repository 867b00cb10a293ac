// The events as one listener hears them: server-sent events over a connection that stays open.
#pragma once

#include <atomic>
#include <memory>

#include "host/events/event_log.hpp"
#include "host/events/page.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/tally.hpp"
#include "lib/http/message.hpp"

namespace muster::http {
class WorkerThreads;
}

namespace muster::events {

struct StreamSettings {
  std::chrono::milliseconds keep_alive{15'000};
  // A listener hears the first event at once; those that follow closely come together, so that a
  // thousand listeners cost a thousand packets for each of these spans and not for each event.
  std::chrono::milliseconds gather{50};
  std::chrono::milliseconds after_failure{1'000};  // of the store
};

// What streams share. All are borrowed and outlive every stream.
struct StreamParts {
  const EventLog* log = nullptr;
  http::WorkerThreads* readers = nullptr;  // on which the store is read
  const Clock* clock = nullptr;
  std::atomic<std::int64_t>* listeners = nullptr;  // counted there
  StreamSettings settings = {};
  Tally::Seat seat = {};  // of the client that listens
};

class EventStream final : public http::Stream {
 public:
  EventStream(StreamParts parts, Filter filter, const EventQuery::Start& start);
  ~EventStream() override;

  More pull(std::string& out) override;

 private:
  // A block that is on its way from the store.
  struct Loading {
    std::atomic<bool> done = false;
    Result<std::shared_ptr<const EventBlock>> block = std::shared_ptr<const EventBlock>();
  };

  void fill(std::string& out);
  void append_some(std::string& out);
  void append_reset(std::string& out);
  void start_loading();
  bool take_loaded();
  void keep_alive(std::string& out, SteadyTime now);

  const StreamParts parts_;
  const Filter filter_;
  const bool all_;  // pass the filter
  Cursor cursor_;
  std::shared_ptr<Loading> loading_;
  bool reset_, forgive_loss_;
  SteadyTime last_said_, not_before_{};
};

}  // namespace muster::events
