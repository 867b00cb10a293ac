#include "host/events/step_thread.hpp"

#include <algorithm>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>

namespace muster::events {
namespace {

constexpr std::chrono::milliseconds longest_wait{60'000};

}  // namespace

Waker::Waker() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!event_) throw std::runtime_error("eventfd: the process has too many open files");
}

void Waker::wake() const {
  [[maybe_unused]] const int written = ::eventfd_write(event_.get(), 1);
}

void Waker::wait(SteadyTime until, int descriptor) const {
  const auto now = std::chrono::steady_clock::now();
  auto time = longest_wait;
  if (until < now + longest_wait)  // rounded up, so that it is over afterwards
    time = std::max(std::chrono::milliseconds(0),
                    std::chrono::ceil<std::chrono::milliseconds>(until - now));
  pollfd both[2] = {{event_.get(), POLLIN, 0}, {descriptor, POLLIN, 0}};
  ::poll(both, descriptor < 0 ? 1 : 2, static_cast<int>(time.count()));
  eventfd_t count = 0;
  [[maybe_unused]] const int read = ::eventfd_read(event_.get(), &count);
}

StepThread::StepThread(std::shared_ptr<Waker> waker, Work work)
    : waker_(std::move(waker)), work_(std::move(work)), thread_([this] { run(); }) {}

StepThread::~StepThread() {
  stop();
}

void StepThread::run() {
  while (!stopping_) {
    const SteadyTime until = work_.step();
    if (!stopping_ && until > std::chrono::steady_clock::now())
      waker_->wait(until, work_.descriptor ? work_.descriptor() : -1);
  }
  if (work_.end) work_.end();
}

void StepThread::stop() {
  stopping_ = true;
  if (work_.interrupt) work_.interrupt();
  waker_->wake();
  if (thread_.joinable()) thread_.join();
}

}  // namespace muster::events
