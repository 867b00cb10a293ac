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
  WorkerThreads(std::size_t threads, std::size_t longest_line, Log log);
  // Waits for the work that runs; what is still queued is dropped.
  ~WorkerThreads();
  WorkerThreads(const WorkerThreads&) = delete;
  WorkerThreads& operator=(const WorkerThreads&) = delete;

  // False: the line is full, or the threads are stopping, and the work is dropped. What it throws
  // is logged. THREADS: any.
  bool run(std::function<void()> work);

 private:
  void serve();

  const std::size_t longest_line_;
  const Log log_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> line_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace muster::http
