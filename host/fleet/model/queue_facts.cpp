#include "host/fleet/model/queue_facts.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/fleet/model/sanitize.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

// What workers may report where their configuration does not say.
const std::vector<std::string> reported_by_default = {"resources", "tags"};

Error wrong(const std::string& why) {
  return Error::invalid("queue in workerIdentityProof: " + why);
}

Result<void> check_names(const QueueFacts& facts) {
  if (facts.tags && facts.tags->size() > queue::most_tags)
    return wrong("there are " + std::to_string(facts.tags->size()) + " tags; at most " +
                 std::to_string(queue::most_tags) + " are possible");
  for (const std::string& tag : facts.tags.value_or(std::vector<std::string>()))
    if (const auto fine = queue::check_name("a tag", tag); !fine)
      return wrong(fine.error().message);
  if (facts.team)
    if (const auto fine = queue::check_name("the name of a team", *facts.team); !fine)
      return wrong(fine.error().message);
  return {};
}

// Each set of tags makes a group of workers: the same tags are to be the same set.
void put_in_order(QueueFacts& facts) {
  if (!facts.tags) return;
  std::ranges::sort(*facts.tags);
  const auto [repeated, end] = std::ranges::unique(*facts.tags);
  facts.tags->erase(repeated, end);
}

}  // namespace

QueueFacts queue_facts_of(const LaunchConfigSpec& spec) {
  QueueFacts facts;
  if (const json::value* given = spec.worker_config.if_contains("queue"))
    if (auto read = from_value<QueueFacts>(*given)) facts = std::move(*read);
  put_in_order(facts);
  return facts;
}

queue::Resources resources_of(const QueueFacts& facts, std::int64_t capacity) {
  const auto given = queue::Resources::from(facts.resources, capacity);
  return given ? *given : queue::Resources{capacity, {}};
}

// -------------------------------------------------------------------------------------------------
// What workers say themselves

Result<QueueFacts> read_reported(const json::value& given) {
  auto facts = from_value<QueueFacts>(given);
  if (!facts) return wrong(facts.error().message);
  for (const auto& member : given.get_object())
    if (member.key() != "resources" && member.key() != "tags" && member.key() != "team")
      return wrong("there is no `" + std::string(member.key()) +
                   "`; a worker reports resources, tags and team at most");
  const auto has = queue::Resources::from(facts->resources);
  if (!has) return wrong(has.error().message);
  if (has->active_task > largest_capacity)
    return wrong("active-task is at most " + std::to_string(largest_capacity));
  if (const auto fine = check_names(*facts); !fine) return fine.error();
  put_in_order(*facts);
  return facts;
}

Result<void> may_report(const LaunchConfigSpec& spec, const QueueFacts& reported) {
  std::vector<std::string> allowed = reported_by_default;
  const json::value* section = spec.worker_config.if_contains("queue");
  const json::object* configured = section ? section->if_object() : nullptr;
  if (const json::value* list = configured ? configured->if_contains("announce") : nullptr)
    if (auto read = from_value<std::vector<std::string>>(*list)) allowed = std::move(*read);
  const auto check = [&](const char* what, bool is_reported) -> Result<void> {
    if (!is_reported || std::ranges::find(allowed, what) != allowed.end()) return {};
    return wrong("workers of this pool may not report `" + std::string(what) +
                 "`: take it away, or let its worker configuration allow it with "
                 "workerConfig.queue.announce");
  };
  if (const auto may = check("resources", !reported.resources.empty()); !may) return may;
  if (const auto may = check("tags", reported.tags.has_value()); !may) return may;
  return check("team", reported.team.has_value());
}

QueueFacts combined(QueueFacts configured, const QueueFacts& reported) {
  configured.resources.insert(reported.resources.begin(), reported.resources.end());
  if (!configured.tags) configured.tags = reported.tags;
  if (!configured.team) configured.team = reported.team;
  return configured;
}

// -------------------------------------------------------------------------------------------------
// What workers will be

bool Promised::serves(const std::vector<std::string>& wanted, const queue::Resources& needs) const {
  return queue::tags_match(tags, wanted) && has.has_room({0, {}}, needs);
}

Promised promised_by(const LaunchConfigSpec& spec) {
  QueueFacts facts = queue_facts_of(spec);
  queue::Resources has = resources_of(facts, instance_capacity(spec));
  return {std::move(facts.tags).value_or(std::vector<std::string>()), std::move(has)};
}

}  // namespace muster::fleet
