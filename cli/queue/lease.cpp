// `muster lease`: a worker for as long as a command runs.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <poll.h>
#include <random>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/actions.hpp"
#include "cli/fleet/show.hpp"
#include "cli/queue/actions.hpp"
#include "cli/queue/show.hpp"
#include "host/base/file_descriptor.hpp"

namespace muster::cli {
namespace {

constexpr int heartbeat_seconds = 60;
// Between two heartbeats; several may be lost.
constexpr int heartbeat_every_ms = 15'000;
// How long one question waits for the worker: a signal is heeded in between.
constexpr int poll_seconds = 2;
constexpr int pause_after_trouble_ms = 2'000;
constexpr int release_attempts = 5;

std::string new_token() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) {
    char digits[16];
    std::snprintf(digits, sizeof digits, "%08x", random());
    token += digits;
  }
  return token;
}

json::object body_of(const LeaseOptions& options) {
  json::object body{{"token", new_token()},
                    {"heartbeatSeconds", heartbeat_seconds},
                    {"priority", options.priority}};
  if (!options.pool.empty()) body["workerPoolId"] = with_provisioner(options.pool);
  if (!options.cache_key.empty()) body["cacheKey"] = options.cache_key;
  for (const auto& [key, texts] :
       {std::pair("tags", &options.tags), std::pair("strategies", &options.strategies)})
    if (!texts->empty()) body[key] = json::array(texts->begin(), texts->end());
  json::object resources;
  for (const std::string& text : options.resources) {
    const std::size_t equals = text.find('=');
    std::int64_t amount = 0;
    const char* const end = text.data() + text.size();
    if (equals == std::string::npos ||
        std::from_chars(text.data() + equals + 1, end, amount).ptr != end || amount < 1)
      fail(Error::invalid("--resource " + text + " is no resource; write memory=4096"));
    resources[text.substr(0, equals)] = amount;
  }
  if (!resources.empty()) body["resources"] = std::move(resources);
  if (options.wait.empty()) return body;
  const auto seconds = seconds_of(options.wait);
  if (!seconds)
    fail(Error::invalid("--wait " + options.wait + " is no duration; write 90s, 30m or 2h"));
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  body["deadline"] = format_time(now + std::chrono::seconds(*seconds));
  return body;
}

// What passes by itself: a host that restarts, a network that hiccups.
bool passes(const Error& error) {
  return error.error_class == ErrorClass::transient || error.error_class == ErrorClass::throttle ||
         error.error_class == ErrorClass::internal;
}

// Signals as something to wait for, in place of their usual effect.
class Signals {
 public:
  Signals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGCHLD}) sigaddset(&signals_, signal);
    sigprocmask(SIG_BLOCK, &signals_, &before_);
    file_ = FileDescriptor(::signalfd(-1, &signals_, SFD_CLOEXEC | SFD_NONBLOCK));
  }
  // Nothing if none came in time.
  std::optional<signalfd_siginfo> wait(int milliseconds) const {
    pollfd waiting{file_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, milliseconds) <= 0) return std::nullopt;
    signalfd_siginfo signal{};
    if (::read(file_.get(), &signal, sizeof signal) != sizeof signal) return std::nullopt;
    return signal;
  }
  void back_to_usual() const { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t signals_{}, before_{};
  FileDescriptor file_;
};

// The newest verdict on one line of a terminal; elsewhere a line for each that is new.
class VerdictLine {
 public:
  void show(const std::string& line) {
    if (line == shown_) return;
    std::fprintf(stderr, live_ ? "\r\033[K%s" : "%s\n", line.c_str());
    std::fflush(stderr);
    shown_ = line;
  }
  void end() {
    if (live_ && !shown_.empty()) std::fputs("\r\033[K", stderr);
    shown_.clear();
  }

 private:
  const bool live_ = ::isatty(STDERR_FILENO) == 1;
  std::string shown_;
};

class Lease {
 public:
  explicit Lease(const LeaseOptions& options)
      : options_(options),
        host_(connect(options.host)),
        requests_("/api/muster/v1/teams/" + path_segment(options.team) + "/requests") {}

  int run() {
    ask();
    while (!holds()) wait();
    line_.end();
    const int code = run_command();
    release();
    return code;
  }

 private:
  // Sure of its worker is only who has confirmed it: until then the host may give it another.
  bool holds() {
    if (text_of(request_, "state") == "ended") {
      line_.end();
      fail(Error::cancelled("no worker: " + text_of(request_, "reason")));
    }
    return text_of(request_, "state") == "held" && update(host_.post(path() + "/heartbeat")) &&
           text_of(request_, "state") == "held";
  }

  std::string path() const { return requests_ + "/" + text_of(request_, "requestId"); }

  // With the same token as often as it takes: it is one request.
  void ask() {
    const json::object body = body_of(options_);
    for (;;) {
      auto answer = host_.post(requests_, body);
      if (answer || !passes(answer.error())) {
        request_ = table(answer_of(std::move(answer)));
        return;
      }
      line_.show("the host cannot be asked, trying again: " + answer.error().message);
      give_up_on(signals_.wait(pause_after_trouble_ms));
    }
  }

  void wait() {
    line_.show(verdict_line(request_));
    give_up_on(signals_.wait(0));
    if (!update(host_.get(path() + "?wait=" + std::to_string(poll_seconds))))
      give_up_on(signals_.wait(pause_after_trouble_ms));
  }

  // False: the host could not be asked.
  bool update(Result<json::value> answer) {
    if (!answer && passes(answer.error())) {
      line_.show("the host cannot be asked, trying again: " + answer.error().message);
      return false;
    }
    request_ = table(answer_of(std::move(answer)));
    return true;
  }

  static json::object table(const json::value& answer) {
    if (!answer.is_object()) fail(Error::internal("the host's answer is not understood"));
    return answer.get_object();
  }

  void give_up_on(const std::optional<signalfd_siginfo>& signal) {
    if (!signal || signal->ssi_signo == SIGCHLD) return;
    line_.end();
    if (!request_.empty()) release();
    throw Exit{128 + static_cast<int>(signal->ssi_signo)};
  }

  void release() {
    for (int attempt = 0; attempt < release_attempts; ++attempt) {
      const auto answer = host_.remove(path());
      if (answer || !passes(answer.error())) return;
      (void)signals_.wait(pause_after_trouble_ms);
    }
    std::fprintf(stderr,
                 "muster: the host could not be told that the worker is free; it takes it "
                 "back by itself within %d s\n",
                 heartbeat_seconds);
  }

  int run_command() {
    const json::object worker = table_of(request_, "worker");
    const pid_t child = ::fork();
    if (child < 0) {
      release();
      fail(Error::internal(std::string("no process can be started: ") + std::strerror(errno)));
    }
    if (child == 0) become_command(worker);
    bool lost = false;
    for (;;) {
      const auto signal = signals_.wait(lost ? -1 : heartbeat_every_ms);
      if (!signal) {
        lost = !heartbeat(child);
      } else if (signal->ssi_signo == SIGCHLD) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child)
          return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      } else if (signal->ssi_code != SI_KERNEL) {
        ::kill(child, static_cast<int>(signal->ssi_signo));  // a terminal tells the child itself
      }
    }
  }

  // False: the worker is ours no longer, and the command is told to end.
  bool heartbeat(pid_t child) {
    const auto answer = host_.post(path() + "/heartbeat");
    if (answer || passes(answer.error())) return true;
    std::fprintf(stderr, "muster: the worker is lost: %s\n", answer.error().message.c_str());
    ::kill(child, SIGTERM);
    return false;
  }

  [[noreturn]] void become_command(const json::object& worker) {
    signals_.back_to_usual();
    for (const auto& [name, key] : {std::pair("MUSTER_WORKER_POOL_ID", "workerPoolId"),
                                    std::pair("MUSTER_WORKER_GROUP", "workerGroup"),
                                    std::pair("MUSTER_WORKER_ID", "workerId"),
                                    std::pair("MUSTER_WORKER_PROVIDER_ID", "providerId"),
                                    std::pair("MUSTER_WORKER_CAPACITY", "capacity")})
      ::setenv(name, text_of(worker, key).c_str(), 1);
    ::setenv("MUSTER_REQUEST_ID", text_of(request_, "requestId").c_str(), 1);
    std::vector<char*> arguments;
    for (const std::string& argument : options_.command)
      arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    ::execvp(arguments[0], arguments.data());
    std::fprintf(stderr, "muster: %s cannot be run: %s\n", arguments[0], std::strerror(errno));
    ::_exit(127);
  }

  const LeaseOptions& options_;
  const Signals signals_;  // before any thread of the connection
  HostClient host_;
  const std::string requests_;
  json::object request_;
  VerdictLine line_;
};

}  // namespace

void lease(const LeaseOptions& options) {
  const int code = Lease(options).run();
  if (code != exit_ok) throw Exit{code};
}

}  // namespace muster::cli
