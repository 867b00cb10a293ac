// Events as messages of Taskcluster's worker-manager: which exchange, which routing key, which
// payload. docs/events.md has the table for operators.
#pragma once

#include <string>
#include <vector>

#include "host/events/model/event.hpp"

namespace muster::events {

struct Message {
  std::string exchange;  // without the prefix: "worker-running"
  std::string routing_key;
  std::string body;  // JSON
};

// None for an event that has no Taskcluster message, because it lacks a required field.
// Pure.
std::vector<Message> taskcluster_messages(const Event& event);

// All exchanges that messages may go to, Taskcluster's and those of ours.
const std::vector<std::string>& exchanges();

}  // namespace muster::events
