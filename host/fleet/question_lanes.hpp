// Carries questions to plugins and answers back, each plugin instance in a line of its own, so that
// a slow one makes nobody wait but those who ask it.
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <muster/channel.hpp>

#include "host/fleet/model/messages.hpp"
#include "lib/base/log.hpp"

namespace muster::fleet {

// A configured plugin instance as it is now; no channel: it does not run.
struct Callee {
  std::shared_ptr<Channel> channel;
  std::chrono::milliseconds deadline = std::chrono::seconds(30);
  std::uint32_t calls_at_once = 1;
};

// A call of a plugin that has ended, for metrics.
struct EndedCall {
  const std::string& instance_id;
  std::string_view method;  // "allocate"
  std::chrono::duration<double> took;
  bool failed = false;
};

class QuestionLanes {
 public:
  // All functions are called on the lanes' threads; `ended`, if given, for each call that was made.
  // If `may_call`, if given, says no, plugins are not called any more.
  QuestionLanes(std::function<Callee(const std::string& instance_id)> find,
                std::function<void(Answer)> answered, Log log,
                std::function<void(const EndedCall&)> ended = {},
                std::function<bool()> may_call = {});
  // Cancels what runs and waits for it; what still stands in line is not asked.
  ~QuestionLanes();
  QuestionLanes(const QuestionLanes&) = delete;
  QuestionLanes& operator=(const QuestionLanes&) = delete;

  // Returns at once. Every question is answered, by its deadline after its turn has come. THREADS:
  // any.
  void ask(Question question);

  // No call begins any more, and those that run are cancelled. IDEMPOTENT.
  void stop();

 private:
  struct Lane;
  void serve(Lane& lane);
  Answer put(const std::string& instance_id, const Question& question) const;
  Answer call(const std::string& instance_id, const Question& question, const Callee& callee) const;

  const std::function<Callee(const std::string&)> find_;
  const std::function<void(Answer)> answered_;
  const Log log_;
  const std::function<void(const EndedCall&)> ended_;
  const std::function<bool()> may_call_;  // asked before each call; without it: always
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Lane>> lanes_;
};

// The plugin instance that a question is for.
const std::string& addressee(const Question& question);

}  // namespace muster::fleet
