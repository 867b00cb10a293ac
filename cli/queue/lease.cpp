// `muster lease`: a worker for as long as a command runs.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <poll.h>
#include <random>
#include <set>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <muster/codec.hpp>

#include "cli/connection.hpp"
#include "cli/fleet/actions.hpp"
#include "cli/fleet/show.hpp"
#include "cli/queue/actions.hpp"
#include "cli/queue/show.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::cli {
namespace {

using namespace std::chrono_literals;
using SteadyTime = std::chrono::steady_clock::time_point;

// So many may be lost before the host takes the worker back.
constexpr int heartbeats_in_time = 4;
// How long one question waits for the worker; signals are handled in between.
constexpr std::chrono::seconds poll_time = 2s;
// A host that takes longer to answer is asked again; meanwhile signals wait.
constexpr std::chrono::seconds longest_answer = 10s;
constexpr int pause_after_trouble_ms = 2'000;
constexpr int release_attempts = 5;
// As shells have it, for a command that cannot be run.
constexpr int exit_not_executable = 126, exit_not_found = 127;

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

json::object resources_of(const std::vector<std::string>& texts) {
  json::object resources;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    std::int64_t amount = 0;
    const char* const end = text.data() + text.size();
    if (equals == std::string::npos || equals == 0 ||
        std::from_chars(text.data() + equals + 1, end, amount).ptr != end || amount < 1)
      throw CommandFailure{exit_usage,
                           "--resource " + text + " is not a resource; write memory=4096", "usage"};
    const std::string name = text.substr(0, equals);
    if (!resources.emplace(name, amount).second)
      throw CommandFailure{exit_usage, "--resource " + name + " is given twice", "usage"};
  }
  return resources;
}

std::chrono::seconds duration_of(const char* option, const std::string& text) {
  const auto seconds = seconds_of(text);
  if (!seconds)
    throw CommandFailure{
        exit_usage, std::string(option) + " " + text + " is not a duration; write 90s, 30m or 2h",
        "usage"};
  return std::chrono::seconds(*seconds);
}

std::optional<SteadyTime> end_of_wait(const LeaseOptions& options) {
  if (options.wait.empty()) return std::nullopt;
  return std::chrono::steady_clock::now() + duration_of("--wait", options.wait);
}

json::object body_of(const LeaseOptions& options) {
  json::object body{{"token", new_token()},
                    {"heartbeatSeconds", duration_of("--heartbeat", options.heartbeat).count()},
                    {"priority", options.priority}};
  if (!options.pool.empty()) body["workerPoolId"] = with_provisioner(options.pool);
  if (!options.payload_file.empty()) body["payload"] = document_in(options.payload_file);
  if (!options.cache_key.empty()) body["cacheKey"] = options.cache_key;
  for (const auto& [key, texts] :
       {std::pair("tags", &options.tags), std::pair("strategies", &options.strategies)})
    if (!texts->empty()) body[key] = json::array(texts->begin(), texts->end());
  if (json::object resources = resources_of(options.resources); !resources.empty())
    body["resources"] = std::move(resources);
  return body;
}

// What passes by itself: a host that restarts, a network that hiccups.
bool passes(const Error& error) {
  return error.error_class == ErrorClass::transient || error.error_class == ErrorClass::throttle ||
         error.error_class == ErrorClass::internal;
}

// The files that are open now.
std::set<int> open_files() {
  std::set<int> files;
  DIR* const folder = ::opendir("/proc/self/fd");
  if (!folder) return files;
  while (const dirent* entry = ::readdir(folder))
    if (const int file = std::atoi(entry->d_name); file != ::dirfd(folder)) files.insert(file);
  ::closedir(folder);
  return files;
}

// Signals as something to wait for, in place of their usual effect.
class Signals {
 public:
  Signals() {
    // With SIGCHLD ignored, as some parents leave it, the exit status of the child is lost.
    std::signal(SIGCHLD, SIG_DFL);
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD})
      if (!is_ignored(signal)) sigaddset(&signals_, signal);
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
  // A signal that the parent wants ignored, as nohup does, stays ignored.
  static bool is_ignored(int signal) {
    struct sigaction usual {};
    return ::sigaction(signal, nullptr, &usual) == 0 && usual.sa_handler == SIG_IGN;
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
        body_(body_of(options)),
        heartbeat_(duration_of("--heartbeat", options.heartbeat)),
        give_up_at_(end_of_wait(options)),
        host_(connect(options.host, longest_answer)),
        requests_(api_path + "teams/" + path_segment(options.team) + "/requests") {}

  int run() {
    ask();
    while (!holds()) wait();
    line_.end();
    give_up_on(signals_.wait(0));  // of a terminal: the command was not there to get it
    const int code = run_command();
    release();
    return code;
  }

 private:
  // Only a confirmed worker is certain: until then the host may assign another one.
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
    while (!update(host_.post(requests_, body_))) pause();
    if (!options_.as_json)
      std::fprintf(stderr, "muster: request %s of team %s\n",
                   text_of(request_, "requestId").c_str(), options_.team.c_str());
    warn_of_unknown_pool();
  }

  // The request stays: a pool may be configured later. Who may not see pools is not warned.
  void warn_of_unknown_pool() {
    if (options_.pool.empty() || options_.as_json || text_of(request_, "state") != "waiting")
      return;
    const std::string pool = with_provisioner(options_.pool);
    const auto found = host_.get(api_path + "pools/" + path_segment(pool));
    if (!found && found.error().error_class == ErrorClass::not_found)
      std::fprintf(stderr, "muster: there is no worker pool %s; the request waits for one\n",
                   harmless(pool).c_str());
  }

  // For programs: the request whenever its state is new.
  void report() {
    if (!options_.as_json ||
        std::exchange(reported_, text_of(request_, "state")) == text_of(request_, "state"))
      return;
    std::fprintf(stderr, "%s\n", json::write(request_).c_str());
  }

  void wait() {
    if (!options_.as_json) line_.show(request_line(request_, view_));
    give_up_on(signals_.wait(0));
    const auto left = time_left();
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(left);
    if (!update(
            host_.get(path() + "?wait=" + std::to_string(std::min(seconds, poll_time).count()))))
      pause();
  }

  void pause() {
    const auto left = std::min<std::chrono::milliseconds>(
        time_left(), std::chrono::milliseconds(pause_after_trouble_ms));
    give_up_on(signals_.wait(static_cast<int>(left.count()) + 1));
  }

  // Until --wait is over; then there is nothing left to do.
  std::chrono::milliseconds time_left() {
    if (!give_up_at_) return poll_time;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        *give_up_at_ - std::chrono::steady_clock::now());
    if (left > 0ms) return left;
    line_.end();
    std::string why = trouble_;
    if (!request_.empty()) {
      if (why.empty()) why = request_line(request_, view_);
      release();
    }
    throw CommandFailure{exit_no_worker, "no worker within " + options_.wait + "; " + why,
                         "noWorker", options_.as_json};
  }

  // False: the host could not be asked.
  bool update(Result<json::value> answer) {
    trouble_.clear();
    if (!answer && passes(answer.error())) {
      trouble_ = "the host does not answer: " + answer.error().message;
      line_.show(trouble_ + "; retrying");
      return false;
    }
    request_ = table(answer_of(std::move(answer)));
    report();
    return true;
  }

  static json::object table(const json::value& answer) {
    if (!answer.is_object()) fail(Error::internal("the host's answer cannot be read"));
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
                 "muster: the host did not answer, so the worker is not released; the host takes "
                 "it back within %lld s\n",
                 static_cast<long long>(heartbeat_.count()));
  }

  int run_command() {
    const json::object worker = table_of(request_, "worker");
    const pid_t child = ::fork();
    if (child < 0) {
      release();
      fail(Error::internal(std::string("cannot start a process: ") + std::strerror(errno)));
    }
    if (child == 0) become_command(worker);
    const auto between = std::chrono::milliseconds(heartbeat_) / heartbeats_in_time;
    bool lost = false;
    for (SteadyTime next = std::chrono::steady_clock::now() + between;;) {
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(next - std::chrono::steady_clock::now());
      const auto signal = signals_.wait(lost ? -1 : static_cast<int>(std::max(left, 0ms).count()));
      if (!signal) {
        if (std::chrono::steady_clock::now() < next) continue;
        lost = !heartbeat(child);
        next = std::chrono::steady_clock::now() + between;
      } else if (signal->ssi_signo == SIGCHLD) {
        int status = 0;
        if (::waitpid(child, &status, WNOHANG) == child)
          return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      } else if (signal->ssi_code != SI_KERNEL) {
        ::kill(child, static_cast<int>(signal->ssi_signo));  // a terminal tells the child itself
      }
    }
  }

  // False: the lease is lost, and the command got SIGTERM.
  bool heartbeat(pid_t child) {
    const auto answer = host_.post(path() + "/heartbeat");
    if (answer || passes(answer.error())) return true;
    std::fprintf(stderr, "muster: lost the worker: %s\n", harmless(answer.error().message).c_str());
    ::kill(child, SIGTERM);
    return false;
  }

  [[noreturn]] void become_command(const json::object& worker) {
    signals_.back_to_usual();
    for (const int file : open_files())  // of the connection
      if (!inherited_.contains(file)) ::close(file);
    // Without heartbeats of this process the host gives the worker to another client.
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
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
    const int error = errno;
    std::fprintf(stderr, "muster: %s cannot be run: %s\n", arguments[0], std::strerror(error));
    ::_exit(error == ENOENT ? exit_not_found : exit_not_executable);
  }

  const std::set<int> inherited_ = open_files();  // the command has these, too, and no others
  const LeaseOptions& options_;
  const json::object body_;
  const std::chrono::seconds heartbeat_;
  std::optional<SteadyTime> give_up_at_;
  const Signals signals_;  // before any thread of the connection
  HostClient host_;
  const std::string requests_;
  json::object request_;
  // Without ages: a line is new only if something has changed.
  const View view_{Style::of_stderr(), View::no_limit, Time{}};
  std::string trouble_;   // of the last question
  std::string reported_;  // the state that was printed last
  VerdictLine line_;
};

}  // namespace

void lease(const LeaseOptions& options) {
  const int code = Lease(options).run();
  if (code != exit_ok) throw Exit{code};
}

}  // namespace muster::cli
