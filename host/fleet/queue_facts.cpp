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

bool Promised::serves(const std::vector<std::string>& wanted, const queue::Resources& needs) const {
  return queue::tags_match(tags, wanted) && has.has_room({0, {}}, needs);
}

Promised promised_by(const LaunchConfigSpec& spec) {
  QueueFacts facts = queue_facts_of(spec);
  queue::Resources has = resources_of(facts, instance_capacity(spec));
  return {std::move(facts.tags), std::move(has)};
}

}  // namespace muster::fleet
