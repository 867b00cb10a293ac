// What whoever drives the fleet gives to it and gets from it.
#pragma once

#include <chrono>
#include <vector>

#include "host/fleet/messages.hpp"
#include "host/store/store.hpp"

namespace muster::fleet {

// Both clocks: the wall's for what is stored and shown, the steady one to notice that the wall's
// jumped.
struct Now {
  Time wall{};
  std::chrono::milliseconds steady{};
};

struct Outcome {
  store::Batch changes;
  std::vector<Question> questions;
  std::vector<events::Event> events;  // durable with the changes
  std::vector<std::int64_t> settled;  // requests of the queue that wait no longer; likewise

  bool empty() const {
    return changes.empty() && questions.empty() && events.empty() && settled.empty();
  }
};

}  // namespace muster::fleet
