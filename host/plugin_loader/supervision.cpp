#include "host/plugin_loader/supervision.hpp"

#include <algorithm>

namespace muster::plugin_loader {
namespace {

Reaction quarantine(std::string reason) {
  return {Reaction::Kind::quarantine, {}, std::move(reason)};
}

}  // namespace

Reaction Supervision::after_call(Incident incident, Isolation isolation, SteadyTime now) {
  switch (incident) {
    case Incident::none:
      if (!last_answer_was_wrong_) bugs_in_a_row_ = 0;
      last_answer_was_wrong_ = false;
      return {};
    case Incident::bug:
      return after_bug();
    case Incident::violation:
      return quarantine("an exception crossed the plugin boundary, which the ABI forbids");
    case Incident::ended:
      return after_loss("ended unexpectedly", now);
    case Incident::stuck:
      break;
  }
  Reaction reaction = after_loss("hung or ended unexpectedly", now);
  const bool too_often =
      isolation == Isolation::in_process && ++stuck_in_process_ >= policy_.max_stuck_in_process;
  if (too_often && reaction.kind == Reaction::Kind::restart)
    reaction.kind = Reaction::Kind::restart_in_cell;
  return reaction;
}

Reaction Supervision::after_wrong_answer() {
  last_answer_was_wrong_ = true;
  return after_bug();
}

Reaction Supervision::after_bug() {
  if (++bugs_in_a_row_ < policy_.max_bugs_in_a_row) return {};
  return quarantine(std::to_string(bugs_in_a_row_) + " internal failures in a row");
}

Reaction Supervision::after_failed_restart(const std::string& why, SteadyTime now) {
  return after_loss("could not be started again (" + why + ")", now);
}

Reaction Supervision::after_loss(const std::string& what, SteadyTime now) {
  while (!losses_.empty() && losses_.front() + policy_.window <= now) losses_.pop_front();
  losses_.push_back(now);
  ++restarts_;
  const auto count = static_cast<int>(losses_.size());
  if (count >= policy_.max_losses)
    return quarantine(what + " " + std::to_string(count) + " times within " +
                      std::to_string(policy_.window.count()) + " minutes");
  const auto backoff =
      std::min(policy_.max_backoff, policy_.first_backoff * (1 << std::min(count - 1, 16)));
  return {Reaction::Kind::restart, now + backoff};
}

}  // namespace muster::plugin_loader
