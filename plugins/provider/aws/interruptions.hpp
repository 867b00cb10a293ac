// Machines that AWS is about to take away, from queues that EventBridge fills.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>

#include "plugins/cloud/machines/notice_board.hpp"
#include "plugins/provider/aws/api.hpp"
#include "plugins/provider/aws/settings.hpp"

namespace muster::aws {

// What a message of a queue says of one machine.
struct InterruptionEvent {
  std::string region, instance_id;
  bool has_ended = false;
  Interruption interruption = {};
};

// Nothing for events of other kinds and for what is no event. Pure.
std::optional<InterruptionEvent> read_event(std::string_view message, Time now);

// THREADS: one at a time.
class Interruptions {
 public:
  Interruptions(const Settings& settings, Api& api) : settings_(settings), api_(api) {}

  // A message is deleted only by the call after the one that has delivered it. Notices are
  // delivered again until the machine has ended, for ten minutes at most. A queue that fails does
  // not hide the others; fails only if all do.
  Result<Notices> collect(const Context& context);

 private:
  Result<void> receive(const std::string& region, const std::string& queue, const Context& context);
  void delete_delivered(const Context& context);

  struct Delivered {
    std::string region, queue, handle;
  };
  const Settings& settings_;
  Api& api_;
  std::vector<Delivered> delivered_;
  NoticeBoard board_;
};

}  // namespace muster::aws
