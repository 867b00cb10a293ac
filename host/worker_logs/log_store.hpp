// The newest output of workers: what their agents send, in memory and bounded. A host that starts
// again has what comes from then on.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <muster/context.hpp>

namespace muster::worker_logs {

struct Limits {
  std::size_t bytes_of_worker = 64 << 10;  // the oldest go
  std::size_t bytes_of_all = 64 << 20;     // of workers that were silent the longest all goes
  std::size_t longest_part = 16 << 10;     // of one report
};

// A piece of a worker's output.
struct Part {
  std::int64_t from = 0, next = 0;  // positions: `next` is where the following piece begins
  std::string text;
  Time at{};  // when the newest of it came
};

// THREADS: any.
class LogStore {
 public:
  explicit LogStore(Limits limits = {}) : limits_(limits) {}

  // The positions are the agent's: how much it has read of its worker's output before this part and
  // with it. What was sent twice counts once; what the agent has left out, and an agent that began
  // anew, is noted in the text.
  void append(const std::string& worker, const Part& part);

  // What is kept from this position on; positions before are skipped. Nothing: the worker has sent
  // nothing that is still kept.
  std::optional<Part> read(const std::string& worker, std::int64_t from) const;

  std::size_t bytes() const;
  const Limits& limits() const { return limits_; }

 private:
  struct Log {
    std::string text;           // the newest
    std::int64_t begin = 0;     // the position of its first byte
    std::int64_t of_agent = 0;  // how much of the agent's output was seen
    Time at{};
    std::list<std::string>::iterator place;
  };
  void add(Log& log, std::string_view text);
  void evict(const std::string& but);

  const Limits limits_;
  mutable std::mutex mutex_;
  std::map<std::string, Log> logs_;
  std::list<std::string> by_age_;  // the one that was silent the longest first
  std::size_t bytes_ = 0;
};

}  // namespace muster::worker_logs
