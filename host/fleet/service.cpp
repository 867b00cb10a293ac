#include "host/fleet/service.hpp"

#include <algorithm>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

// The clock may be set, or stand still in a test: read it now and then.
constexpr std::chrono::milliseconds longest_sleep = 1s;
// Between two decisions. If more time has passed, nobody was heard in between: the process was
// frozen, or the store failed. What is shorter than this nobody's silence is judged by.
constexpr std::chrono::milliseconds most_between_decisions = 3s;

}  // namespace

Service::Service(std::unique_ptr<Fleet> fleet, ServiceParts parts)
    : parts_(std::move(parts)), fleet_(std::move(fleet)) {
  store::CommitterSettings settings;
  settings.listener = [this](const store::Health& health) {
    if (!health.ok) refuse_callers(health.sentence);
    const std::lock_guard lock(mutex_);
    store_ok_ = health.ok;
    changed_.notify_all();
  };
  if (parts_.rebuild_store) {
    settings.replace_damaged = [this](const Error& damage) { return replace_damaged(damage); };
    settings.replaced = [this](const Error& damage) { tell_of_repair(damage); };
  }
  committer_ = std::make_unique<store::Committer>(*parts_.store, *parts_.clock, parts_.log,
                                                  std::move(settings));
  lanes_ = std::make_unique<QuestionLanes>(
      parts_.find_plugin,
      [this](Answer answer) {
        post([answer = std::move(answer)](Fleet& to, Now now) { to.answered(answer, now); });
      },
      parts_.log, parts_.call_ended, parts_.may_act);
  thread_ = std::thread([this] { run(); });
}

Service::~Service() {
  stop(0ms);
}

void Service::stop(std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
  lanes_->stop();
  const std::size_t lost = committer_->stop(patience);
  if (lost > 0)
    parts_.log.error("changes could not be made durable before the end", {{"batches", lost}});
  const std::lock_guard lock(mutex_);
  inputs_.clear();  // their callers learn of it by their promises
  const std::lock_guard callers_lock(callers_mutex_);
  callers_.clear();
}

void Service::post(Input input, std::function<void()> durable) {
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  inputs_.push_back({std::move(input), std::move(durable)});
  changed_.notify_all();
}

void Service::post_change(Input input, Done done) {
  std::int64_t caller = 0;
  {
    const std::lock_guard lock(callers_mutex_);
    caller = next_caller_++;
    callers_.emplace(caller, std::move(done));
  }
  post(std::move(input), [this, caller] { answer_caller(caller); });
  // The store may have failed since the caller looked.
  if (const store::Health health = store_health(); !health.ok) refuse_callers(health.sentence);
}

void Service::answer_caller(std::int64_t caller) {
  Done done;
  {
    const std::lock_guard lock(callers_mutex_);
    const auto found = callers_.find(caller);
    if (found == callers_.end()) return;
    done = std::move(found->second);
    callers_.erase(found);
  }
  done(std::nullopt);
}

void Service::refuse_callers(const std::string& why) {
  std::map<std::int64_t, Done> callers;
  {
    const std::lock_guard lock(callers_mutex_);
    callers.swap(callers_);
  }
  for (const auto& [caller, done] : callers) done(unknown_outcome(why));
}

void Service::query(Query query) {
  if (!decision_waits_) {
    const std::shared_lock at_rest(deciding_, std::try_to_lock);
    if (at_rest) return run_query(query);
  }
  const std::lock_guard lock(mutex_);
  if (stopping_) return;
  queries_.push_back(std::move(query));
  changed_.notify_all();
}

void Service::read(const Query& query) {
  auto done = std::make_shared<std::promise<void>>();
  auto answered = done->get_future();
  this->query([&query, done = std::move(done)](const Fleet& fleet, Now now) {
    try {
      query(fleet, now);
      done->set_value();
    } catch (...) {
      done->set_exception(std::current_exception());
      throw;  // to the log
    }
  });
  // A promise that is dropped unkept ends the wait, too: the host is stopping.
  try {
    answered.get();
  } catch (const std::future_error&) {
    return;
  }
}

void Service::run_query(const Query& query) noexcept {
  try {
    query(*fleet_, now());
  } catch (const std::exception& exception) {
    parts_.log.error("a read of the fleet failed: this is a bug", {{"error", exception.what()}});
  } catch (...) {
    parts_.log.error("a read of the fleet failed: this is a bug", {});
  }
}

Now now_of(const Clock& clock) {
  const BothClocks both = read_both(clock);
  return {both.wall, both.steady};
}

Now Service::now() const {
  return now_of(*parts_.clock);
}

std::chrono::milliseconds Service::until_wake(Time wake) const {
  if (wake == Time::max()) return longest_sleep;
  return std::clamp<std::chrono::milliseconds>(wake - parts_.clock->now(), 0ms, longest_sleep);
}

void Service::run() {
  std::unique_lock lock(mutex_);
  Time wake{};
  while (!stopping_) {
    const auto ready = [&] {
      return stopping_ || !queries_.empty() || (store_ok_ && !inputs_.empty() && may_act());
    };
    const auto sleep =
        store_ok_ && may_act() && !has_stopped_deciding() ? until_wake(wake) : longest_sleep;
    if (sleep > 0ms) changed_.wait_for(lock, sleep, ready);
    if (stopping_) break;
    const std::vector<Query> queries = std::exchange(queries_, {});
    // While the store fails nothing is decided: what is not durable must not be acted on.
    std::vector<PendingInput> inputs;
    const bool decides = store_ok_ && may_act();
    if (decides) inputs = std::exchange(inputs_, {});
    lock.unlock();
    for (const Query& query : queries) run_query(query);
    // After decisions have stopped, inputs are dropped: their callers learn of it by their
    // promises.
    if (decides && !has_stopped_deciding()) {
      decide(std::move(inputs));
      if (!has_stopped_deciding()) wake = fleet_->next_wake();
    }
    inputs.clear();
    request_waiters_.expire(now().steady);
    // A store that does not answer tells nobody.
    if (const store::Health health = store_health(); !health.ok) refuse_callers(health.sentence);
    if (parts_.time_watch) parts_.time_watch->look();
    lock.lock();
  }
  for (const Query& query : std::exchange(queries_, {})) run_query(query);
}

void Service::decide(std::vector<PendingInput> inputs) {
  decision_waits_ = true;
  std::unique_lock alone(deciding_);
  decision_waits_ = false;
  std::vector<std::function<void()>> durable;
  const Now begins = now();
  if (decided_ && begins.steady - *decided_ > most_between_decisions) {
    parts_.log.warning("nobody was heard for a while: the host was frozen, or its store failed",
                       {{"seconds", (begins.steady - *decided_).count() / 1000}});
    fleet_->could_not_hear(begins);
  }
  for (PendingInput& waiting : inputs) {
    if (!run_input(waiting.input)) return;
    if (waiting.durable) durable.push_back(std::move(waiting.durable));
  }
  Outcome outcome;
  try {
    const Now ends = now();
    outcome = fleet_->settle(ends);
    decided_ = ends.steady;
  } catch (const std::exception& exception) {
    return stop_deciding(exception.what());
  } catch (...) {
    return stop_deciding("an unknown exception");
  }
  alone.unlock();
  for (const events::Event& event : outcome.events)
    if (event.kind == "worker-pool-fault")
      parts_.log.error(event.text + "; report the bug",
                       {{"workerPoolId", event.worker_pool_id.str()}});
  if (!outcome.empty() || !durable.empty()) carry_out(std::move(outcome), std::move(durable));
}

bool Service::run_input(const Input& input) {
  std::string what;
  try {
    input(*fleet_, now());
    fleet_->input_ended();
    return true;
  } catch (const std::exception& exception) {
    what = exception.what();
  } catch (...) {
    what = "an unknown exception";
  }
  if (fleet_->half_changed()) {
    stop_deciding(what);
    return false;
  }
  parts_.log.error("a change of the fleet failed: this is a bug", {{"error", what}});
  return true;
}

void Service::stop_deciding(const std::string& why) {
  const std::string sentence =
      "decisions have stopped after an internal error (" + why +
      "): restart the host, which goes on from its last complete decision, and report the bug";
  {
    const std::lock_guard lock(fault_mutex_);
    fault_ = store::Health{.ok = false, .failing_since = now().wall, .sentence = sentence};
  }
  parts_.log.error(sentence, {{"error", why}});
  refuse_callers(sentence);
}

bool Service::has_stopped_deciding() const {
  const std::lock_guard lock(fault_mutex_);
  return fault_.has_value();
}

store::Health Service::store_health() const {
  {
    const std::lock_guard lock(fault_mutex_);
    if (fault_) return *fault_;
  }
  if (!may_act())
    return {.ok = false,
            .sentence = "this host does not lead any more: ask again, another one does"};
  return committer_->health();
}

Error Service::failed(const std::string& what) {
  return Error::internal("the change failed because of a bug in muster (" + what +
                         "); the log of the host has the same error");
}

// First durable, then questions are asked and listeners called.
void Service::carry_out(Outcome outcome, std::vector<std::function<void()>> durable) {
  auto rest = std::make_shared<Outcome>();
  rest->questions = std::move(outcome.questions);
  rest->events = std::move(outcome.events);
  rest->settled = std::move(outcome.settled);
  committer_->submit(std::move(outcome.changes), [this, rest, durable = std::move(durable)] {
    for (const auto& tell : durable) tell();
    request_waiters_.settled(rest->settled);
    for (Question& question : rest->questions) lanes_->ask(std::move(question));
    for (const events::Event& event : rest->events)
      parts_.log.debug(event.text, {{"event", event.number},
                                    {"kind", event.kind},
                                    {"workerPoolId", event.worker_pool_id.str()}});
    if (parts_.listener && !rest->events.empty()) parts_.listener(rest->events);
  });
}

// The whole state is in memory: a new database is made from it.
Result<void> Service::replace_damaged(const Error& damage) {
  parts_.log.error("the store is damaged and is written anew from memory",
                   {{"error", damage.message}});
  if (has_stopped_deciding()) return Error::internal(store_health().sentence);
  std::optional<store::Batch> everything;
  read([&](const Fleet& fleet, Now) { everything = fleet.everything(); });
  if (!everything) return Error::cancelled("the host is stopping");
  return parts_.rebuild_store(std::move(*everything));
}

void Service::tell_of_repair(const Error& damage) {
  events::Event event;
  event.kind = "store-repaired";
  event.text = "the store was written anew from memory: " + damage.message;
  event.details = {{"reason", damage.message}};
  post([event = std::move(event)](Fleet& fleet, Now now) { fleet.emit_event(event, now); });
}

Error Service::read_only() const {
  return read_only(store_health().sentence);
}

Error Service::unknown_outcome(const std::string& why) {
  return read_only(why +
                   ". This was under way, and may still be done when the store works again: look "
                   "before you ask again");
}

Error Service::read_only(const std::string& why) {
  return Error::transient("the host is read-only: " + why).with_code("readOnly");
}

}  // namespace muster::fleet
