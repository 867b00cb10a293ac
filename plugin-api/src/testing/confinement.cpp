// Runs `describe` where it can do nothing but compute. A seccomp filter turns every other system
// call into SIGSYS, whose handler tells the parent which one it was.
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <muster/codec.hpp>
#include <muster/testing/fake_host.hpp>

namespace muster::testing {
namespace {

constexpr int report_fd = 3;      // the pipe's place in the child
constexpr int exit_refused = 77;  // the child's exit code after a refused call

// Memory, the way out, and what a C library may ask at any time. `write` and `close` only reach the
// pipe: every other file of the child is closed.
constexpr std::array allowed{
    __NR_brk,          __NR_mmap,           __NR_munmap,       __NR_mremap,        __NR_mprotect,
    __NR_madvise,      __NR_futex,          __NR_write,        __NR_exit,          __NR_exit_group,
    __NR_rt_sigreturn, __NR_rt_sigprocmask, __NR_rt_sigaction, __NR_clock_gettime, __NR_getrandom,
    __NR_sched_yield,  __NR_getpid,         __NR_gettid,       __NR_tgkill,        __NR_sigaltstack,
    __NR_gettimeofday, __NR_restart_syscall};

const char* name_of(long number) {
  switch (number) {
    case __NR_openat:
      return "openat (a file)";
    case __NR_socket:
      return "socket (the network)";
    case __NR_connect:
      return "connect (the network)";
    case __NR_clone:
    case __NR_clone3:
      return "clone (a thread or a process)";
    case __NR_execve:
      return "execve (a program)";
    case __NR_nanosleep:
    case __NR_clock_nanosleep:
      return "nanosleep (it waits)";
    case __NR_read:
      return "read (a file)";
    case __NR_newfstatat:
      return "stat (a file)";
#ifdef __NR_open
    case __NR_open:
      return "open (a file)";
    case __NR_stat:
      return "stat (a file)";
    case __NR_access:
      return "access (a file)";
    case __NR_fork:
      return "fork (a process)";
#endif
    default:
      return nullptr;
  }
}

void tell_and_leave(int, siginfo_t* info, void*) {
  const int number = info->si_syscall;
  [[maybe_unused]] const auto written = ::write(report_fd, &number, sizeof number);
  ::_exit(exit_refused);
}

bool confine() {
  struct sigaction action {};
  action.sa_sigaction = tell_and_leave;
  action.sa_flags = SA_SIGINFO;
  if (::sigaction(SIGSYS, &action, nullptr) != 0) return false;

  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const auto number : allowed) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP));
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Never returns. The first byte of the report says what follows.
[[noreturn]] void describe_in_child(const muster_plugin& plugin, int pipe_end) {
  if (pipe_end != report_fd) ::dup2(pipe_end, report_fd);
  ::close(0);
  ::close(1);
  ::close(2);
  ::syscall(__NR_close_range, report_fd + 1, ~0U, 0);
  if (!confine()) ::_exit(exit_refused + 1);
  const auto described = describe(plugin);
  const std::string text = described ? *described : described.error().message;
  for (std::size_t done = 0; done < text.size();) {
    const auto written = ::write(report_fd, text.data() + done, text.size() - done);
    if (written <= 0) break;
    done += static_cast<std::size_t>(written);
  }
  ::_exit(described ? 0 : static_cast<int>(described.error().error_class));
}

constexpr int patience_ms = 10'000;

// What the child said until it closed the pipe; nothing if it did not within the time.
std::optional<std::string> hear(int pipe_end) {
  std::string said;
  std::array<char, 4096> part{};
  for (;;) {
    pollfd waiting{pipe_end, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    const auto count = ::read(pipe_end, part.data(), part.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return said;
    said.append(part.data(), static_cast<std::size_t>(count));
  }
}

Error trespass(const std::string& said) {
  int number = 0;
  if (said.size() >= sizeof number)
    std::memcpy(&number, said.data() + said.size() - sizeof number, sizeof number);
  const char* name = name_of(number);
  return Error::internal("describe made the system call " +
                         (name ? std::string(name) : "number " + std::to_string(number)));
}

}  // namespace

Result<std::string> describe_confined(const muster_plugin& plugin) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0)
    return Error::transient(std::string("no pipe: ") + std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) describe_in_child(plugin, ends[1]);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return Error::transient(std::string("no child process: ") + std::strerror(errno));
  }
  const auto said = hear(ends[0]);
  ::close(ends[0]);
  if (!said) ::kill(child, SIGKILL);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!said) return Error::internal("describe did not return within ten seconds");
  if (!WIFEXITED(status))
    return Error::internal(std::string("describe was killed by ") + ::strsignal(WTERMSIG(status)));
  if (WEXITSTATUS(status) == 0) return *said;
  if (WEXITSTATUS(status) == exit_refused) return trespass(*said);
  if (WEXITSTATUS(status) == exit_refused + 1)
    return Error::unsupported("this machine cannot confine a process");
  return decode_failure(WEXITSTATUS(status), *said);
}

}  // namespace muster::testing
