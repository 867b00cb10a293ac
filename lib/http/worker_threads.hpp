// A few threads for handlers that wait, and a line in front of them that has an end.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "lib/base/log.hpp"

namespace muster::http {

class WorkerThreads {
 public:
  // `when_idle` is called, from one of the threads, when the last work of a busy time is done.
  WorkerThreads(std::size_t threads, std::size_t longest_line, Log log,
                std::function<void()> when_idle = {});
  // Waits for the work that runs; what is still queued is dropped.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // False: the line is full, or the threads are stopping, and the work is dropped. What it throws
  // is logged. THREADS: any.
  bool run(std::function<void()> work);

 private:
  void serve();
  void run_guarded(const std::function<void()>& work) const;

  const std::size_t longest_line_;
  const Log log_;
  const std::function<void()> when_idle_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> line_;
  std::size_t busy_ = 0;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::http
