#include "host/plugin_loader/cell_channel.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "host/plugin_loader/deadline_mutex.hpp"
#include "host/plugin_loader/wire.hpp"

namespace muster::plugin_loader {
namespace {

using Steady = std::chrono::steady_clock;

constexpr std::chrono::seconds stop_budget{2};
constexpr std::size_t max_frame = max_reply_size + 4096;

std::string exit_in_words(int status) {
  if (WIFSIGNALED(status)) return std::string("killed by ") + ::strsignal(WTERMSIG(status));
  return "exited with " + std::to_string(WEXITSTATUS(status));
}

LogLevel level_of(const wire::Frame& frame) {
  return static_cast<LogLevel>(
      std::clamp<std::int64_t>(frame.number, MUSTER_LOG_DEBUG, MUSTER_LOG_ERROR));
}

// The process itself: its life and its end.
class Process {
 public:
  Process(CellProcess started, HostServices services)
      : started_(std::move(started)), services_(std::move(services)) {}
  ~Process() { end(SIGKILL); }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  int socket() const { return started_.socket.get(); }
  int pid_fd() const { return started_.pid_fd.get(); }
  pid_t pid() const { return started_.pid; }

  // Kills it if `signal` says so, waits for its end and says how it was. Idempotent. THREADS: any.
  std::string end(int signal) {
    const std::lock_guard lock(mutex_);
    if (!ended_.empty()) return ended_;
    if (signal != 0) ::kill(-started_.pid, signal);
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(started_.pid), &info, WEXITED | WNOWAIT) < 0 &&
           errno == EINTR) {
    }
    ::kill(
        -started_.pid,
        SIGKILL);  // what the plugin started; before reaping, while the id cannot be anybody else's
    int status = 0;
    rusage usage{};
    ::wait4(started_.pid, &status, 0, &usage);
    peak_memory_bytes_ = std::int64_t{usage.ru_maxrss} * 1024;
    drain();
    ended_ = exit_in_words(status);
    if (!last_words_.empty()) ended_ += ", last words: " + last_words_;
    return ended_;
  }

  // If it has ended by itself, how.
  std::optional<std::string> how_ended() {
    {
      const std::lock_guard lock(mutex_);
      if (!ended_.empty()) return ended_;
    }
    if (!wire::wait_readable(pid_fd(), Steady::now())) return std::nullopt;
    return end(0);
  }

  // What it printed goes to the log. Called between calls, so that its pipe seldom fills up; what
  // does not fit is lost.
  void drain_output() {
    const std::lock_guard lock(mutex_);
    drain();
  }

  std::int64_t peak_memory_bytes() const { return peak_memory_bytes_; }

 private:
  void drain() {
    char buffer[4096];
    ssize_t count = 0;
    while ((count = ::read(started_.output.get(), buffer, sizeof buffer)) > 0) {
      printed_.append(buffer, static_cast<std::size_t>(count));
      for (std::size_t end = 0; (end = printed_.find('\n')) != std::string::npos;
           printed_.erase(0, end + 1))
        log_output(printed_.substr(0, end));
      if (printed_.size() > 16 * 1024) log_output(std::exchange(printed_, {}));
    }
  }

  void log_output(const std::string& line) {
    if (line.empty()) return;
    last_words_ = line.substr(0, 300);
    services_.log(LogLevel::info, "printed: " + line);
  }

  CellProcess started_;
  HostServices services_;
  std::mutex mutex_;
  std::string ended_, printed_, last_words_;
  std::int64_t peak_memory_bytes_ = 0;
};

class CellChannel final : public Backend {
 public:
  CellChannel(std::shared_ptr<Process> process, HostServices services)
      : process_(std::move(process)), services_(std::move(services)) {}

  // Lets the plugin destroy its instance, for a while.
  ~CellChannel() override {
    const auto deadline = Steady::now() + stop_budget;
    if (!lost_ && wire::send(process_->socket(), {wire::Kind::stop}, deadline))
      wire::wait_readable(process_->pid_fd(), deadline);
    process_->end(SIGKILL);
  }

  Outcome call(std::string_view method, std::string_view request, const Context& context) override {
    const auto deadline = Steady::now() + context.time_left();
    const DeadlineMutex::Lock lock(calling_, deadline);
    if (!lock)
      return {
          Error::transient("the deadline passed while earlier calls of the instance were served")};
    if (lost_) return {Error::transient("the plugin's process is gone"), Incident::ended};
    wire::Frame frame{wire::Kind::call, context.time_left().count(),
                      services_.now().time_since_epoch().count()};
    frame.payload.reserve(method.size() + 1 + request.size());
    ((frame.payload += method) += '\n') += request;
    if (!wire::send(process_->socket(), frame, deadline))
      return lose(method, wire::Received::closed);
    return wait_for_reply(method, deadline, context);
  }

  int lost_fd() const override { return process_->pid_fd(); }
  std::optional<pid_t> pid() const override { return process_->pid(); }
  std::optional<std::string> how_lost() override { return process_->how_ended(); }

 private:
  Outcome wait_for_reply(std::string_view method, Steady::time_point deadline,
                         const Context& context) {
    auto give_up = deadline + grace;
    bool cancel_sent = false;
    wire::Frame frame;
    while (true) {
      const auto now = Steady::now();
      if (now >= give_up) return lose(method, wire::Received::timed_out);
      if (!wire::wait_readable(process_->socket(), std::min(give_up, now + cancel_poll))) {
        if (cancel_sent || !context.cancelled()) continue;
        cancel_sent = true;
        give_up = std::min(give_up, Steady::now() + std::chrono::seconds(1));
        wire::send(process_->socket(), {wire::Kind::cancel}, give_up);
        continue;
      }
      const auto received = wire::receive(process_->socket(), frame, give_up, max_frame);
      if (received != wire::Received::frame) return lose(method, received);
      if (frame.kind == wire::Kind::log) services_.log(level_of(frame), frame.payload);
      if (frame.kind == wire::Kind::reply) break;
    }
    process_->drain_output();
    const auto incident =
        static_cast<Incident>(std::clamp<std::int64_t>(frame.second, 0, int(Incident::violation)));
    const auto status = static_cast<muster_status>(frame.number);
    if (status == MUSTER_OK) return {std::move(frame.payload), incident};
    return {decode_failure(status, frame.payload), incident};
  }

  Outcome lose(std::string_view method, wire::Received how) {
    lost_ = true;
    const bool late = how == wire::Received::timed_out;
    // A process that closed its socket is ending; one that is alive all the same broke the
    // protocol.
    if (!late)
      wire::wait_readable(process_->pid_fd(), Steady::now() + std::chrono::milliseconds(200));
    const std::string end = process_->end(SIGKILL);
    return {Error::transient(
                (late ? "the deadline passed during " : "the plugin's process ended during ") +
                std::string(method) + ", " + end),
            late ? Incident::stuck : Incident::ended};
  }

  const std::shared_ptr<Process> process_;
  const HostServices services_;
  DeadlineMutex calling_;
  std::atomic<bool> lost_{false};
};

Error died_while_checked(Process& process, wire::Received how, std::chrono::milliseconds budget) {
  if (how == wire::Received::timed_out) {
    process.end(SIGKILL);
    return Error::invalid("did not start within " + std::to_string(budget.count()) +
                          " ms and was killed");
  }
  wire::wait_readable(process.pid_fd(), Steady::now() + std::chrono::milliseconds(200));
  return Error::invalid("its process ended while starting, " + process.end(SIGKILL));
}

}  // namespace

Result<OpenedCell> open_cell(CellSpawner& spawner, const StartRequest& request,
                             HostServices services, std::chrono::milliseconds budget) {
  const auto deadline = Steady::now() + budget;
  auto started = spawner.spawn(request.limits.environment);
  if (!started) return started.error();
  auto process = std::make_shared<Process>(std::move(*started), services);
  if (!wire::send(
          process->socket(),
          {wire::Kind::start, 0, services.now().time_since_epoch().count(), encode(request)},
          deadline))
    return died_while_checked(*process, wire::Received::closed, budget);
  wire::Frame frame;
  do {
    const auto received = wire::receive(process->socket(), frame, deadline, max_frame);
    if (received != wire::Received::frame) return died_while_checked(*process, received, budget);
    if (frame.kind == wire::Kind::log) services.log(level_of(frame), frame.payload);
  } while (frame.kind == wire::Kind::log);
  if (frame.kind == wire::Kind::failed)
    return decode_failure(static_cast<muster_status>(frame.number), frame.payload);
  auto reply = decode<StartReply>(frame.payload);
  if (!reply) return Error::internal("a cell answered nonsense: " + reply.error().message);
  OpenedCell opened{nullptr, std::move(*reply)};
  if (request.only_check) {
    wire::wait_readable(process->pid_fd(), deadline);
    const std::string end = process->end(SIGKILL);
    if (!end.starts_with("exited with 0"))
      return Error::invalid("its process ended after the check, " + end);
    opened.peak_memory_bytes = process->peak_memory_bytes();
  } else {
    opened.backend = std::make_shared<CellChannel>(std::move(process), std::move(services));
  }
  return opened;
}

}  // namespace muster::plugin_loader
