// How a worker's agent is started.
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugins/base/files.hpp"
#include "plugins/provider/local/processes.hpp"

namespace muster::local {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> list;
  for (const std::string& word : words) list.push_back(const_cast<char*>(word.c_str()));
  list.push_back(nullptr);
  return list;
}

// Everything that the child needs, made before it exists: a child of a program with threads may
// call nothing that allocates or locks.
struct Prepared {
  std::vector<char*> arguments, environment;
  const char* folder = nullptr;
  int input = -1, output = -1, cgroup = -1, trouble = -1;
  pid_t parent = 0;
  const std::vector<std::pair<int, rlim_t>>* limits = nullptr;
};

[[noreturn]] void give_up(const Prepared& with) {
  const int why = errno;
  [[maybe_unused]] const auto written = ::write(with.trouble, &why, sizeof why);
  ::_exit(127);
}

[[noreturn]] void become(const Prepared& with) {
  // A host that is killed in the middle of a launch leaves no process behind that is not visible
  // yet.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != with.parent) ::_exit(127);
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal) ::sigaction(signal, &usual, nullptr);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::setpgid(0, 0);
  ::umask(077);
  // Neither the agent nor a worker gets more rights than it has now, whatever it executes.
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(with);
  if (with.cgroup >= 0 && ::write(with.cgroup, "0", 1) != 1) give_up(with);
  for (const auto& [resource, amount] : *with.limits) {
    const rlimit both{amount, amount};
    if (::setrlimit(static_cast<__rlimit_resource>(resource), &both) != 0) give_up(with);
  }
  if (::dup2(with.input, 0) < 0 || ::dup2(with.output, 1) < 0 || ::dup2(with.output, 2) < 0 ||
      ::chdir(with.folder) != 0)
    give_up(with);
  ::syscall(SYS_close_range, 3U, ~0U, 4U /* CLOSE_RANGE_CLOEXEC */);
  ::execve(with.arguments[0], with.arguments.data(), with.environment.data());
  give_up(with);
}

}  // namespace

Result<pid_t> start(const Program& program) {
  Prepared with;
  with.arguments = pointers(program.command);
  with.environment = pointers(program.environment);
  with.folder = program.working_folder.c_str();
  with.limits = &program.limits;
  with.parent = ::getpid();
  const Descriptor input(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  const Descriptor output(
      ::open(program.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!input || !output) return trouble(program.output, "cannot be opened", errno);
  Descriptor cgroup;
  if (!program.cgroup.empty()) {
    const auto file = program.cgroup / "cgroup.procs";
    cgroup = Descriptor(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
    if (!cgroup) return trouble(file, "cannot be opened", errno);
  }
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return trouble("a pipe", "cannot be made", errno);
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  with.input = input.get();
  with.output = output.get();
  with.cgroup = cgroup.get();
  with.trouble = writing.get();
  const pid_t child = ::fork();
  if (child < 0) return trouble(program.command[0], "cannot be started", errno);
  if (child == 0) become(with);
  writing = Descriptor();
  int why = 0;
  ssize_t count = 0;
  while ((count = ::read(reading.get(), &why, sizeof why)) < 0 && errno == EINTR) {
  }
  if (count == 0) return child;  // it became the program
  ::waitpid(child, nullptr, 0);
  if (why == ENOENT || why == EACCES || why == ENOEXEC)
    return Error::config(program.command[0] + " cannot be run: " + std::strerror(why));
  return trouble(program.command[0], "cannot be started", why);
}

Result<int> wait_for(pid_t child, std::chrono::milliseconds at_most, const Context& context) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + at_most;
  const Descriptor process(static_cast<int>(::syscall(SYS_pidfd_open, child, 0)));
  bool in_time = false;
  while (process && !in_time && !context.cancelled() && Clock::now() < until) {
    pollfd ended{process.get(), POLLIN, 0};
    in_time = ::poll(&ended, 1, 20) == 1;
  }
  if (!in_time) ::kill(-child, SIGKILL);  // its own group, and nobody has waited for it yet
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) return Error::transient("was not up in time");
  if (WIFSIGNALED(status))
    return Error::transient("was ended by signal " + std::to_string(WTERMSIG(status)));
  return WEXITSTATUS(status);
}

}  // namespace muster::local
