#include "plugins/cloud/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace muster::cloud {
namespace {

constexpr std::size_t most_threads = 16;

}  // namespace

void in_parallel(std::size_t count, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr bug;
  const auto run = [&] {
    try {
      for (std::size_t at = next++; at < count; at = next++) work(at);
    } catch (...) {
      const std::lock_guard lock(mutex);
      bug = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t i = 1; i < std::min(count, most_threads); ++i) threads.emplace_back(run);
    } catch (const std::system_error&) {
      // The process may have no more threads: then those that there are do the work.
    }
    run();
  }
  if (bug) std::rethrow_exception(bug);
}

}  // namespace muster::cloud
