#include "cli/rules/process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace muster::cli {
namespace {

struct Pipe {
  int read = -1, write = -1;

  Pipe() {
    std::array<int, 2> ends = {-1, -1};
    if (::pipe2(ends.data(), O_CLOEXEC) == 0) read = ends[0], write = ends[1];
  }
  ~Pipe() {
    close_read();
    close_write();
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  void close_read() {
    if (read >= 0) ::close(read);
    read = -1;
  }
  void close_write() {
    if (write >= 0) ::close(write);
    write = -1;
  }
};

// False at the end of the stream.
bool read_some(int descriptor, std::string& to) {
  std::array<char, 65536> buffer;
  const auto count = ::read(descriptor, buffer.data(), buffer.size());
  if (count > 0) to.append(buffer.data(), static_cast<std::size_t>(count));
  return count > 0 || (count < 0 && (errno == EINTR || errno == EAGAIN));
}

// Feeds and reads at the same time, so that neither side waits for the other for ever.
void converse(Pipe& in, Pipe& out, Pipe& err, std::string_view input, Finished& finished) {
  ::fcntl(in.write, F_SETFL, O_NONBLOCK);
  if (input.empty()) in.close_write();
  while (out.read >= 0 || err.read >= 0) {
    std::array<pollfd, 3> waits = {pollfd{in.write, POLLOUT, 0}, pollfd{out.read, POLLIN, 0},
                                   pollfd{err.read, POLLIN, 0}};
    if (::poll(waits.data(), waits.size(), -1) < 0 && errno != EINTR) break;
    if (waits[0].revents != 0) {
      const auto count = ::write(in.write, input.data(), input.size());
      if (count > 0) input.remove_prefix(static_cast<std::size_t>(count));
      if (input.empty() || (count < 0 && errno != EAGAIN && errno != EINTR)) in.close_write();
    }
    if (waits[1].revents != 0 && !read_some(out.read, finished.out)) out.close_read();
    if (waits[2].revents != 0 && !read_some(err.read, finished.err)) err.close_read();
  }
}

}  // namespace

Result<Finished> run_process(const std::vector<std::string>& arguments, std::string_view input) {
  Pipe in, out, err;
  if (in.write < 0 || out.write < 0 || err.write < 0)
    return Error::internal(std::string("Cannot make a pipe: ") + std::strerror(errno) + ".");
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, in.read, STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, out.write, STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write, STDERR_FILENO);
  std::vector<char*> words;
  for (const auto& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawnp(&child, words[0], &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0)
    return Error::not_found("Cannot run " + arguments[0] + ": " + std::strerror(failed) + ".");
  in.close_read();
  out.close_write();
  err.close_write();
  // A program that ends before it has read everything must not end us.
  const auto before = std::signal(SIGPIPE, SIG_IGN);
  Finished finished;
  converse(in, out, err, input, finished);
  std::signal(SIGPIPE, before);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  finished.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return finished;
}

}  // namespace muster::cli
