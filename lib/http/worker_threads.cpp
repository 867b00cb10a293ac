#include "lib/http/worker_threads.hpp"

#include <exception>

namespace muster::http {

WorkerThreads::WorkerThreads(std::size_t threads, std::size_t longest_line, Log log,
                             std::function<void()> when_idle)
    : longest_line_(longest_line), log_(std::move(log)), when_idle_(std::move(when_idle)) {
  for (std::size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { serve(); });
}

WorkerThreads::~WorkerThreads() {
  std::deque<std::function<void()>> dropped;  // destroyed outside the lock: they answer on the way
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    dropped.swap(line_);
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerThreads::run(std::function<void()> work) {
  {
    const std::lock_guard guard(mutex_);
    if (stopping_ || line_.size() >= longest_line_) return false;
    line_.push_back(std::move(work));
  }
  changed_.notify_one();
  return true;
}

void WorkerThreads::serve() {
  for (;;) {
    std::function<void()> work;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || !line_.empty(); });
      if (line_.empty()) return;
      work = std::move(line_.front());
      line_.pop_front();
      ++busy_;
    }
    run_guarded(work);
    work = {};  // with all that it holds, before anybody says that nothing is left
    bool idle = false;
    {
      const std::lock_guard guard(mutex_);
      idle = --busy_ == 0 && line_.empty();
    }
    if (idle && when_idle_) run_guarded(when_idle_);
  }
}

void WorkerThreads::run_guarded(const std::function<void()>& work) const {
  try {
    work();
  } catch (const std::exception& error) {
    log_.error("work for a request failed", {{"what", error.what()}});
  } catch (...) {
    log_.error("work for a request failed");
  }
}

}  // namespace muster::http
