// What to do with an instance after each call: a pure decision, with the time passed in.
#pragma once

#include <deque>
#include <string>

#include "host/plugin_loader/backend.hpp"
#include "host/plugin_loader/manifest.hpp"
#include "lib/base/clock.hpp"

namespace muster::plugin_loader {

struct SupervisionPolicy {
  int max_bugs_in_a_row = 5;     // internal failures and wrong answers
  int max_losses = 5;            // crashes and hangs within the window
  int max_stuck_in_process = 3;  // then it goes on in a cell, where a hang costs no thread
  std::chrono::minutes window{10};
  std::chrono::milliseconds first_backoff{100};
  std::chrono::milliseconds max_backoff{60'000};
};

struct Reaction {
  enum class Kind { go_on, restart, restart_in_cell, quarantine };
  Kind kind = Kind::go_on;
  SteadyTime when{};        // of a restart
  std::string reason = {};  // of a quarantine
};

class Supervision {
 public:
  explicit Supervision(SupervisionPolicy policy) : policy_(policy) {}

  Reaction after_call(Incident incident, Isolation isolation, SteadyTime now);
  // The call before was fine as bytes, but what it answered makes no sense.
  Reaction after_wrong_answer();
  // The instance could not be made again.
  Reaction after_failed_restart(const std::string& why, SteadyTime now);

  int restarts() const { return restarts_; }

 private:
  Reaction after_bug();
  Reaction after_loss(const std::string& what, SteadyTime now);

  SupervisionPolicy policy_;
  int bugs_in_a_row_ = 0;
  bool last_answer_was_wrong_ = false;  // somebody complained after the call
  int stuck_in_process_ = 0;
  int restarts_ = 0;
  std::deque<SteadyTime> losses_;  // within the window
};

}  // namespace muster::plugin_loader
