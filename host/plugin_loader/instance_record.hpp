// What an instance of a plugin did lately: how long its calls took, and what it wrote to its log.
// Bounded.
#pragma once

#include <chrono>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <muster/codec.hpp>
#include <muster/context.hpp>

namespace muster::plugin_loader {

// The quantiles are of the newest calls alone.
struct MethodTimes {
  std::string method;
  std::int64_t calls = 0, failed = 0;
  double p50 = 0, p90 = 0, p99 = 0;  // seconds

  static constexpr auto fields(auto visit) {
    return visit(
        required("method", &MethodTimes::method), required("calls", &MethodTimes::calls),
        required("failedCalls", &MethodTimes::failed), required("p50Seconds", &MethodTimes::p50),
        required("p90Seconds", &MethodTimes::p90), required("p99Seconds", &MethodTimes::p99));
  }
};

struct LogEntry {
  Time at{};
  std::string level;
  std::string text;

  static constexpr auto fields(auto visit) {
    return visit(required("at", &LogEntry::at), required("level", &LogEntry::level),
                 required("text", &LogEntry::text));
  }
};

// THREADS: any.
class InstanceRecord {
 public:
  static constexpr std::size_t most_lines = 200, longest_line = 2000, counted_calls = 500,
                               most_methods = 50;

  void add_call(std::string_view method, std::chrono::duration<double> took, bool failed);
  void add_line(Time at, LogLevel level, std::string_view text);

  std::vector<MethodTimes> times() const;  // by name
  std::vector<LogEntry> log() const;       // oldest first

 private:
  struct Calls {
    std::int64_t calls = 0, failed = 0;
    std::vector<double> seconds;  // of the newest calls, as a ring
  };

  mutable std::mutex mutex_;
  std::map<std::string, Calls, std::less<>> calls_;
  std::deque<LogEntry> log_;
};

// The records of all instances, also of those that failed to start. THREADS: any.
class InstanceRecords {
 public:
  static constexpr std::size_t most = 1000;

  // Made if there is none. Of instances that nobody holds some are forgotten when there are many.
  std::shared_ptr<InstanceRecord> of(std::string_view instance_id);
  std::shared_ptr<const InstanceRecord> find(std::string_view instance_id) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::shared_ptr<InstanceRecord>, std::less<>> records_;
};

}  // namespace muster::plugin_loader
