// What whoever drives the fleet gives to it and gets from it, and some words about it.
#pragma once

#include <chrono>
#include <functional>
#include <vector>

#include "host/fleet/bidding/weights.hpp"
#include "host/fleet/holds/hold_ledger.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/state.hpp"
#include "host/store/store.hpp"

namespace muster::queue {
struct Waiting;
}  // namespace muster::queue

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

// What waits in the queue, or a part of it, as demand of a pool.
struct Assigned {
  Index pool = no_index;  // no_index: none could serve it
  std::int64_t requests = 0;
  double capacity = 0;                     // of workers of that pool
  std::vector<Index> launch_configs = {};  // whose workers could serve it
};
using TakeDemand = std::function<void(const queue::Waiting&, const Assigned&)>;

// In whole units, of what is a sum of parts.
std::int64_t whole_capacity(double capacity);

// The name of an error for clients: a version 4 UUID in 22 letters, made of the host and the
// number.
std::string error_id(const std::string& host_id, std::int64_t number);

// How long a pool that wants of what is scarce waits for the wishes of others.
inline constexpr auto fairness_wait = std::chrono::milliseconds(200);

std::string in_words(const Totals& totals);
std::string in_words(const WorkerName& name);
HoldRow to_row(const bidding::Hold& hold);

// Of launch configurations.
using Weights = std::vector<std::pair<Index, bidding::Weight>>;

}  // namespace muster::fleet
