// What workers are to the queue, as their launch configuration says and as they say themselves.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <muster/fields.hpp>

#include "host/fleet/model/configuration.hpp"
#include "host/queue/resources.hpp"

namespace muster::fleet {

// What a worker is to the queue beyond its capacity: `queue` in its worker configuration, or in
// what it shows when it registers.
struct QueueFacts {
  std::map<std::string, std::int64_t> resources = {};
  std::optional<std::vector<std::string>> tags = {};
  std::optional<std::string> team = {};

  static constexpr auto fields(auto visit) {
    return visit(optional("resources", &QueueFacts::resources), optional("tags", &QueueFacts::tags),
                 optional("team", &QueueFacts::team));
  }
};

QueueFacts queue_facts_of(const LaunchConfigSpec& spec);
// "active-task" is the capacity unless they say something else.
queue::Resources resources_of(const QueueFacts& facts, std::int64_t capacity);

// What a worker reports of itself. Fails as `invalid`, in a sentence for the person who set it up.
Result<QueueFacts> read_reported(const json::value& given);
// Whether workers of the launch configuration may report all of that; likewise.
Result<void> may_report(const LaunchConfigSpec& spec, const QueueFacts& reported);
// What the configuration says counts more than what the worker does.
QueueFacts combined(QueueFacts configured, const QueueFacts& reported);

// What a worker that it launches will be to the queue.
struct Promised {
  std::vector<std::string> tags;
  queue::Resources has;

  bool serves(const std::vector<std::string>& wanted, const queue::Resources& needs) const;
};
Promised promised_by(const LaunchConfigSpec& spec);

}  // namespace muster::fleet
