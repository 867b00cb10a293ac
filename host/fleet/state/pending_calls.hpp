// Questions to plugins, and what is known about each until its answer comes.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "host/fleet/model/messages.hpp"
#include "host/fleet/model/state.hpp"
#include "host/fleet/state/fleet_clock.hpp"

namespace muster::fleet {

struct PendingCall {
  Index pool = no_index, provider = no_index, launch_config = no_index;
  std::vector<std::int64_t> workers = {};  // by number: a slot may have another tenant by then
  json::value bid = {};
  Time began{};
};

class PendingCalls {
 public:
  explicit PendingCalls(const FleetClock& clock) : clock_(clock) {}

  template <class Ask>
  CallId ask(Ask question, PendingCall call) {
    const CallId id = next_call_++;
    call.began = clock_.now();
    pending_.emplace(id, std::move(call));
    questions_.push_back({id, std::move(question)});
    return id;
  }

  // Nothing: no question of that id waits for an answer.
  std::optional<PendingCall> take(CallId id) {
    const auto found = pending_.find(id);
    if (found == pending_.end()) return std::nullopt;
    std::optional<PendingCall> call = std::move(found->second);
    pending_.erase(found);
    return call;
  }

  std::vector<Question> take_questions() { return std::exchange(questions_, {}); }

 private:
  const FleetClock& clock_;
  std::map<CallId, PendingCall> pending_;
  CallId next_call_ = 1;
  std::vector<Question> questions_;
};

}  // namespace muster::fleet
