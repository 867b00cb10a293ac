// What the implementation prints: it goes on to where the agent's own output goes, and the newest
// of it is kept for the host.
#pragma once

#include <string>
#include <string_view>

#include "agent/event_loop.hpp"

namespace muster::agent {

// THREADS: the loop's.
class WorkerOutput {
 public:
  // What is sent at once, and as much is kept of what was not sent.
  static constexpr std::size_t most_bytes = 16 * 1024;

  // Without a pipe the implementation prints to the agent's own output, and nothing is kept.
  explicit WorkerOutput(EventLoop& loop);
  ~WorkerOutput();
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;

  // For the implementation's standard output and errors; -1: there is no pipe.
  int descriptor() const { return write_end_.get(); }
  // Takes what is in the pipe by now.
  void drain();

  // Output that was not taken yet, as UTF-8 of at most that size, and how much of all output came
  // before it and with it.
  struct Part {
    std::int64_t from = 0, next = 0;
    std::string text;
  };
  Part take();
  bool empty() const { return kept_.empty(); }

 private:
  void pass_on(std::string_view bytes);

  EventLoop& loop_;
  FileDescriptor read_end_, write_end_;
  EventLoop::Id watch_ = 0;
  std::string kept_;
  std::int64_t read_ = 0;  // bytes so far
};

}  // namespace muster::agent
