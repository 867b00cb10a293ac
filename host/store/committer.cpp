#include "host/store/committer.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace muster::store {
using std::chrono::milliseconds;

namespace {

// How long a wait sleeps at most before it looks at the clock again, which may be a simulated one.
constexpr milliseconds longest_nap{100};

}  // namespace

Committer::Committer(Store& store, const Clock& clock, Log log, CommitterSettings settings)
    : store_(store),
      clock_(clock),
      log_(std::move(log)),
      settings_(std::move(settings)),
      delay_(settings_.first_retry),
      replace_delay_(settings_.first_retry),
      thread_([this] { run(); }) {}

Committer::~Committer() {
  stop(milliseconds(0));
}

bool Committer::submit(Batch batch, std::function<void()> durable) {
  {
    const std::lock_guard guard(mutex_);
    if (stop_at_) return false;
    queue_.push_back({std::move(batch), std::move(durable)});
    ++waiting_;
  }
  changed_.notify_one();
  return true;
}

Health Committer::health() const {
  const std::lock_guard guard(mutex_);
  Health health = health_;
  if (!health.ok || !committing_since_) return health;
  const auto taken = clock_.steady() - *committing_since_;
  if (taken < settings_.stalled_after) return health;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(taken).count();
  health.ok = false;
  health.failing_since = clock_.now() - std::chrono::duration_cast<milliseconds>(taken);
  health.sentence = "the disk has not answered for " + std::to_string(seconds) +
                    " s: look at it and at the kernel's log; what waits is kept";
  return health;
}

std::size_t Committer::waiting() const {
  const std::lock_guard guard(mutex_);
  return waiting_;
}

void Committer::retry_now() {
  const std::lock_guard guard(mutex_);
  retry_now_ = true;
  if (std::exchange(replace_failed_, false)) replace_at_ = SteadyTime::min();
  changed_.notify_one();
}

void Committer::report_damage(Error damage) {
  const std::lock_guard guard(mutex_);
  if (damage_) return;  // one is enough, and readers meet the same again and again
  log_.error("a reader found the store damaged", {{"reason", damage.message}});
  health_.damage = damage.message;
  damage_ = std::move(damage);
  changed_.notify_one();
}

std::size_t Committer::stop(milliseconds patience) {
  const std::lock_guard one_at_a_time(stopping_);
  {
    const std::lock_guard guard(mutex_);
    if (!stop_at_) stop_at_ = clock_.steady() + patience;
    changed_.notify_one();
  }
  if (thread_.joinable()) {
    thread_.join();
    if (const std::size_t lost = waiting())
      log_.error("the store did not take everything before the end",
                 {{"batches", lost}, {"reason", health().sentence}});
  }
  return waiting();
}

void Committer::run() {
  Lock lock(mutex_);
  for (;;) {
    wait_for_work(lock);
    if (damage_ && may_replace()) replace(lock);
    fill_group(lock);
    if (group_.durable.empty()) {
      if (stop_at_) return;
      continue;
    }
    committing_since_ = clock_.steady();
    lock.unlock();
    const auto committed = store_.commit(group_.changes);
    lock.lock();
    committing_since_.reset();
    if (committed) {
      finish_group(lock);
      continue;
    }
    failed(lock, committed.error());
    if (damage_ && may_replace()) continue;
    Error error = committed.error();
    if (damage_) error.message += why_not_replaced_;
    if (!wait_after(lock, error)) return;
  }
}

// Damage that cannot be repaired yet is looked at now and then.
void Committer::wait_for_work(Lock& lock) {
  const auto work = [&] {
    return !queue_.empty() || !group_.durable.empty() || stop_at_ || (damage_ && may_replace());
  };
  while (!work()) {
    if (damage_ && settings_.replace_damaged)
      changed_.wait_for(lock, longest_nap);
    else
      changed_.wait(lock);
  }
}

// A disk that cannot write one file may write another.
void Committer::failed(Lock&, const Error& error) {
  const bool damaged = error.error_class == ErrorClass::internal;
  const bool transient = error.error_class == ErrorClass::transient;
  if (transient) ++failures_;
  const bool unusable =
      transient && failures_ % settings_.failures_until_replaced == 0 &&
      std::has_single_bit(static_cast<unsigned>(failures_ / settings_.failures_until_replaced));
  if (settings_.replace_damaged && (damaged || unusable)) damage_ = error;
}

void Committer::fill_group(Lock&) {
  while (!queue_.empty()) {
    Submission& next = queue_.front();
    const std::size_t changes = group_.changes.size() + next.batch.size();
    if (!group_.durable.empty() && changes > settings_.most_changes) return;
    std::move(next.batch.begin(), next.batch.end(), std::back_inserter(group_.changes));
    group_.durable.push_back(std::move(next.durable));
    queue_.pop_front();
  }
}

void Committer::finish_group(Lock& lock) {
  Group done = std::exchange(group_, {});
  waiting_ -= done.durable.size();
  delay_ = settings_.first_retry;
  failures_ = 0;
  if (damage_ && damage_->error_class == ErrorClass::transient) damage_.reset();  // it works again
  set_health(lock, nullptr);
  lock.unlock();
  for (const auto& durable : done.durable)
    if (durable) durable();
  done = {};
  lock.lock();
}

bool Committer::wait_after(Lock& lock, const Error& error) {
  const SteadyTime retry_at = clock_.steady() + delay_;
  set_health(lock, &error);
  delay_ = std::min(delay_ * 2, settings_.longest_retry);
  for (;;) {
    const SteadyTime now = clock_.steady();
    if (stop_at_ && now >= *stop_at_) return false;
    if (std::exchange(retry_now_, false) || now >= retry_at) return true;
    const SteadyTime until = stop_at_ ? std::min(retry_at, *stop_at_) : retry_at;
    changed_.wait_for(lock, std::min<SteadyTime::duration>(until - now, longest_nap));
  }
}

bool Committer::may_replace() const {
  return settings_.replace_damaged && clock_.steady() >= replace_at_;
}

// Afterwards there is a new store and the damage is over; or it is tried again later, and commits
// go on if they can.
void Committer::replace(Lock& lock) {
  const Error damage = *damage_;
  Error shown = damage;
  shown.message += "; a new one is written from memory";
  if (health_.ok) set_health(lock, &shown);
  lock.unlock();
  const auto outcome = settings_.replace_damaged(damage);
  lock.lock();
  if (outcome) {
    damage_.reset();  // also what was found in the old one meanwhile
    replace_at_ = clock_.steady() + settings_.between_replacements;
    replace_delay_ = settings_.first_retry;
    why_not_replaced_ =
        "; it was replaced a short while ago, so the disk or the memory of this machine is likely "
        "to be bad";
    failures_ = 0;
  } else {
    replace_failed_ = true;
    replace_at_ = clock_.steady() + replace_delay_;
    replace_delay_ = std::min(replace_delay_ * 2, settings_.longest_retry);
    why_not_replaced_ = "; a new one could not be written: " + outcome.error().message;
    log_.error("the damaged store could not be replaced", {{"reason", outcome.error().message}});
  }
  if (group_.durable.empty() && queue_.empty()) set_health(lock, nullptr);  // else the next commit
  if (!outcome || !settings_.replaced) return;
  lock.unlock();
  settings_.replaced(damage);
  lock.lock();
}

void Committer::set_health(Lock& lock, const Error* error) {
  Health health;
  if (error)
    health = {false, health_.ok ? clock_.now() : health_.failing_since, error->message, {}};
  if (damage_) health.damage = damage_->message + why_not_replaced_;
  const bool same = health.ok == health_.ok && health.sentence == health_.sentence;
  health_ = health;
  if (same) return;
  lock.unlock();
  if (error)
    log_.error("the store fails, what waits is kept", {{"reason", error->message}});
  else
    log_.info("the store works again");
  if (settings_.listener) settings_.listener(health);
  lock.lock();
}

}  // namespace muster::store
