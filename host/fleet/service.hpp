// The fleet at work: one thread owns the state, the store's committer makes its changes durable,
// lanes carry its questions. Everybody else hands in functions.
//
// An exception is a bug, and it does not end the host:
//   - from a function that reads, it is logged; a caller that waits in read() gets it.
//   - from a function that changes, before it began to change the fleet or after its calls to the
//     fleet were complete: it is logged, its caller gets an `internal` error, and the fleet goes
//     on.
//   - from what settle() decides about one pool: nothing more is decided about this pool, an event,
//     its verdict and the log say so, and the fleet goes on.
//   - from within a change of the fleet, or from the rest of settle(): the state in memory may
//   contradict
//     itself. Nothing of that decision is made durable and nothing is decided any more: changes
//     fail with an error that says so, store_health() is not ok, and reads still work. The host
//     starts again from the last decision that is durable.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <vector>

#include "host/fleet/fleet.hpp"
#include "host/fleet/question_lanes.hpp"
#include "host/fleet/request_waiters.hpp"
#include "host/store/committer.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"
#include "lib/base/time_watch.hpp"

namespace muster::fleet {

Now now_of(const Clock& clock);

struct ServiceParts {
  store::Store* store = nullptr;  // borrowed
  std::shared_ptr<const Clock> clock;
  TimeWatch* time_watch = nullptr;  // borrowed; looked at as often as it needs
  Log log = {};
  std::function<Callee(const std::string& instance_id)> find_plugin;
  // Whether this host leads, where several share a store; looked at before each decision and before
  // each call of a plugin, on any thread. Without it: always.
  std::function<bool()> may_act = {};
  // Puts a sound database in the place of a damaged one; see store::CommitterSettings.
  std::function<Result<void>(store::Batch everything)> rebuild_store = {};
  // Told of everything that happened once it is durable, in order, on the committer's thread.
  std::function<void(const std::vector<events::Event>&)> listener = {};
  // Told of each call of a plugin that has ended, on the threads of the calls.
  std::function<void(const EndedCall&)> call_ended = {};
};

class Service {
 public:
  Service(std::unique_ptr<Fleet> fleet, ServiceParts parts);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  using Input = std::function<void(Fleet&, Now)>;

  // Runs on the fleet's thread, in the order of the calls; waits there while the store fails.
  // Returns at once. `durable`, if given, is called when all that came of it is durable, on the
  // committer's thread. An input that throws counts as over, see above. THREADS: any.
  void post(Input input, std::function<void()> durable = {});

  // Runs on the fleet's thread and returns its answer when what it changed is durable. Fails at
  // once, with the store's sentence, while the store fails: the host is read-only then. THREADS:
  // any but the fleet's.
  template <class T>
  Result<T> change(std::function<Result<T>(Fleet&, Now)> input);

  // Like post(), for a caller that waits for the change. Calls `done` once: with nothing when the
  // change is durable, or with the error code "readOnly" as soon as the store fails or decisions
  // stop before that; such a change may still be made later. A host that stops may drop it.
  // THREADS: any; `done` must not wait.
  using Done = std::function<void(const std::optional<Error>&)>;
  void post_change(Input input, Done done);

  using Query = std::function<void(const Fleet&, Now)>;

  // Runs at once on the caller's thread if nothing is being decided, else between two decisions on
  // the fleet's thread; also while the store fails. Never waits. Must be short and must not wait
  // either: nothing is decided meanwhile. A host that stops may drop it. THREADS: any.
  void query(Query query);

  // The same, but returns when it has run, and throws what it threw. THREADS: any but the fleet's.
  void read(const Query& query);

  // Woken by what is durable. THREADS: any.
  RequestWaiters& request_waiters() { return request_waiters_; }

  // Not ok while the store fails, and after decisions have stopped. THREADS: any.
  store::Health store_health() const;
  store::Committer& committer() { return *committer_; }

  // Decides no more, cancels calls, and makes durable what it can so long. IDEMPOTENT. THREADS: any
  // but its own.
  void stop(std::chrono::milliseconds patience);

 private:
  struct PendingInput {
    Input input;
    std::function<void()> durable;
  };
  void run();
  void decide(std::vector<PendingInput> inputs);
  void run_query(const Query& query) noexcept;
  // False: decisions must stop.
  bool run_input(const Input& input);
  void stop_deciding(const std::string& why);
  bool has_stopped_deciding() const;
  bool may_act() const { return !parts_.may_act || parts_.may_act(); }
  void carry_out(Outcome outcome, std::vector<std::function<void()>> durable);
  Result<void> replace_damaged(const Error& damage);
  void tell_of_repair(const Error& damage);
  Now now() const;
  std::chrono::milliseconds until_wake(Time wake) const;
  Error read_only() const;
  static Error read_only(const std::string& why);
  static Error unknown_outcome(const std::string& why);
  void answer_caller(std::int64_t caller);
  void refuse_callers(const std::string& why);
  static Error failed(const std::string& what);

  std::optional<std::chrono::milliseconds> decided_;  // last, by the steady clock

  const ServiceParts parts_;
  const std::unique_ptr<Fleet> fleet_;  // changed by the fleet's thread alone

  // The fleet's thread holds it alone while it decides; readers share it. A reader gives way to a
  // decision that waits, or a crowd of readers would hold it up for ever.
  std::shared_mutex deciding_;
  std::atomic<bool> decision_waits_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<PendingInput> inputs_;
  std::vector<Query> queries_;
  bool stopping_ = false;
  bool store_ok_ = true;

  std::mutex callers_mutex_;
  std::map<std::int64_t, Done> callers_;  // of post_change(), that wait
  std::int64_t next_caller_ = 1;

  mutable std::mutex fault_mutex_;
  std::optional<store::Health> fault_;  // decisions have stopped: since when and why

  RequestWaiters request_waiters_;
  std::unique_ptr<store::Committer> committer_;
  std::unique_ptr<QuestionLanes> lanes_;
  std::thread thread_;
};

template <class T>
Result<T> Service::change(std::function<Result<T>(Fleet&, Now)> input) {
  if (!store_health().ok) return read_only();
  auto answer = std::make_shared<std::optional<Result<T>>>();
  auto done = std::make_shared<std::promise<void>>();
  auto durable = done->get_future();
  post(
      [answer, input = std::move(input)](Fleet& fleet, Now now) {
        try {
          answer->emplace(input(fleet, now));
        } catch (const std::exception& exception) {
          answer->emplace(failed(exception.what()));
          throw;
        } catch (...) {
          answer->emplace(failed("an unknown exception"));
          throw;
        }
      },
      [done = std::move(done)] { done->set_value(); });
  // A promise that is dropped unkept says that decisions have stopped, or that the host is
  // stopping.
  try {
    while (durable.wait_for(std::chrono::milliseconds(250)) == std::future_status::timeout)
      if (const auto health = store_health(); !health.ok) return unknown_outcome(health.sentence);
    durable.get();
  } catch (const std::future_error&) {
    if (*answer && !**answer) return std::move(**answer);
    if (!store_health().ok) return read_only();
    return Error::cancelled("the host is stopping");
  }
  return std::move(**answer);
}

}  // namespace muster::fleet
