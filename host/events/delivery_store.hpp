// How far each consumer has received events, and its dead letters: rows of the store.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "host/events/model/event.hpp"
#include "host/store/store.hpp"
#include "lib/base/clock.hpp"

namespace muster::events {

// THREADS: any.
class DeliveryStore {
 public:
  // As Committer::submit.
  using Submit = std::function<bool(store::Batch, std::function<void()> durable)>;

  // Store and clock are borrowed.
  DeliveryStore(const store::Store& store, const Clock& clock, Submit submit)
      : store_(store), clock_(clock), submit_(std::move(submit)) {}

  // By consumer. Waits for the disk, as everything that returns a Result.
  Result<std::map<std::string, std::int64_t>> positions() const;
  Result<std::vector<DeadLetterRow>> dead_letters(const std::string& consumer, std::int64_t after,
                                                  std::size_t limit) const;
  Result<std::optional<DeadLetterRow>> dead_letter(const std::string& consumer,
                                                   std::int64_t number) const;

  // `durable` is called on the committer's thread, or never if the host is stopping (false).
  void save(const std::string& consumer, std::int64_t delivered, store::Batch more,
            std::function<void()> durable);
  void put(const DeadLetterRow& letter, std::function<void()> durable);
  bool erase(const std::string& consumer, std::int64_t number, std::function<void()> durable);
  // Forgets a consumer that was removed; its dead letters stay.
  void forget(const std::string& consumer);
  void forget_dead_letters_before(Time time);

  Time now() const { return clock_.now(); }

 private:
  const store::Store& store_;
  const Clock& clock_;
  const Submit submit_;
};

}  // namespace muster::events
