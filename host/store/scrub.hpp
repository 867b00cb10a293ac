// Looks for damage where nobody reads: a piece of the database at a time, on a thread of its own.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "host/store/sqlite_store.hpp"

namespace muster::store {

class Scrub {
 public:
  // The store is borrowed and outlives this. An interval of 0: never.
  Scrub(SqliteStore& store, std::chrono::milliseconds every);
  ~Scrub();
  Scrub(const Scrub&) = delete;
  Scrub& operator=(const Scrub&) = delete;

 private:
  void run();

  SqliteStore& store_;
  const std::chrono::milliseconds every_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace muster::store
