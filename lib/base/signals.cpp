#include "lib/base/signals.hpp"

#include <cerrno>
#include <poll.h>
#include <stdexcept>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <system_error>

namespace muster {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

}  // namespace

Signals::Signals() {
  sigset_t ours;
  sigemptyset(&ours);
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&ours, number);
  if (::pthread_sigmask(SIG_BLOCK, &ours, &original_mask_) != 0) fail("block signals");
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &original_pipe_);
  signals_ = FileDescriptor(::signalfd(-1, &ours, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) fail("signalfd");
  wake_ = FileDescriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake_) fail("eventfd");
}

Signals::~Signals() {
  ::sigaction(SIGPIPE, &original_pipe_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &original_mask_, nullptr);
}

Signals::Event Signals::wait(std::optional<std::chrono::milliseconds> at_most) {
  const auto until = std::chrono::steady_clock::now() + at_most.value_or(std::chrono::hours(1));
  for (;;) {
    signalfd_siginfo info{};
    if (::read(signals_.get(), &info, sizeof info) == sizeof info)
      return info.ssi_signo == SIGHUP ? Event::reload : Event::stop;
    std::uint64_t count = 0;
    if (::read(wake_.get(), &count, sizeof count) == sizeof count) return Event::woken;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (at_most && left.count() <= 0) return Event::timeout;
    pollfd both[] = {{signals_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
    if (::poll(both, 2, at_most ? static_cast<int>(left.count()) : -1) < 0 && errno != EINTR)
      fail("poll");
  }
}

void Signals::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace muster
