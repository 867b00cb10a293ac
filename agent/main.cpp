// muster-agent: registers a worker, keeps its credentials fresh and supervises its implementation.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include "agent/agent.hpp"
#include "agent/command_line.hpp"

namespace muster::agent {
namespace {

constexpr const char* help =
    R"(usage: muster-agent [--config FILE] [--check | --detach] [--pool NAME | --team NAME]
                    [--tag TAG]... [--resource NAME=NUMBER]...

Registers this machine or process as a worker of a muster host, keeps its credentials and configuration
fresh, supervises the worker implementation and removes the worker from the host when it ends.

  --config FILE   the configuration: .toml, .json, or worker-runner's .yml (default: /etc/muster/agent.toml)
  --check         only check the configuration, and print all errors
  --detach        continue in the background once the agent's folder is locked;
                  the log then goes to agent.log in that folder
  --pool NAME     the pool to join: a worker type, or provisionerId/workerType in full
  --team NAME     the team that it belongs to; it serves no other team
  --tag TAG       it serves only requests that ask for tags, all of which it must have; may be repeated
  --resource NAME=NUMBER
                  a resource that it has, such as memory=65536; may be repeated
                  These four override the configuration.
  --version       print the version
  --help          print this

Signals: TERM and INT stop the worker gracefully, a second one at once; HUP renews now.

Exit codes:
   0  normal end                    20  the worker is no longer current (410)
   1  internal error                21  the configuration could not be refreshed
   2  wrong command line            22  interrupted by the cloud
   3  wrong configuration           23  never registered
  10  the implementation failed     24  the host was unreachable until the credentials expired
)";

class DescriptorOutput final : public LogOutput {
 public:
  void write(LogLevel, const std::string& line) override {
    const std::string whole = line + "\n";
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, whole.data(), whole.size());
  }
};

int usage(const std::string& wrong) {
  std::fprintf(stderr, "muster-agent: %s; see muster-agent --help\n", wrong.c_str());
  return static_cast<int>(ExitCode::usage);
}

std::optional<Configuration> read(const CommandLine& line) {
  ReadConfiguration found = read_configuration(line.file, line.overrides);
  for (const auto& mistake : found.mistakes)
    std::fprintf(stderr, "%s\n", describe(mistake, line.file, found.has_positions).c_str());
  if (!found.configuration) return std::nullopt;
  const auto more = check_files(*found.configuration);
  for (const auto& mistake : more)
    std::fprintf(stderr, "%s\n", describe(mistake, line.file, false).c_str());
  if (!more.empty()) return std::nullopt;
  return std::move(found.configuration);
}

int fail(ExitCode code, const std::string& why) {
  std::fprintf(stderr, "muster-agent: %s\n", why.c_str());
  return static_cast<int>(code);
}

// The process that was started with --detach waits here for a byte: its exit code.
int wait_for_verdict(int pipe, pid_t child) {
  unsigned char code = 0;
  ssize_t got = 0;
  do got = ::read(pipe, &code, 1);
  while (got < 0 && errno == EINTR);
  if (got == 1) return code;
  ::waitpid(child, nullptr, 0);
  return fail(ExitCode::internal, "the agent ended before it began");
}

// In the background: a session of its own, nothing of the caller's terminal, a log in the folder.
void leave_terminal(const AgentFolder& folder) {
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  const int file =
      ::open(folder.file("agent.log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  ::dup2(nothing, STDIN_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDOUT_FILENO);
  ::dup2(file >= 0 ? file : nothing, STDERR_FILENO);
}

int live(Configuration configuration, int verdict) {
  const auto say = [&](ExitCode code) {
    const auto byte = static_cast<unsigned char>(code);
    if (verdict >= 0) [[maybe_unused]]
      const auto written = ::write(verdict, &byte, 1);
    return static_cast<int>(code);
  };
  auto folder = AgentFolder::take(configuration.folder, configuration.worker.user);
  if (!folder) {
    fail(ExitCode::configuration, folder.error().message);
    return say(ExitCode::configuration);
  }
  if (verdict >= 0) leave_terminal(*folder);
  say(ExitCode::ok);
  if (verdict >= 0) ::close(verdict);
  sigset_t handled, mask;
  ::sigemptyset(&handled);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigaddset(&handled, number);
  ::sigprocmask(SIG_BLOCK, &handled, &mask);
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) ::sigdelset(&mask, number);
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is a disk that is full, not our end
  ::signal(SIGCHLD, SIG_DFL);  // an ignored one would reap behind our back
  const Log log(std::make_shared<DescriptorOutput>(), configuration.log_level,
                format_for_standard_error());
  Agent agent(std::move(configuration), std::move(*folder), log, mask);
  return static_cast<int>(agent.run());
}

int detach(Configuration configuration) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return fail(ExitCode::internal, "no pipe");
  const pid_t child = ::fork();
  if (child < 0) return fail(ExitCode::internal, std::strerror(errno));
  if (child > 0) {
    ::close(ends[1]);
    return wait_for_verdict(ends[0], child);
  }
  ::close(ends[0]);
  ::setsid();
  return live(std::move(configuration), ends[1]);
}

int run(int argc, char** argv) {
  const auto line = parse_command_line({argv + 1, argv + argc});
  if (!line) return usage(line.error().message);
  if (line->help || line->version) {
    std::fputs(line->help ? help : MUSTER_VERSION "\n", stdout);
    return static_cast<int>(ExitCode::ok);
  }
  auto configuration = read(*line);
  if (!configuration) return static_cast<int>(ExitCode::configuration);
  if (line->check) {
    std::puts("the configuration is valid");
    return static_cast<int>(ExitCode::ok);
  }
  return line->detach ? detach(std::move(*configuration)) : live(std::move(*configuration), -1);
}

}  // namespace
}  // namespace muster::agent

int main(int argc, char** argv) {
  // One arena and early return of what is free: an agent waits nearly all of its life.
  ::mallopt(M_ARENA_MAX, 1);
  ::mallopt(M_TRIM_THRESHOLD, 64 * 1024);
  try {
    return muster::agent::run(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster-agent: %s\n", error.what());
    return static_cast<int>(muster::agent::ExitCode::internal);
  }
}
