// Many independent pieces of work on all cores. For pure functions only.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace muster::rules {

// Calls work(i) for each i below count, each once, in any order, from this thread and others that
// end before this returns. Few pieces are not worth a thread. The first exception is thrown again
// here.
template <class Work>
void for_each_index(std::size_t count, const Work& work) {
  constexpr std::size_t worth_a_thread = 16, most_threads = 16;
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::atomic_flag failed;
  const auto run = [&] {
    try {
      for (std::size_t i; (i = next++) < count;) work(i);
    } catch (...) {
      if (!failed.test_and_set()) failure = std::current_exception();
    }
  };
  const std::size_t cores =
      std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, most_threads);
  std::vector<std::jthread> threads;
  for (std::size_t t = 1; t < std::min(cores, count / worth_a_thread); ++t)
    threads.emplace_back(run);
  run();
  threads.clear();  // joins
  if (failure) std::rethrow_exception(failure);
}

}  // namespace muster::rules
