#include "agent/children.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/folder.hpp"

namespace muster::agent {
namespace {

constexpr std::size_t most_output = 4096;

// Made before the fork: a child of a program that may have threads must not allocate.
struct Prepared {
  const char* const* argv;
  const char* const* environment;
  int output;
  const sigset_t* mask;
  pid_t parent;
  int failed;
  const RunAs* user;
  bool errors_too;
};

[[noreturn]] void give_up(const Prepared& with, int why) {
  [[maybe_unused]] const auto written = ::write(with.failed, &why, sizeof why);
  ::_exit(127);
}

// By its path; or, if the user cannot reach that, by what was opened before: a program may be in a
// folder of the agent's user, if everybody may read and run the program itself.
[[noreturn]] void execute(const Prepared& with, int program) {
  char* const* argv = const_cast<char* const*>(with.argv);
  char* const* environment = const_cast<char* const*>(with.environment);
  ::execve(argv[0], argv, environment);
  const int why = errno;
  if (why == EACCES && program >= 0) {
    ::fcntl(program, F_SETFD, 0);  // what a script's interpreter reads
    ::execveat(program, "", argv, environment, AT_EMPTY_PATH);
  }
  give_up(with, why);
}

// Runs in the child, where only what is safe in a signal handler may be called.
[[noreturn]] void become(const Prepared& with) {
  ::setpgid(0, 0);
  const int nothing = ::open("/dev/null", O_RDONLY);
  if (nothing >= 0) ::dup2(nothing, STDIN_FILENO);
  if (with.output >= 0) ::dup2(with.output, STDOUT_FILENO);
  if (with.output >= 0 && with.errors_too) ::dup2(with.output, STDERR_FILENO);
  ::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC);
  int program = -1;
  if (with.user != nullptr) {
    program = ::open(with.argv[0], O_RDONLY | O_CLOEXEC);
    if (const int why = become_user(with.user->uid, with.user->gid)) give_up(with, why);
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) give_up(with, errno);
  }
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);            // a change of the user ends it
  if (::getppid() != with.parent) ::_exit(127);  // it died before it could be watched
  ::signal(SIGPIPE, SIG_DFL);
  ::signal(SIGXFSZ, SIG_DFL);
  ::sigprocmask(SIG_SETMASK, with.mask, nullptr);
  execute(with, program);
}

// The guard's whole life, in a fork of the agent: nothing that needs memory or locks.
[[noreturn]] void stand_guard(int told, const LeftBehind& left) {
  constexpr std::size_t most = 64;  // an agent runs one or two
  pid_t groups[most] = {};
  ::setsid();  // a signal to the agent's group is not for the guard
  sigset_t all;
  ::sigfillset(&all);
  ::sigprocmask(SIG_SETMASK, &all, nullptr);
  ::dup2(told, 0);
  if (left.lock >= 0) ::dup2(left.lock, 1);
  ::close_range(left.lock >= 0 ? 2 : 1, ~0U, 0);
  ::prctl(PR_SET_NAME, "muster-guard");
  for (;;) {
    pid_t group = 0;
    const ssize_t got = ::read(0, &group, sizeof group);
    if (got < 0 && errno == EINTR) continue;
    if (got != static_cast<ssize_t>(sizeof group)) break;
    const auto place = std::find(groups, groups + most, group > 0 ? 0 : -group);
    if (place != groups + most) *place = std::max(group, 0);
  }
  for (const pid_t group : groups)
    if (group > 1) ::kill(-group, SIGKILL);
  if (!left.folder.empty()) remove_secret_files(left.folder.c_str());
  if (!left.file.empty()) ::unlink(left.file.c_str());
  ::_exit(0);
}

std::vector<const char*> pointers(const std::vector<std::string>& texts) {
  std::vector<const char*> list;
  for (const std::string& text : texts) list.push_back(text.c_str());
  list.push_back(nullptr);
  return list;
}

// As a shell would find it, before the fork, where memory may be had.
std::string program_path(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* const path = ::getenv("PATH");
  std::string_view rest = path ? path : "/usr/local/bin:/usr/bin:/bin";
  while (!rest.empty()) {
    const auto end = std::min(rest.find(':'), rest.size());
    const std::string candidate = std::string(rest.substr(0, end)) + "/" + name;
    if (::access(candidate.c_str(), X_OK) == 0) return candidate;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return name;
}

}  // namespace

std::optional<std::string> how_it_failed(int wait_status) {
  if (WIFEXITED(wait_status)) {
    if (WEXITSTATUS(wait_status) == 0) return std::nullopt;
    return "status " + std::to_string(WEXITSTATUS(wait_status));
  }
  const int number = WTERMSIG(wait_status);
  return "signal " + std::to_string(number) + " (" + ::strsignal(number) + ")";
}

std::vector<std::string> own_environment() {
  std::vector<std::string> list;
  for (char** one = environ; one && *one; ++one) list.emplace_back(*one);
  return list;
}

std::vector<std::string> environment_with(std::map<std::string, std::string> variables) {
  for (const std::string& one : own_environment())
    if (const auto equals = one.find('='); equals != one.npos)
      variables.try_emplace(one.substr(0, equals), one.substr(equals + 1));
  std::vector<std::string> list;
  for (const auto& [name, value] : variables) list.push_back(name + "=" + value);
  return list;
}

// -------------------------------------------------------------------------------------------------

Guard::Guard(LeftBehind left) : left_(std::move(left)) {
  start();
}

void Guard::start() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return;  // then the kernel has to do
  const FileDescriptor told(ends[0]);
  pipe_ = FileDescriptor(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) stand_guard(told.get(), left_);
}

Guard::~Guard() {
  pipe_ = FileDescriptor();
  if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
}

void Guard::tell(pid_t group) const {
  [[maybe_unused]] const auto written = ::write(pipe_.get(), &group, sizeof group);
}

// -------------------------------------------------------------------------------------------------

Children::Children(const sigset_t& mask, LeftBehind left) : mask_(mask), guard_(std::move(left)) {
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Children::~Children() {
  for (const auto& [pid, ended] : running_) ::kill(-pid, SIGKILL);
}

Result<pid_t> Children::start(const Spawn& spawn, Ended ended) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return Error::internal("no pipe for a new process");
  const FileDescriptor read_end(ends[0]);
  FileDescriptor write_end(ends[1]);
  const std::string program = program_path(spawn.command.front());
  auto argv = pointers(spawn.command);
  argv[0] = program.c_str();
  const auto environment = pointers(spawn.environment);
  const Prepared with{argv.data(),
                      environment.data(),
                      spawn.output,
                      &mask_,
                      ::getpid(),
                      write_end.get(),
                      spawn.user ? &*spawn.user : nullptr,
                      spawn.errors_too};
  const pid_t pid = ::fork();
  if (pid < 0) return Error::internal(std::string("no new process: ") + std::strerror(errno));
  if (pid == 0) become(with);
  ::setpgid(pid, pid);  // both processes do it, so that it is done in time
  guard_.began(pid);
  write_end = FileDescriptor();
  int why = 0;
  ssize_t got = 0;
  do got = ::read(read_end.get(), &why, sizeof why);
  while (got < 0 && errno == EINTR);
  if (got == static_cast<ssize_t>(sizeof why)) {
    ::waitpid(pid, nullptr, 0);
    guard_.ended(pid);
    return Error::config("cannot run " + spawn.command.front() + ": " + std::strerror(why));
  }
  running_[pid] = std::move(ended);
  return pid;
}

void Children::signal_group(pid_t leader, int number) const {
  if (leader > 1) ::kill(-leader, number);
}

void Children::abandon(pid_t leader) {
  if (running_.erase(leader) == 0) return;
  ::kill(-leader, SIGKILL);
  guard_.ended(leader);
}

void Children::reap() {
  for (;;) {
    siginfo_t ended_one{};
    if (::waitid(P_ALL, 0, &ended_one, WEXITED | WNOHANG | WNOWAIT) != 0 || ended_one.si_pid == 0)
      return;
    const pid_t pid = ended_one.si_pid;
    const auto found = running_.find(pid);
    // What it left in its group goes with it; as long as it is not reaped the number is its own.
    if (found != running_.end()) {
      ::kill(-pid, SIGKILL);
      guard_.ended(pid);
    }
    int status = 0;
    ::waitpid(pid, &status, 0);
    if (guard_.is(pid)) {
      guard_.start();
      for (const auto& [group, ended] : running_) guard_.began(group);
    }
    if (found == running_.end()) continue;
    const Ended ended = std::move(found->second);
    running_.erase(found);
    ended(status);
  }
}

// -------------------------------------------------------------------------------------------------

OutputOf::OutputOf(EventLoop& loop, Children& children, Spawn spawn, Milliseconds timeout,
                   Done done)
    : loop_(loop), children_(children), program_(spawn.command.front()), done_(std::move(done)) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) {
    limit_ = loop_.after(Milliseconds(0), [this] { finish(Error::transient("no pipe")); });
    return;
  }
  pipe_ = FileDescriptor(ends[0]);
  const FileDescriptor output(ends[1]);
  ::fcntl(output.get(), F_SETFL, 0);
  spawn.output = output.get();
  const auto started = children_.start(spawn, [this](int status) {
    pid_ = -1;
    read_some();
    if (const auto failed = how_it_failed(status))
      return finish(Error::transient(program_ + " failed with " + *failed));
    finish(output_.substr(0, output_.find_last_not_of(" \t\r\n") + 1));
  });
  if (!started) {
    limit_ = loop_.after(Milliseconds(0), [this, why = started.error()] { finish(why); });
    return;
  }
  pid_ = *started;
  watch_ = loop_.watch(pipe_.get(), POLLIN, [this](short) { read_some(); });
  limit_ = loop_.after(timeout, [this] { finish(Error::transient(program_ + " takes too long")); });
}

OutputOf::~OutputOf() {
  loop_.remove(watch_);
  loop_.remove(limit_);
  if (pid_ > 0) children_.abandon(pid_);
}

void OutputOf::read_some() {
  char part[1024];
  for (;;) {
    const ssize_t got = ::read(pipe_.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) {
      if (got == 0) loop_.remove(watch_);
      return;
    }
    if (output_.size() < most_output) output_.append(part, static_cast<std::size_t>(got));
    if (output_.size() > most_output) output_.resize(most_output);
  }
}

void OutputOf::finish(Result<std::string> result) {
  const Done done = std::move(done_);
  done(std::move(result));  // may destroy this object
}

}  // namespace muster::agent
