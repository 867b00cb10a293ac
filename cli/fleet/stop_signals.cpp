#include "cli/fleet/stop_signals.hpp"

#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>

namespace muster::cli {

FileDescriptor stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
}

bool pause_unless_stopped(int milliseconds, int stop) {
  pollfd waiting{stop, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) == 0;
}

}  // namespace muster::cli
