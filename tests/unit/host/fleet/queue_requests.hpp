// Requests to the queue of a fleet that is driven, and launch configurations whose workers differ.
#pragma once

#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {

inline std::int64_t want(FleetDriver& driver, queue::NewRequest ask) {
  if (ask.team.empty()) ask.team = queue::TeamId("team");
  ask.heartbeat = std::chrono::hours(24);
  const auto number = driver.fleet().request_worker(std::move(ask), driver.now());
  EXPECT_TRUE(number) << number.error().message;
  driver.settle();
  return number ? *number : 0;
}

// `facts` is what its workers are to the queue.
inline LaunchSketch with_facts(const std::string& id, std::int64_t capacity, json::object facts) {
  LaunchSketch sketch{.id = id, .capacity = capacity};
  sketch.worker_config = {{"queue", std::move(facts)}};
  return sketch;
}

}  // namespace muster::fleet
