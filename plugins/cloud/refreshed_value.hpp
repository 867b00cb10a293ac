// Something that ends and must be fetched anew before it does: credentials, an access token.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include <muster/context.hpp>
#include <muster/error.hpp>

namespace muster::cloud {

struct RefreshSettings {
  const char* name = "the token";                      // for the log
  std::chrono::milliseconds before_end{300'000};       // fetched anew that long before its end
  std::chrono::milliseconds after_failure{10'000};     // until the next try, while the old is valid
  std::chrono::milliseconds unused_before_end{5'000};  // so near its end it is not given out
};

// Values are given out as shared pointers: a caller that uses one keeps it.
//
// THREADS: any. One caller fetches. Others get the old value while it is valid, and wait for the
// one who fetches if there is none; they share its failure, too.
template <class T>
class RefreshedValue {
 public:
  struct Fetched {
    T value;
    std::optional<Time> end = {};  // nothing: it never ends
  };
  // Called without a lock, by one thread at a time.
  using Fetch = std::function<Result<Fetched>(const Context&)>;

  explicit RefreshedValue(Fetch fetch, RefreshSettings settings = {})
      : fetch_(std::move(fetch)), settings_(settings) {}

  // An error only if there is no value that is still valid. A failed refresh that the old value
  // covers is a warning in the log, once until a refresh succeeds.
  Result<std::shared_ptr<const T>> get(const Context& context) {
    std::unique_lock lock(mutex_);
    const std::uint64_t failures_before = failures_;
    while (true) {
      const Time now = context.now();
      if (is_fresh(now) || (is_usable(now) && (fetching_ || now < next_try_))) return value_;
      // Those who waited for a fetch that failed do not try one after the other.
      if (failures_ != failures_before && failure_ && !is_usable(now)) return *failure_;
      if (!fetching_) break;
      if (context.cancelled()) return Error::cancelled("the call was cancelled");
      done_.wait_for(lock, std::chrono::milliseconds(20));
    }
    return fetch(lock, context);
  }

  // The cloud refused `value`: it is not given out again. Another value is left alone: somebody
  // has fetched it meanwhile.
  void discard(const std::shared_ptr<const T>& value) {
    const std::lock_guard lock(mutex_);
    if (value_ == value) value_.reset();
  }

 private:
  bool is_usable(Time now) const {
    return value_ && (!end_ || now + settings_.unused_before_end < *end_);
  }
  // What lives shorter than twice the margin is fetched anew in the middle of its life.
  bool is_fresh(Time now) const {
    if (!value_) return false;
    return !end_ || now < *end_ - std::min(settings_.before_end, (*end_ - begin_) / 2);
  }

  Result<std::shared_ptr<const T>> fetch(std::unique_lock<std::mutex>& lock,
                                         const Context& context) {
    fetching_ = true;
    lock.unlock();
    struct Guard {  // also if the fetch throws
      RefreshedValue& self;
      std::unique_lock<std::mutex>& lock;
      ~Guard() {
        if (!lock.owns_lock()) lock.lock();
        self.fetching_ = false;
        self.done_.notify_all();
      }
    } const guard{*this, lock};
    Result<Fetched> fetched = fetch_(context);
    lock.lock();
    const Time now = context.now();
    if (!fetched) {
      failure_ = fetched.error();
      // The end of one caller's time says nothing to the others.
      if (failure_->error_class != ErrorClass::cancelled) ++failures_;
      next_try_ = now + settings_.after_failure;
      if (!is_usable(now)) return fetched.error();
      if (!warned_ && failure_->error_class != ErrorClass::cancelled) {
        warned_ = true;
        context.log(LogLevel::warning,
                    std::string(settings_.name) +
                        " could not be renewed and is used until its end: " + failure_->message);
      }
      return value_;
    }
    failure_.reset();
    warned_ = false;
    value_ = std::make_shared<const T>(std::move(fetched->value));
    begin_ = now;
    end_ = fetched->end;
    if (!is_usable(now)) return Error::auth("what was fetched has already ended");
    return value_;
  }

  const Fetch fetch_;
  const RefreshSettings settings_;
  std::mutex mutex_;
  std::condition_variable done_;
  std::shared_ptr<const T> value_;
  std::optional<Time> end_;
  Time begin_{}, next_try_{};
  std::optional<Error> failure_;
  std::uint64_t failures_ = 0;
  bool fetching_ = false;
  bool warned_ = false;  // of a refresh that failed while the old value serves
};

}  // namespace muster::cloud
