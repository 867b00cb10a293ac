#include "lib/base/open_files.hpp"

#include <functional>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace muster {
namespace {

// In a process of its own, whose limit may change.
int exit_code_of(const std::function<int()>& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(OpenFiles, too_few_are_told_with_what_to_do) {
  EXPECT_EQ(too_few_open_files(64, 256).message,
            "this process may have only 64 files open, and needs at least 256: raise the limit "
            "(ulimit -n 1024 in the shell that starts it, or LimitNOFILE= in its systemd unit)");
}

TEST(OpenFiles, the_soft_limit_is_raised_to_the_hard_one) {
  EXPECT_EQ(exit_code_of([] {
              rlimit limit{};
              ::getrlimit(RLIMIT_NOFILE, &limit);
              limit.rlim_cur = 64;
              ::setrlimit(RLIMIT_NOFILE, &limit);
              (void)raise_limit_of_open_files(256, 1);
              rlimit after{};
              ::getrlimit(RLIMIT_NOFILE, &after);
              return after.rlim_cur == limit.rlim_max ? 0 : 1;
            }),
            0);
}

TEST(OpenFiles, a_hard_limit_is_raised_by_root_and_told_to_others) {
  EXPECT_EQ(exit_code_of([] {
              const rlimit few{64, 64};
              ::setrlimit(RLIMIT_NOFILE, &few);
              const bool raised = raise_limit_of_open_files(256, 512).has_value();
              rlimit after{};
              ::getrlimit(RLIMIT_NOFILE, &after);
              return raised == (after.rlim_cur >= 256) && (raised || after.rlim_cur == 64) ? 0 : 1;
            }),
            0);
  // As anybody who is not root.
  EXPECT_EQ(exit_code_of([] {
              const rlimit few{64, 64};
              ::setrlimit(RLIMIT_NOFILE, &few);
              if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 2;
              return raise_limit_of_open_files(256, 512).has_error() ? 0 : 1;
            }),
            0);
}

}  // namespace
}  // namespace muster
