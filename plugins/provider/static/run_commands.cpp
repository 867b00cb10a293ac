#include "plugins/provider/static/run_commands.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

// glibc 2.36 forgot to say that this is C.
extern "C" {
#include <sys/pidfd.h>
}

#include "lib/process/spawn_settings.hpp"
#include "plugins/base/descriptor.hpp"

namespace muster::static_machines {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;
using Steady = std::chrono::steady_clock;
using How = CommandOutcome::How;

constexpr auto between_looks = 20ms;        // at the context
constexpr milliseconds longest_grace = 2s;  // from SIGTERM to SIGKILL
constexpr milliseconds grace_of_cancelled = 500ms;
constexpr std::size_t kept_output = 4096;  // its end
constexpr std::size_t longest_words = 200;

// The last line that says something, fit for a message.
std::string last_line(std::string_view output) {
  const auto end = output.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  output = output.substr(0, end + 1);
  const auto begin = output.find_last_of("\r\n");
  if (begin != std::string_view::npos) output.remove_prefix(begin + 1);
  std::string line;
  for (const char c : output.substr(0, longest_words)) line += c >= ' ' && c < '\x7f' ? c : '?';
  return line;
}

std::string seconds(milliseconds time) {
  const auto tenths = (time.count() + 50) / 100;
  return std::to_string(tenths / 10) +
         (tenths % 10 ? "." + std::to_string(tenths % 10) : std::string()) + " s";
}

// One that runs. Ended and reaped with the object, whatever happens.
class Running {
 public:
  static std::optional<Running> start(const std::vector<std::string>& command,
                                      std::string& trouble);
  Running(Running&& other) noexcept
      : place(other.place),
        begun(other.begun),
        term_at(other.term_at),
        kill_at(other.kill_at),
        ending(other.ending),
        pid_(std::exchange(other.pid_, -1)),
        process_(std::move(other.process_)),
        output_(std::move(other.output_)),
        said_(std::move(other.said_)) {}
  Running& operator=(Running&&) = delete;
  ~Running() {
    if (pid_ > 0) reap();
  }

  int process() const { return process_.get(); }
  int output() const { return output_.get(); }
  void signal(int number) const { ::kill(-pid_, number); }
  void listen();
  // Only once its process has ended, or it waits for that. Ends what is left of its group first:
  // while the process is not reaped, nobody else can have its number. "" if it ended well.
  std::string reap();
  std::string with_last_line(const std::string& words) const {
    const std::string line = last_line(said_);
    return line.empty() ? words : words + ": " + line;
  }

  std::size_t place = 0;
  Steady::time_point begun{}, term_at{}, kill_at{};
  How ending = How::succeeded;  // not: it was told to end, and why

 private:
  Running(pid_t pid, Descriptor process, Descriptor output)
      : pid_(pid), process_(std::move(process)), output_(std::move(output)) {}

  pid_t pid_;
  Descriptor process_, output_;
  std::string said_;
};

std::optional<Running> Running::start(const std::vector<std::string>& command,
                                      std::string& trouble) {
  const auto refused = [&](int number) {
    trouble = "cannot be run: " + std::string(std::strerror(number));
    return std::nullopt;
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return refused(errno);
  Descriptor reading(ends[0]);
  const Descriptor writing(ends[1]);
  ::fcntl(reading.get(), F_SETFL, O_NONBLOCK);  // only our end: programs expect theirs to block
  SpawnSettings settings;
  ::posix_spawn_file_actions_addopen(&settings.actions, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&settings.actions, writing.get(), 1);
  ::posix_spawn_file_actions_adddup2(&settings.actions, writing.get(), 2);
  ::posix_spawn_file_actions_addclosefrom_np(&settings.actions, 3);
  sigset_t none, all;
  sigemptyset(&none);
  sigfillset(&all);
  ::posix_spawnattr_setsigmask(&settings.attributes, &none);
  ::posix_spawnattr_setsigdefault(&settings.attributes, &all);
  ::posix_spawnattr_setpgroup(&settings.attributes, 0);
  ::posix_spawnattr_setflags(
      &settings.attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  std::vector<char*> arguments;
  for (const std::string& text : command) arguments.push_back(const_cast<char*>(text.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = -1;
  if (const int failed = ::posix_spawnp(&pid, arguments[0], &settings.actions, &settings.attributes,
                                        arguments.data(), environ))
    return refused(failed);
  Running running(pid, Descriptor(::pidfd_open(pid, 0)), std::move(reading));
  if (running.process() < 0) return refused(errno);
  return running;
}

void Running::listen() {
  char part[4096];
  for (int i = 0; i < 32; ++i) {  // then the others have their turn
    const ssize_t count = ::read(output_.get(), part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) return;
    if (count <= 0) return void(output_ = Descriptor());
    said_.append(part, static_cast<std::size_t>(count));
    if (said_.size() > kept_output) said_.erase(0, said_.size() - kept_output);
  }
}

std::string Running::reap() {
  signal(SIGKILL);
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(pid_), &end, WEXITED) != 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (end.si_code != CLD_EXITED) return "was ended by signal " + std::to_string(end.si_status);
  return end.si_status == 0 ? "" : "ended with " + std::to_string(end.si_status);
}

class Batch {
 public:
  Batch(const std::vector<std::vector<std::string>>& commands, milliseconds timeout,
        const Context& context)
      : commands_(commands), timeout_(timeout), context_(context), outcomes_(commands.size()) {
    const milliseconds left = context.time_left();
    grace_ = std::clamp<milliseconds>(left / 10, 0ms, longest_grace);
    last_term_ =
        Steady::now() + std::max(left - 2 * grace_, 0ms);  // one grace to end, one to answer
  }

  std::vector<CommandOutcome> run() {
    for (;;) {
      start_some();
      if (running_.empty()) return std::move(outcomes_);
      watch();
      end_those_that_are_late();
    }
  }

 private:
  void start_some() {
    for (; next_ < commands_.size() && running_.size() < most_at_once; ++next_) {
      CommandOutcome& outcome = outcomes_[next_];
      const auto now = Steady::now();
      if (context_.cancelled() || now >= last_term_) {
        outcome = {How::cancelled, "was not begun: the call's time is over"};
        continue;
      }
      std::string trouble;
      auto started = Running::start(commands_[next_], trouble);
      if (!started) {
        outcome = {How::failed, trouble};
        continue;
      }
      started->place = next_;
      started->begun = now;
      started->term_at = std::min(now + timeout_, last_term_);
      started->kill_at = started->term_at + grace_;
      running_.push_back(std::move(*started));
    }
  }

  void watch() {
    auto wake = Steady::now() + between_looks;
    std::vector<pollfd> watched;
    for (const Running& command : running_) {
      watched.push_back({command.process(), POLLIN, 0});
      watched.push_back({command.output(), POLLIN, 0});
      wake = std::min(wake, command.ending == How::succeeded ? command.term_at : command.kill_at);
    }
    const auto wait = std::chrono::ceil<milliseconds>(wake - Steady::now());
    if (::poll(watched.data(), watched.size(), static_cast<int>(std::max(wait, 0ms).count())) <= 0)
      return;
    std::vector<Running> still;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      if (watched[2 * i].revents != 0 || watched[2 * i + 1].revents != 0) running_[i].listen();
      if (watched[2 * i].revents != 0)
        ended(running_[i]);
      else
        still.push_back(std::move(running_[i]));
    }
    running_.swap(still);
  }

  void ended(Running& command) {
    const std::string end = command.reap();
    CommandOutcome& outcome = outcomes_[command.place];
    if (command.ending == How::cancelled)
      outcome = {How::cancelled, "was ended: the call was cancelled"};
    else if (command.ending == How::failed)
      outcome = {How::failed, command.with_last_line(too_long(command))};
    else if (end.empty())
      outcome = {How::succeeded};
    else
      outcome = {How::failed, command.with_last_line(end)};
  }

  std::string too_long(const Running& command) const {
    const auto allowed = command.term_at - command.begun;
    return "took longer than " + seconds(std::chrono::duration_cast<milliseconds>(allowed)) +
           (command.term_at < last_term_ ? "" : ", which is all that the call's deadline leaves");
  }

  void end_those_that_are_late() {
    const auto now = Steady::now();
    const bool cancelled = context_.cancelled();
    for (Running& command : running_) {
      const bool late = now >= command.term_at;
      if (command.ending == How::succeeded && (late || cancelled)) {
        command.ending = late ? How::failed : How::cancelled;
        if (!late) command.kill_at = now + std::min(grace_, grace_of_cancelled);
        command.signal(SIGTERM);
      }
      if (command.ending != How::succeeded && now >= command.kill_at) command.signal(SIGKILL);
    }
  }

  const std::vector<std::vector<std::string>>& commands_;
  const milliseconds timeout_;
  const Context& context_;
  milliseconds grace_{};
  Steady::time_point last_term_{};
  std::size_t next_ = 0;
  std::vector<Running> running_;
  std::vector<CommandOutcome> outcomes_;
};

}  // namespace

std::vector<CommandOutcome> run_commands(const std::vector<std::vector<std::string>>& commands,
                                         milliseconds timeout, const Context& context) {
  return Batch(commands, timeout, context).run();
}

}  // namespace muster::static_machines
