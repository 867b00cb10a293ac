#include "plugins/cloud/machines/section.hpp"

#include <set>

#include "plugins/cloud/json_access.hpp"

namespace muster::cloud {
namespace {

// "/launch/ImageId" → "aws.launch.ImageId"
std::string dotted(const Words& words, std::string_view pointer) {
  std::string path = words.section;
  for (const char letter : pointer) path += letter == '/' ? '.' : letter;
  return path;
}

Result<std::int64_t> capacity_in(const json::object& document) {
  const json::object* manager = table_of(document, "workerManager");
  const json::value* capacity = manager ? manager->if_contains("capacityPerInstance") : nullptr;
  if (!capacity) return 1;
  if (!capacity->is_int64() || capacity->get_int64() < 1)
    return Error::invalid("workerManager.capacityPerInstance: expected a whole number from 1");
  return capacity->get_int64();
}

std::vector<std::string> markets_in(const Words& words, const json::object& section) {
  std::vector<std::string> markets;
  if (const json::value* listed = section.if_contains("market"))
    for (const json::value& market : listed->get_array()) markets.emplace_back(market.get_string());
  if (markets.empty()) markets.emplace_back(words.on_demand);
  return markets;
}

}  // namespace

SectionReader::SectionReader(SectionRules rules, const json::object& schema)
    : rules_(std::move(rules)), schema_(json::Schema::compile(schema).value()) {}

Result<Expansion> SectionReader::expand(const ExpandRequest& request) const {
  const Words& words = rules_.words;
  const std::string name = words.section;
  const json::value* given = request.document.if_contains(name);
  if (!given) return Expansion{};
  if (const auto violations = schema_.validate(*given); !violations.empty())
    return Error::invalid(dotted(words, violations.front().path) + ": " +
                          violations.front().message);
  const json::object& section = given->get_object();
  const auto capacity = capacity_in(request.document);
  if (!capacity) return capacity.error();
  const json::object* launch = table_of(section, "launch");
  if (!section.contains(words.types_key) && launch && !launch->empty())
    return Error::invalid(name + "." + words.types_key + ": is missing; write for example [{ " +
                          words.entry_key + " = \"" + words.example_type + "\" }]");
  Expansion expansion;
  Result<void> outcome;
  std::size_t index = 0;
  std::set<std::string> seen;
  for_each_of(section, words.types_key, [&](const json::object& entry) {
    const std::string type = text_of(entry, words.entry_key);
    if (outcome && !seen.insert(type).second)
      outcome = Error::invalid(name + "." + words.types_key + "[" + std::to_string(index) +
                               "]: the type \"" + type + "\" is there twice; remove one");
    ++index;
    if (outcome) outcome = add_type(request, section, entry, *capacity, expansion);
  });
  if (!outcome) return outcome.error();
  if (const auto fits = check_user_data(words, rules_.user_data, section, request.document); !fits)
    return fits.error();
  return expansion;
}

Result<void> SectionReader::add_type(const ExpandRequest& request, const json::object& section,
                                     const json::object& entry, std::int64_t usual_capacity,
                                     Expansion& expansion) const {
  const Words& words = rules_.words;
  json::object launch;
  if (const json::object* shared = table_of(section, "launch")) launch = *shared;
  if (const json::object* over = table_of(entry, "launch")) lay_over(launch, *over);
  const auto complete = rules_.complete(launch, section, request.placement);
  if (!complete) return complete.error();
  if (!*complete) return {};
  const std::string type = text_of(entry, words.entry_key);
  for (const std::string& market : markets_in(words, section)) {
    json::object machine{{"launch", launch}, {words.type_key, type}, {"market", market}};
    std::vector<const char*> kept = rules_.kept;
    kept.insert(kept.end(), {"maxPrice", "tags", "userData"});
    for (const char* key : kept)
      if (const json::value* value = section.if_contains(key)) machine[key] = *value;
    if (const json::value* price = entry.if_contains("maxPrice")) machine["maxPrice"] = *price;
    json::object document{{words.section, std::move(machine)}};
    for (const char* key : {"workerManager", "workerConfig"})
      if (const json::value* other = request.document.if_contains(key)) document[key] = *other;
    const json::value* tasks = entry.if_contains("capacity");
    expansion.launch_documents.push_back({std::move(document),
                                          tasks ? tasks->get_int64() : usual_capacity,
                                          type_and_market(type, market == words.spot)});
  }
  return {};
}

}  // namespace muster::cloud
