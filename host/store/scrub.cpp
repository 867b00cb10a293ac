#include "host/store/scrub.hpp"

namespace muster::store {

Scrub::Scrub(SqliteStore& store, std::chrono::milliseconds every) : store_(store), every_(every) {
  if (every_.count() > 0) thread_ = std::thread([this] { run(); });
}

Scrub::~Scrub() {
  {
    const std::lock_guard guard(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Scrub::run() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    (void)store_.look_for_damage();  // it tells its listener
    lock.lock();
    changed_.wait_for(lock, every_, [&] { return stopping_; });
  }
}

}  // namespace muster::store
