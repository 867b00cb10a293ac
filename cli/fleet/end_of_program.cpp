#include "cli/fleet/end_of_program.hpp"

#include <csignal>
#include <poll.h>
#include <sys/signalfd.h>

namespace muster::cli {

FileDescriptor end_of_program() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &signals, nullptr);
  return FileDescriptor(::signalfd(-1, &signals, SFD_CLOEXEC));
}

bool wait_for(int milliseconds, int end) {
  pollfd waiting{end, POLLIN, 0};
  return ::poll(&waiting, 1, milliseconds) == 0;
}

}  // namespace muster::cli
