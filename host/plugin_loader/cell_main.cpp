// muster-cell: a process that runs one plugin instance for the host, so that whatever the plugin
// does to its process is not done to the host's. The main thread watches the host's socket and
// nothing else; the plugin runs on another thread. When the host goes away, however it does, the
// cell and all that the plugin started are killed.
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <sys/prctl.h>
#include <thread>
#include <unistd.h>

#include <muster/codec.hpp>

#include "host/plugin_loader/call_state.hpp"
#include "host/plugin_loader/cell_instance.hpp"
#include "host/plugin_loader/cell_limits.hpp"
#include "host/plugin_loader/wire.hpp"

namespace muster::plugin_loader {
namespace {

using Steady = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Everything that the plugin says goes through here, from whichever thread.
class Host {
 public:
  void send(const wire::Frame& frame) {
    const std::lock_guard lock(mutex_);
    wire::send(wire::cell_socket, frame,
               Steady::now() + 1h);  // a host that does not read is dead or will kill us
  }

  HostServices services_at(std::int64_t host_time) {
    const auto start = Steady::now();
    return {.now =
                [=] {
                  return Time(
                      std::chrono::milliseconds(host_time) +
                      std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - start));
                },
            .log =
                [this](LogLevel level, std::string_view line) {
                  send({wire::Kind::log, static_cast<std::int64_t>(level), 0, std::string(line)});
                }};
  }

 private:
  std::mutex mutex_;
};

// The plugin's thread: takes frames one after another.
class Worker {
 public:
  explicit Worker(Host& host) : host_(host) {}

  void give(wire::Frame frame) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(frame);
    cancelled_ = false;
    given_.notify_all();
  }

  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;  // also if the call was given and has not begun
    if (running_ != nullptr) running_->cancel();
  }

  void run() {
    while (true) {
      const wire::Frame frame = take();
      if (frame.kind == wire::Kind::start) start(frame);
      if (frame.kind == wire::Kind::call) call(frame);
      if (frame.kind == wire::Kind::stop) leave();
    }
  }

 private:
  wire::Frame take() {
    std::unique_lock lock(mutex_);
    given_.wait(lock, [&] { return next_.has_value(); });
    wire::Frame frame = std::move(*next_);
    next_.reset();
    return frame;
  }

  void start(const wire::Frame& frame) {
    const auto request = decode<StartRequest>(frame.payload);
    if (!request) return fail(request.error());
    auto started = CellInstance::start(*request, host_.services_at(frame.second));
    if (!started) return fail(started.error());
    host_.send({wire::Kind::ready, 0, 0, encode(started->reply)});
    instance_ = std::move(started->instance);
    if (request->only_check) leave();
  }

  void fail(const Error& error) {
    host_.send({wire::Kind::failed, static_cast<std::int64_t>(error.error_class), 0,
                encode_failure(error)});
    std::_Exit(EXIT_FAILURE);
  }

  void call(const wire::Frame& frame) {
    const std::string_view payload(frame.payload);
    const auto newline = payload.find('\n');
    CallState state(payload.substr(0, newline), payload.substr(newline + 1),
                    Steady::now() + std::chrono::milliseconds(frame.number),
                    host_.services_at(frame.second));
    set_running(&state);
    const Outcome outcome = instance_->call(state);
    set_running(nullptr);
    const auto status = outcome.result
                            ? std::int64_t{MUSTER_OK}
                            : static_cast<std::int64_t>(outcome.result.error().error_class);
    host_.send({wire::Kind::reply, status, static_cast<std::int64_t>(outcome.incident),
                outcome.result ? *outcome.result : encode_failure(outcome.result.error())});
  }

  void set_running(CallState* state) {
    const std::lock_guard lock(mutex_);
    running_ = state;
    if (running_ != nullptr && cancelled_) running_->cancel();
  }

  [[noreturn]] void leave() {
    instance_.reset();
    std::_Exit(EXIT_SUCCESS);  // without the exit handlers of libraries that nobody here knows
  }

  Host& host_;
  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<wire::Frame> next_;
  CallState* running_ = nullptr;
  bool cancelled_ = false;  // the call that was given last
  std::unique_ptr<CellInstance> instance_;
};

[[noreturn]] void die_with_the_host() {
  ::kill(0, SIGKILL);  // the cell's own group: itself and what the plugin started
  std::_Exit(EXIT_FAILURE);
}

int serve(pid_t host_pid) {
  wire::Frame frame;
  if (wire::receive(wire::cell_socket, frame, Steady::now() + 1min, max_reply_size) !=
      wire::Received::frame)
    return EXIT_FAILURE;
  Host host;
  const auto request = decode<StartRequest>(frame.payload);
  const auto limited =
      request ? limit_this_process(request->limits, host_pid) : Result<void>(request.error());
  if (!limited) {
    host.send({wire::Kind::failed, static_cast<std::int64_t>(limited.error().error_class), 0,
               encode_failure(limited.error())});
    return EXIT_FAILURE;
  }
  Worker worker(host);
  std::thread([&] { worker.run(); }).detach();
  worker.give(std::move(frame));
  while (true) {
    switch (wire::receive(wire::cell_socket, frame, Steady::now() + 1h, max_reply_size)) {
      case wire::Received::closed:
        die_with_the_host();
      case wire::Received::timed_out:
        break;
      case wire::Received::frame:
        frame.kind == wire::Kind::cancel ? worker.cancel() : worker.give(std::move(frame));
    }
  }
}

}  // namespace
}  // namespace muster::plugin_loader

int main(int argc, char** argv) {
  if (argc != 2 || std::strcmp(argv[1], "--help") == 0) {
    std::fputs(
        "muster-cell runs one plugin instance. musterd and muster start it; there is no use in "
        "starting it by hand.\n",
        stderr);
    return argc == 2 ? EXIT_SUCCESS : 2;
  }
  return muster::plugin_loader::serve(static_cast<pid_t>(std::atol(argv[1])));
}
