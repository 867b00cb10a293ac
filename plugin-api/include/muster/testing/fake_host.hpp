// A host made of nothing: what an author needs to test a plugin with no daemon. No clock, no
// thread and no process of its own; everything that a real host decides is set by the test.
//
//   FakeContext context;
//   auto channel = DirectChannel::create(muster_plugin_v1, R"({"seed": 1})", context);
//   ProviderClient provider(**channel);
//   context.advance(30s);
//   EXPECT_EQ(provider.list({owner}, context)->instances.size(), 1);
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <muster/abi.h>
#include <muster/channel.hpp>
#include <muster/context.hpp>

namespace muster::testing {

struct LogLine {
  LogLevel level;
  std::string text;

  friend bool operator==(const LogLine&, const LogLine&) = default;
};

// Its clock stands still until it is moved. Thread-safe: a test may cancel from another thread.
class FakeContext final : public Context {
 public:
  explicit FakeContext(Time start = Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1)))
      : now_(start.time_since_epoch().count()) {}

  bool cancelled() const noexcept override { return cancelled_ || time_left_ <= 0; }
  std::chrono::milliseconds time_left() const noexcept override {
    return std::chrono::milliseconds(std::max<std::int64_t>(0, time_left_));
  }
  Time now() const noexcept override { return Time(std::chrono::milliseconds(now_.load())); }
  void log(LogLevel level, std::string_view line) const noexcept override;

  void advance(std::chrono::milliseconds time) { now_ += time.count(); }
  void set_now(Time time) { now_ = time.time_since_epoch().count(); }
  void cancel() { cancelled_ = true; }

  // Stays as it is set, however far the clock moves: a test moves the clock between calls, and each
  // call has a deadline of its own.
  void set_time_left(std::chrono::milliseconds time) { time_left_ = time.count(); }

  std::vector<LogLine> log_lines() const;

 private:
  std::atomic<std::int64_t> now_;
  std::atomic<std::int64_t> time_left_ = 30'000;
  std::atomic<bool> cancelled_ = false;
  mutable std::mutex mutex_;
  mutable std::vector<LogLine> lines_;
};

// Calls a plugin's C object in the caller's own thread. It keeps no deadline: a plugin that hangs
// hangs the test. Owns the instance and destroys it with itself; `plugin` is borrowed.
class DirectChannel final : public Channel {
 public:
  static Result<std::unique_ptr<Channel>> create(const muster_plugin& plugin,
                                                 std::string_view config, const Context& context);
  ~DirectChannel() override;
  DirectChannel(const DirectChannel&) = delete;
  DirectChannel& operator=(const DirectChannel&) = delete;

  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context& context) override;

 private:
  DirectChannel(const muster_plugin& plugin, void* instance)
      : plugin_(plugin), instance_(instance) {}

  const muster_plugin& plugin_;
  void* instance_;
  std::mutex mutex_;
};

// `describe`, which needs no instance.
Result<std::string> describe(const muster_plugin& plugin);

// The same in a child process in which every system call but those for memory is refused. Fails as
// `internal`, with the name of the call, if the plugin tries one: describe does no I/O.
Result<std::string> describe_confined(const muster_plugin& plugin);

// Maps a plugin's library into this process and leaves it there. For tests: a host checks a library
// in a child process first. Fails as `invalid` with the linker's words.
Result<const muster_plugin*> open_plugin(const std::string& path);

}  // namespace muster::testing
