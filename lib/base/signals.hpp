// The signals that operators and systemd send, as values that one thread waits for.
#pragma once

#include <optional>
#include <signal.h>

#include "lib/base/clock.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster {

// Made once, first thing in main() and before any thread: it blocks SIGTERM, SIGINT and SIGHUP for
// the thread that makes it and all that come after, ignores SIGPIPE (a reader of our logs may go
// away), and reads the three from a signalfd.
//
// CHILDREN inherit both. Code that starts a process gives it `original_mask()` and SIGPIPE's
// default back (posix_spawnattr_setsigmask, posix_spawnattr_setsigdefault).
class Signals {
 public:
  Signals();
  ~Signals();  // puts mask and SIGPIPE back
  Signals(const Signals&) = delete;
  Signals& operator=(const Signals&) = delete;

  enum class Event { stop, reload, woken, timeout };

  // Waits for the next of them, in the order in which the kernel hands them out. One thread only.
  Event wait(std::optional<std::chrono::milliseconds> at_most = std::nullopt);

  // Makes wait() return `woken`. THREADS: any. Several calls before a wait() count as one.
  void wake();

  const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t original_mask_{};
  struct sigaction original_pipe_ {};
  FileDescriptor signals_, wake_;
};

}  // namespace muster
