#include "lib/git/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <climits>

#include "lib/process/spawn_settings.hpp"

extern char** environ;

namespace muster::git {
namespace {

using Deadline = std::optional<std::chrono::steady_clock::time_point>;

struct Ends {
  int ours = -1, theirs = -1;

  Ends() = default;
  ~Ends() {
    close(ours);
    close(theirs);
  }
  Ends(const Ends&) = delete;
  Ends& operator=(const Ends&) = delete;

  static void close(int& descriptor) {
    if (descriptor >= 0) ::close(descriptor);
    descriptor = -1;
  }
};

bool open_output(Ends& ends) {
  std::array<int, 2> both = {-1, -1};
  if (::pipe2(both.data(), O_CLOEXEC) != 0) return false;
  ends.ours = both[0];
  ends.theirs = both[1];
  return true;
}

// A socket and not a pipe: writing to a program that has ended must raise no SIGPIPE, and only a
// socket can be told so without touching the whole process's signals.
bool open_input(Ends& ends) {
  std::array<int, 2> both = {-1, -1};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both.data()) != 0) return false;
  ends.ours = both[0];
  ends.theirs = both[1];
  ::shutdown(ends.ours, SHUT_RD);
  return true;
}

// False at the end of the stream.
bool read_some(int descriptor, std::string& to) {
  std::array<char, 65536> buffer;
  const auto count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

int milliseconds_until(const Deadline& deadline) {
  if (!deadline) return -1;
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(*deadline - std::chrono::steady_clock::now());
  return static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, INT_MAX));
}

// Feeds and reads at the same time, so that neither side waits for the other for ever. Empty, or
// why the conversation was broken off.
std::string converse(Ends& in, Ends& out, Ends& err, std::string_view input, Finished& finished,
                     const Deadline& deadline, std::size_t max_output) {
  if (input.empty()) Ends::close(in.ours);
  while (out.ours >= 0 || err.ours >= 0) {
    std::array<pollfd, 3> waits = {pollfd{in.ours, POLLOUT, 0}, pollfd{out.ours, POLLIN, 0},
                                   pollfd{err.ours, POLLIN, 0}};
    const int ready = ::poll(waits.data(), waits.size(), milliseconds_until(deadline));
    if (ready == 0) return "took too long";
    if (ready < 0 && errno != EINTR) return std::strerror(errno);
    if (ready < 0) continue;
    if (waits[0].revents != 0) {
      const auto count = ::send(in.ours, input.data(), input.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) Ends::close(in.ours);
    }
    if (waits[1].revents != 0 && !read_some(out.ours, finished.out)) Ends::close(out.ours);
    if (waits[2].revents != 0 && !read_some(err.ours, finished.err)) Ends::close(err.ours);
    if (finished.out.size() + finished.err.size() > max_output) return "says too much";
  }
  return {};
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const auto& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

int spawn(pid_t& child, const std::vector<std::string>& arguments,
          const std::vector<std::string>& environment, bool own_session, const Ends& in,
          const Ends& out, const Ends& err) {
  SpawnSettings settings;
  ::posix_spawn_file_actions_adddup2(&settings.actions, in.theirs, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, out.theirs, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&settings.actions, err.theirs, STDERR_FILENO);
  sigset_t none, defaults;
  ::sigemptyset(&none);
  ::sigemptyset(&defaults);
  for (const int signal : {SIGPIPE, SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&defaults, signal);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &defaults);
  // A session of its own has no terminal: nothing in it can ask a question there.
  int flags = own_session ? POSIX_SPAWN_SETSID : 0;
  flags |= POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
  ::posix_spawnattr_setflags(&settings.attributes, static_cast<short>(flags));
  auto words = pointers_to(arguments);
  auto variables = pointers_to(environment);
  return ::posix_spawnp(&child, words[0], &settings.actions, &settings.attributes, words.data(),
                        variables.data());
}

}  // namespace

Result<Finished> run_process(const std::vector<std::string>& arguments,
                             const std::vector<std::string>& environment, std::string_view input,
                             const ProcessLimits& limits) {
  Ends in, out, err;
  if (!open_input(in) || !open_output(out) || !open_output(err))
    return Error::transient(std::string("Cannot make a pipe: ") + std::strerror(errno) + ".");
  Deadline deadline;
  if (limits.time) deadline = std::chrono::steady_clock::now() + *limits.time;
  pid_t child = 0;
  const int failed = spawn(child, arguments, environment, limits.time.has_value(), in, out, err);
  if (failed != 0)
    return Error::not_found("Cannot run " + arguments[0] + ": " + std::strerror(failed) + ".");
  for (Ends* ends : {&in, &out, &err}) Ends::close(ends->theirs);
  Finished finished;
  const std::string broken = converse(in, out, err, input, finished, deadline, limits.output_bytes);
  if (!broken.empty()) ::kill(limits.time ? -child : child, SIGKILL);
  Ends::close(in.ours);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!broken.empty()) return Error::transient(arguments[0] + " " + broken + ".");
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

std::vector<std::string> own_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable; ++variable) all.emplace_back(*variable);
  return all;
}

}  // namespace muster::git
