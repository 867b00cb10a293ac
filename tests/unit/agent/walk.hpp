// A life that a test walks through, with a clock and chance of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/lifecycle.hpp"

namespace muster::agent {

struct Named {
  std::string operator()(const Register&) const { return "register"; }
  std::string operator()(const Renew& renew) const {
    return renew.with_previous_secret ? "renew with the previous secret" : "renew";
  }
  std::string operator()(const WriteConfiguration&) const { return "write"; }
  std::string operator()(const StartWorker&) const { return "start"; }
  std::string operator()(const RefreshWorker&) const { return "refresh"; }
  std::string operator()(const TerminateWorker&) const { return "terminate"; }
  std::string operator()(const KillWorker&) const { return "kill"; }
  std::string operator()(const ReportError& error) const { return "report " + error.title; }
  std::string operator()(const ReportInterruption& told) const {
    return "interruption in " + std::to_string(told.in.count()) + ": " + told.reason;
  }
  std::string operator()(const ReportActivity& activity) const {
    return "activity " + std::to_string(activity.busy);
  }
  std::string operator()(const AskAdvice&) const { return "ask"; }
  std::string operator()(const RemoveWorker&) const { return "remove"; }
  std::string operator()(const WriteLog&) const { return ""; }
  std::string operator()(const Exit& exit) const {
    return "exit " + std::to_string(static_cast<int>(exit.code));
  }
};

struct Walk {
  explicit Walk(Lifecycle::Options options = {}) : life(options, [this] { return random; }) {
    life.begin(now);
  }

  std::vector<std::string> take() {
    std::vector<std::string> names;
    for (const Action& action : life.take()) {
      std::string name = std::visit(Named{}, action);
      if (!name.empty()) names.push_back(std::move(name));
    }
    return names;
  }
  // Until the next thing that Lifecycle waits for; how long that was.
  Milliseconds wait() {
    const auto next = life.next();
    if (!next) return Milliseconds(-1);
    const auto passed = std::chrono::duration_cast<Milliseconds>(*next - now);
    now = *next;
    life.tick(now);
    return passed;
  }
  void pass(Milliseconds time) {
    now += time;
    life.tick(now);
  }
  // Up to a running implementation, with credentials that last so long.
  void run(Milliseconds lasts = std::chrono::hours(1)) {
    life.granted(now, lasts);
    life.written(now, std::nullopt);
    (void)take();
  }
  void fail(CallOutcome::Kind kind, std::optional<Milliseconds> after = std::nullopt) {
    life.not_granted(now, {kind, "why", after});
  }
  void end_worker(std::optional<std::string> failure = std::nullopt) {
    life.worker_ended(now, failure);
  }

  SteadyTime now{std::chrono::hours(1000)};
  double random = 0;
  Lifecycle life;
};

}  // namespace muster::agent
