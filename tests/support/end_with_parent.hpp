// For a child that a test program has forked: it ends with that program, also if the program
// crashes. Otherwise CTest would wait for it, because the child holds the test's output.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace muster::testing {

// To be called in the child, after it has changed its user. `parent` is the pid of the program; the
// thread that has forked must live as long as the child is to.
inline void end_with_parent(pid_t parent, int by = SIGKILL) {
  ::prctl(PR_SET_PDEATHSIG, by);
  if (::getppid() != parent) ::_exit(127);  // it was gone before it could be said
}

}  // namespace muster::testing
