// Group commit: many submit batches, one thread makes all that wait durable in one transaction, so
// that a sync of the disk is paid once for all of them. While the disk fails, batches wait in their
// order and nothing is lost; health() says what is wrong.
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

#include "host/store/store.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::store {

struct Health {
  bool ok = true;
  std::optional<Time> failing_since = {};
  std::string sentence = {};  // what is wrong and what to do
  // Damage that is known and waits to be repaired; commits work meanwhile, if `ok`.
  std::string damage = {};

  friend bool operator==(const Health&, const Health&) = default;
};

struct CommitterSettings {
  std::chrono::milliseconds first_retry{100};
  std::chrono::milliseconds longest_retry{5'000};
  // In one transaction, unless a single batch has more.
  std::size_t most_changes = 20'000;
  // Told of every change of health(), on the committer's thread.
  std::function<void(const Health&)> listener = {};
  // Called on the committer's thread when the store is damaged; to put a sound one in its place
  // (SqliteStore::rebuild with the whole state in memory). Then what waits is committed to that,
  // also what the state held already: that changes nothing. Without it, or if it fails, the
  // committer goes on trying.
  std::function<Result<void>(const Error& damage)> replace_damaged = {};
  // Told after that, on the same thread.
  std::function<void(const Error& damage)> replaced = {};
  // A disk that damages every file is not to be filled with them.
  std::chrono::milliseconds between_replacements = std::chrono::minutes(10);
  // A commit that takes longer makes health() not ok: the disk does not answer.
  std::chrono::milliseconds stalled_after = std::chrono::seconds(5);
  // After so many failures to read or write in a row the store counts as damaged, too; and again
  // after twice as many.
  int failures_until_replaced = 5;
};

class Committer {
 public:
  // Store and clock are borrowed and outlive this. Nobody else commits to the store.
  Committer(Store& store, const Clock& clock, Log log, CommitterSettings settings = {});
  // Like stop() without patience.
  ~Committer();
  Committer(const Committer&) = delete;
  Committer& operator=(const Committer&) = delete;

  // Returns at once. `durable` is called on the committer's thread when the batch and all before it
  // are durable; callbacks come in the order of the submissions. False: it was stopped, and nothing
  // of the batch is kept. THREADS: any.
  bool submit(Batch batch, std::function<void()> durable = {});

  // The listener is not told of a commit that takes too long: it is seen here. THREADS: any.
  Health health() const;
  std::size_t waiting() const;  // batches that are not durable yet

  // Tries again now and not after the backoff, for an operator who has made room. THREADS: any.
  void retry_now();

  // Somebody who reads the store found it damaged: it is replaced as if a commit had failed so, as
  // soon as that may be. While it lasts health() is not ok. THREADS: any.
  void report_damage(Error damage);

  // Takes no more, makes durable what it can so long, and ends the thread. A commit that is under
  // way is waited for. Returns how many batches were lost, 0 if all is well. THREADS: any but the
  // committer's. IDEMPOTENT.
  std::size_t stop(std::chrono::milliseconds patience);

 private:
  struct Submission {
    Batch batch;
    std::function<void()> durable;
  };
  // What the next transaction holds.
  struct Group {
    Batch changes;
    std::vector<std::function<void()>> durable;
  };
  using Lock = std::unique_lock<std::mutex>;

  void run();
  void fill_group(Lock&);
  void finish_group(Lock& lock);
  // False: the time to stop is over.
  bool wait_after(Lock& lock, const Error& error);
  void wait_for_work(Lock& lock);
  void replace(Lock& lock);
  bool may_replace() const;
  void failed(Lock& lock, const Error& error);
  void set_health(Lock& lock, const Error* error);

  Store& store_;
  const Clock& clock_;
  const Log log_;
  const CommitterSettings settings_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Submission> queue_;
  std::optional<Error> damage_;
  SteadyTime replace_at_ = SteadyTime::min();  // not before
  bool replace_failed_ = false;                // the last time
  std::optional<SteadyTime> stop_at_;
  std::optional<SteadyTime> committing_since_;
  bool retry_now_ = false;
  Health health_;
  std::size_t waiting_ = 0;

  // The thread's own.
  Group group_;
  std::chrono::milliseconds delay_;
  int failures_ = 0;  // in a row
  std::chrono::milliseconds replace_delay_;
  std::string why_not_replaced_;

  std::mutex stopping_;
  std::thread thread_;
};

}  // namespace muster::store
