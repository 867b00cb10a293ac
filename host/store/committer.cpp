#include "host/store/committer.hpp"

#include <algorithm>
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
  return health_;
}

std::size_t Committer::waiting() const {
  const std::lock_guard guard(mutex_);
  return waiting_;
}

void Committer::retry_now() {
  const std::lock_guard guard(mutex_);
  retry_now_ = true;
  changed_.notify_one();
}

void Committer::report_damage(Error damage) {
  const std::lock_guard guard(mutex_);
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
    changed_.wait(
        lock, [&] { return !queue_.empty() || !group_.durable.empty() || stop_at_ || damage_; });
    if (damage_) {
      Error damage = *std::exchange(damage_, std::nullopt);
      replace(lock, damage);
    }
    fill_group(lock);
    if (group_.durable.empty()) {
      if (stop_at_) return;
      continue;
    }
    lock.unlock();
    const auto committed = store_.commit(group_.changes);
    lock.lock();
    if (committed) {
      finish_group(lock);
    } else {
      Error error = committed.error();
      const bool damaged = error.error_class == ErrorClass::internal;
      if (damaged && replace(lock, error)) continue;
      if (!wait_after(lock, error)) return;
    }
  }
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

bool Committer::replace(Lock& lock, Error& error) {
  const SteadyTime now = clock_.steady();
  if (!settings_.replace_damaged) {
    log_.error("the store is damaged", {{"reason", error.message}});
    return false;
  }
  if (replaced_ && now - *replaced_ < settings_.between_replacements) {
    error.message +=
        "; it was replaced a short while ago, so the disk or the memory of this "
        "machine is likely to be bad";
    return false;
  }
  lock.unlock();
  log_.error("the store is damaged, a new one is written from memory", {{"reason", error.message}});
  const auto outcome = settings_.replace_damaged(error);
  lock.lock();
  if (outcome) {
    replaced_ = now;
    return true;
  }
  error.message += "; a new one could not be written: " + outcome.error().message;
  return false;
}

void Committer::set_health(Lock& lock, const Error* error) {
  Health health;
  if (error) health = {false, health_.ok ? clock_.now() : health_.failing_since, error->message};
  if (health == health_) return;
  health_ = health;
  lock.unlock();
  if (error)
    log_.error("the store fails, what waits is kept", {{"reason", error->message}});
  else
    log_.info("the store works again");
  if (settings_.listener) settings_.listener(health);
  lock.lock();
}

}  // namespace muster::store
