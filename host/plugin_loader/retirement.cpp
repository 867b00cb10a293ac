#include "host/plugin_loader/retirement.hpp"

namespace muster::plugin_loader {

Retirement::Retirement(std::function<void()> ended)
    : ended_(std::move(ended)), thread_([this] { run(); }) {}

Retirement::~Retirement() {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

std::shared_ptr<Backend> Retirement::adopt(std::shared_ptr<Backend> backend) {
  Backend* const raw = backend.get();
  return {raw, [self = shared_from_this(), backend = std::move(backend)](Backend*) mutable {
            const std::lock_guard lock(self->mutex_);
            self->queue_.push_back(std::move(backend));
            self->changed_.notify_all();
          }};
}

void Retirement::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return leaving_ || !queue_.empty(); });
    if (queue_.empty()) return;
    auto ending = std::move(queue_.front());
    queue_.pop_front();
    lock.unlock();
    ending.reset();
    ended_();
    lock.lock();
  }
}

}  // namespace muster::plugin_loader
