#include "cli/import/configuration_text.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <muster/rules/document.hpp>
#include <muster/rules/edit.hpp>
#include <muster/rules/evaluate.hpp>

#include "cli/import/documents.hpp"
#include "cli/import/toml_writer.hpp"

namespace muster::importing {
namespace {

// Places that a rule is about: regions as a whole, or zones.
struct Reach {
  std::vector<std::string> regions = {}, zones = {};

  void add(const Place& place) {
    std::vector<std::string>& names = place.zone.empty() ? regions : zones;
    const std::string& name = place.zone.empty() ? place.region : place.zone;
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::string first() const { return regions.empty() ? zones.front() : regions.front(); }
  std::size_t size() const { return regions.size() + zones.size(); }
};

struct WrittenRule {
  std::string rule_id, description;
  Reach reach = {};
  json::object values = {};
};

std::string globs(const std::vector<std::string>& names) {
  if (names.size() == 1) return rules::toml_string(names.front());
  std::string text;
  for (const std::string& name : names)
    text += (text.empty() ? "" : ", ") + rules::toml_string(name);
  return "[" + text + "]";
}

std::string conditions(const Cloud& cloud, const std::string& provider_id, const Reach& reach) {
  const std::string provider = "{ provider = " + rules::toml_string(provider_id);
  std::vector<std::string> clauses;
  if (!reach.regions.empty())
    clauses.push_back(provider + ", region = " + globs(reach.regions) + " }");
  if (!reach.zones.empty())
    clauses.push_back(provider + ", " + cloud.zone_fact + " = " + globs(reach.zones) + " }");
  return clauses.size() == 1 ? clauses.front() : "[" + clauses[0] + ", " + clauses[1] + "]";
}

// "in-us-east-1", "in-us-east-1-and-2-more"
void name_rule(WrittenRule& rule, const std::string& kind) {
  const std::string more = rule.reach.size() == 1 ? "" : std::to_string(rule.reach.size() - 1);
  rule.rule_id = kind + "-" + rule.reach.first() + (more.empty() ? "" : "-and-" + more + "-more");
  rule.description =
      "What differs in " + rule.reach.first() + (more.empty() ? "" : " and " + more + " more");
}

// Rules with the same values are one.
void add_merged(std::vector<WrittenRule>& rules, std::size_t from,
                const std::vector<const Place*>& reach, const json::object& values) {
  if (values.empty()) return;
  const auto known = std::find_if(rules.begin() + static_cast<std::ptrdiff_t>(from), rules.end(),
                                  [&](const WrittenRule& rule) { return rule.values == values; });
  WrittenRule& rule =
      known == rules.end() ? rules.emplace_back(WrittenRule{"", "", {}, values}) : *known;
  for (const Place* place : reach) rule.reach.add(*place);
}

std::vector<WrittenRule> rules_of(const std::vector<Place>& places) {
  std::vector<const json::object*> all;
  WrittenRule everywhere{"machines", "What all machines have in common"};
  std::vector<std::string> regions;
  std::map<std::string, std::vector<const Place*>> by_region;
  for (const Place& place : places) {
    all.push_back(&place.document);
    everywhere.reach.add(place);
    if (!by_region.contains(place.region)) regions.push_back(place.region);
    by_region[place.region].push_back(&place);
  }
  everywhere.values = common_part(all);
  std::vector<WrittenRule> rules;
  std::map<const Place*, json::object> rest;
  for (const std::string& region : regions) {
    std::vector<json::object> left;
    for (const Place* place : by_region[region])
      left.push_back(difference(place->document, everywhere.values));
    std::vector<const json::object*> pointers;
    for (const json::object& one : left) pointers.push_back(&one);
    const json::object shared = common_part(pointers);
    add_merged(rules, 0, by_region[region], shared);
    for (std::size_t i = 0; i < left.size(); ++i)
      rest[by_region[region][i]] = difference(left[i], shared);
  }
  for (WrittenRule& rule : rules) name_rule(rule, "in");
  const std::size_t zones_from = rules.size();
  for (const Place& place : places) add_merged(rules, zones_from, {&place}, rest[&place]);
  for (std::size_t i = zones_from; i < rules.size(); ++i) name_rule(rules[i], "only-in");
  if (!everywhere.values.empty()) rules.insert(rules.begin(), std::move(everywhere));
  return rules;
}

std::string comment(const std::string& text) {
  std::string lines = "#";
  std::size_t width = 1;
  std::string word;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ' ';
    if (c != ' ' && c != '\n') {
      word += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
      continue;
    }
    if (word.empty()) continue;
    if (width + word.size() > 110 && width > 1) {
      lines += "\n#  ";
      width = 3;
    }
    lines += " " + word;
    width += word.size() + 1;
    word.clear();
  }
  return lines + "\n";
}

rules::Facts facts_of(const Cloud& cloud, const ConfigurationParts& parts, const Place& place) {
  rules::Facts facts{
      {"workerType", parts.worker_type}, {"provider", parts.provider_id}, {"region", place.region}};
  if (!place.zone.empty()) facts[cloud.zone_fact] = place.zone;
  return facts;
}

// Whether the text says what it should.
Result<void> read_again(const Cloud& cloud, const ConfigurationParts& parts,
                        const std::string& text) {
  const auto parsed = rules::parse_toml(text, parts.worker_type + ".toml");
  if (!parsed.document) {
    const std::string why =
        parsed.problems.empty() ? "it has no rules" : rules::to_string(parsed.problems.front());
    return Error::invalid("the worker configuration would not be valid: " + why);
  }
  for (const Place& place : parts.places) {
    json::object expected = parts.settings;
    for (const auto& [key, value] : place.document) expected[key] = value;
    const json::object found =
        rules::evaluate(*parsed.document, facts_of(cloud, parts, place)).document;
    if (const std::string at = first_difference(expected, found); !at.empty())
      return Error::internal("the rules do not come to the launch configuration at " + at);
  }
  return {};
}

}  // namespace

Result<std::string> configuration_text(const Cloud& cloud, const ConfigurationParts& parts) {
  std::string text;
  for (const std::string& each : parts.comments) text += comment(each);
  text += "workerTypes = [" + rules::toml_string(parts.worker_type) + "]\n";
  const auto pool = toml_table({"rules", "values"}, parts.settings);
  if (!pool) return pool.error();
  text += "\n[[rules]]\nruleId = \"pool\"\ndescription = \"The pool as a whole\"\n" + *pool;
  for (const WrittenRule& rule : rules_of(parts.places)) {
    const auto values = toml_table({"rules", "values"}, rule.values);
    if (!values) return values.error();
    text += "\n[[rules]]\nruleId = " + rules::toml_string(rule.rule_id) +
            "\ndescription = " + rules::toml_string(rule.description) +
            "\nconditions = " + conditions(cloud, parts.provider_id, rule.reach) + "\n" + *values;
  }
  if (const auto same = read_again(cloud, parts, text); !same) return same.error();
  return text;
}

std::string facts_text(const Cloud& cloud, const std::string& provider_id,
                       const std::vector<Place>& places) {
  std::string text = "[" + rules::format_path({"providers", provider_id}) +
                     "]\nplugin = " + rules::toml_string(cloud.name) + "\n";
  std::set<std::string> lines;
  bool has_zones = false;
  const auto add = [&](const std::string& region, const std::string& zone) {
    has_zones |= !zone.empty();
    lines.insert("  { region = " + rules::toml_string(region) +
                 (zone.empty()
                      ? ""
                      : ", " + std::string(cloud.zone_fact) + " = " + rules::toml_string(zone)) +
                 " },\n");
  };
  for (const Place& place : places) {
    for (const std::string& zone : place.zones) add(place.region, zone);
    if (place.zones.empty()) add(place.region, place.zone);
  }
  if (!has_zones && *cloud.zone_fact)
    text += "facts = [" + rules::toml_string(cloud.zone_fact) + "]\n";
  text += "placements = [\n";
  for (const std::string& line : lines) text += line;
  return text + "]\n";
}

}  // namespace muster::importing
