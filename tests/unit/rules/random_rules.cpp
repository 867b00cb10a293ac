#include "random_rules.hpp"

namespace muster::rules::testing {
namespace {

template <class T>
const T& one_of(Random& random, const std::vector<T>& choices) {
  return choices[random() % choices.size()];
}

const std::vector<std::string> fact_names = {"workerType", "provider", "region", "zone"};
const std::vector<std::string> fact_values = {"a", "ab", "abc", "b", "ba", ""};
const std::vector<std::string> patterns = {"a",  "b",  "ab", "abc", "*", "a*",
                                           "*b", "a?", "?",  "*b*", ""};
const std::vector<std::string> keys = {"p", "q", "r", "s.t"};

json::value random_pattern(Random& random) {
  if (random() % 2) return json::string(one_of(random, patterns));
  json::array list;
  for (auto n = 1 + random() % 3; n > 0; --n)
    list.push_back(json::string(one_of(random, patterns)));
  return list;
}

json::object random_clause(Random& random) {
  json::object clause;
  for (auto n = random() % 3; n > 0; --n)
    clause[one_of(random, fact_names)] = random_pattern(random);
  return clause;
}

json::value random_conditions(Random& random) {
  switch (random() % 4) {
    case 0:
      return nullptr;
    case 1: {
      json::array clauses;
      for (auto n = 1 + random() % 3; n > 0; --n) clauses.push_back(random_clause(random));
      return clauses;
    }
    default:
      return random_clause(random);
  }
}

json::value random_value(Random& random, int depth) {
  switch (random() % (depth > 0 ? 8 : 5)) {
    case 0:
      return nullptr;
    case 1:
      return static_cast<std::int64_t>(random() % 10);
    case 2:
      return static_cast<double>(random() % 10) + 0.5;
    case 3:
      return json::string("text");
    case 4:
      return json::array{1, nullptr, json::object{{"x", nullptr}}};
    default: {
      json::object table;
      for (auto n = random() % 4; n > 0; --n)
        table[one_of(random, keys)] = random_value(random, depth - 1);
      return table;
    }
  }
}

// Splits at dots outside quotes.
std::vector<std::string> split(std::string_view path) {
  std::vector<std::string> segments(1);
  bool quoted = false;
  for (const char c : path) {
    if (c == '"')
      quoted = !quoted;
    else if (c == '.' && !quoted)
      segments.emplace_back();
    else
      segments.back() += c;
  }
  return segments;
}

bool naive_glob(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return naive_glob(pattern.substr(1), text) ||
           (!text.empty() && naive_glob(pattern, text.substr(1)));
  if (text.empty() || (pattern[0] != '?' && pattern[0] != text[0])) return false;
  return naive_glob(pattern.substr(1), text.substr(1));
}

// The pseudo-code of RFC 7386.
json::value merge_patch(json::value target, const json::value& patch) {
  if (!patch.is_object()) return patch;
  if (!target.is_object()) target = json::object{};
  for (const auto& [name, value] : patch.get_object()) {
    if (value.is_null()) {
      target.get_object().erase(name);
    } else {
      const json::value* present = target.get_object().if_contains(name);
      target.get_object()[name] = merge_patch(present ? *present : json::value(nullptr), value);
    }
  }
  return target;
}

}  // namespace

json::object random_rule(Random& random, int number) {
  json::object rule = {{"ruleId", "rule-" + std::to_string(number)}};
  if (random() % 8) rule["conditions"] = random_conditions(random);
  if (random() % 8) {
    json::object values;
    for (auto n = random() % 4; n > 0; --n) values[one_of(random, keys)] = random_value(random, 3);
    rule["values"] = values;
  }
  if (random() % 3 == 0) {
    json::array unset;
    for (auto n = 1 + random() % 2; n > 0; --n) {
      std::string path;
      for (auto depth = 1 + random() % 3; depth > 0; --depth) {
        const std::string& key = one_of(random, keys);
        path += (path.empty() ? "" : ".") + (key == "s.t" ? "\"s.t\"" : key);
      }
      unset.push_back(json::string(path));
    }
    rule["unset"] = unset;
  }
  return rule;
}

json::object random_document(Random& random, std::size_t rules) {
  json::array list;
  for (std::size_t i = 0; i < rules; ++i) list.push_back(random_rule(random, static_cast<int>(i)));
  return {{"workerTypes", json::array{"a"}}, {"rules", list}};
}

Facts random_facts(Random& random) {
  Facts facts;
  for (const std::string& name : fact_names)
    if (random() % 5) facts[name] = one_of(random, fact_values);
  return facts;
}

bool naive_matches(const json::value& conditions, const Facts& facts) {
  if (conditions.is_null()) return true;
  if (const auto* clauses = conditions.if_array()) {
    for (const json::value& clause : *clauses)
      if (naive_matches(clause, facts)) return true;
    return false;
  }
  for (const auto& [name, wanted] : conditions.get_object()) {
    const auto fact = facts.find(std::string(name));
    if (fact == facts.end()) return false;
    const json::array list = wanted.is_array() ? wanted.get_array() : json::array{wanted};
    bool any = false;
    for (const json::value& pattern : list)
      any = any || naive_glob(pattern.as_string(), fact->second);
    if (!any) return false;
  }
  return true;
}

json::object naive_evaluate(const json::object& document, const Facts& facts) {
  json::value result = json::object{};
  for (const json::value& item : document.at("rules").as_array()) {
    const json::object& rule = item.as_object();
    if (rule.contains("conditions") && !naive_matches(rule.at("conditions"), facts)) continue;
    if (rule.contains("unset")) {
      for (const json::value& path : rule.at("unset").as_array()) {
        json::value* place = &result;
        const auto segments = split(path.as_string());
        for (std::size_t i = 0; place && i + 1 < segments.size(); ++i)
          place = place->is_object() ? place->get_object().if_contains(segments[i]) : nullptr;
        if (place && place->is_object()) place->get_object().erase(segments.back());
      }
    }
    if (rule.contains("values")) result = merge_patch(std::move(result), rule.at("values"));
  }
  return result.as_object();
}

}  // namespace muster::rules::testing
