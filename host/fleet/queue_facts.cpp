#include "host/fleet/queue_facts.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

QueueFacts queue_facts_of(const LaunchConfigSpec& spec) {
  QueueFacts facts;
  if (const json::value* given = spec.worker_config.if_contains("queue"))
    if (auto read = from_value<QueueFacts>(*given)) facts = std::move(*read);
  std::ranges::sort(facts.tags);
  return facts;
}

queue::Resources resources_of(const QueueFacts& facts, std::int64_t capacity) {
  const auto given = queue::Resources::from(facts.resources, capacity);
  return given ? *given : queue::Resources{capacity, {}};
}

bool serves(const LaunchConfigSpec& spec, const std::vector<std::string>& tags,
            std::int64_t needs) {
  const QueueFacts facts = queue_facts_of(spec);
  return queue::tags_match(facts.tags, tags) &&
         resources_of(facts, instance_capacity(spec)).active_task >= needs;
}

}  // namespace muster::fleet
