// What workers of a launch configuration are to the queue.
#pragma once

#include <map>
#include <string>
#include <vector>

#include <muster/fields.hpp>

#include "host/fleet/configuration.hpp"
#include "host/queue/resources.hpp"

namespace muster::fleet {

// What a worker is to the queue beyond its capacity: `queue` in its worker configuration.
struct QueueFacts {
  std::map<std::string, std::int64_t> resources = {};
  std::vector<std::string> tags = {};
  std::string team = {};

  static constexpr auto fields() {
    return std::tuple{optional("resources", &QueueFacts::resources),
                      optional("tags", &QueueFacts::tags), optional("team", &QueueFacts::team)};
  }
};

QueueFacts queue_facts_of(const LaunchConfigSpec& spec);
queue::Resources resources_of(const QueueFacts& facts, std::int64_t capacity);

// What a worker that it launches will be to the queue.
struct Promised {
  std::vector<std::string> tags;
  queue::Resources has;

  bool serves(const std::vector<std::string>& wanted, const queue::Resources& needs) const;
};
Promised promised_by(const LaunchConfigSpec& spec);

}  // namespace muster::fleet
