// What the driver of the fleet gives to it and gets from it.
#pragma once

#include <vector>

#include "host/events/model/event.hpp"
#include "host/fleet/bidding/weights.hpp"
#include "host/fleet/holds/hold_ledger.hpp"
#include "host/fleet/model/assigned_demand.hpp"
#include "host/fleet/model/messages.hpp"
#include "host/fleet/model/now.hpp"
#include "host/fleet/model/registration.hpp"
#include "host/fleet/model/state.hpp"
#include "host/fleet/model/words.hpp"
#include "host/store/store.hpp"

namespace muster::fleet {

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
