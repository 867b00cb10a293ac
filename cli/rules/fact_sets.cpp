#include "cli/rules/fact_sets.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <set>

namespace muster::cli {
namespace {

using rules::Facts;

constexpr std::size_t max_cases_of_a_clause = 64;

// What a clause asks for, spelt out: a pattern stands for itself if it matches itself, as
// `us-west-*` does.
std::vector<Facts> facts_named_by(const rules::Clause& clause) {
  std::vector<Facts> all = {{}};
  for (const auto& condition : clause.all_of) {
    std::vector<Facts> longer;
    for (const auto& facts : all)
      for (const auto& glob : condition.any_of)
        if (glob.matches(glob.pattern()) && longer.size() < max_cases_of_a_clause) {
          longer.push_back(facts);
          longer.back()[condition.fact] = glob.is_literal() ? glob.literal() : glob.pattern();
        }
    all = std::move(longer);
  }
  return all;
}

void add_named(const rules::Document& document, std::set<Facts>& cases) {
  std::set<Facts> named = {{}};
  for (const auto& rule : document.rules)
    for (const auto& clause : rule.any_of)
      for (auto& facts : facts_named_by(clause)) named.insert(std::move(facts));
  for (const auto& type : document.worker_types)
    for (auto facts : named) {
      const auto [at, added] = facts.emplace("workerType", type.name);
      // A clause about another worker type says nothing about this one.
      if (added || at->second == type.name) cases.insert(std::move(facts));
    }
}

std::vector<std::string> fact_order(const std::vector<Facts>& all) {
  std::vector<std::string> order = {"workerType", "provider", "region"};
  std::set<std::string> others;
  for (const auto& facts : all)
    for (const auto& [name, value] : facts) others.insert(name);
  for (const auto& name : order) others.erase(name);
  order.insert(order.end(), others.begin(), others.end());
  return order;
}

using Group = std::vector<std::size_t>;

class Describer {
 public:
  Describer(const std::vector<Facts>& all, std::vector<std::string> order)
      : all_(all), order_(std::move(order)) {}

  std::vector<Box> describe(const Group& group, const Group& around, std::size_t fact) const {
    if (group.empty()) return {};
    if (group.size() == around.size() || fact == order_.size()) return {Box{{}, group.size()}};
    const auto mine = split(group, fact), others = split(around, fact);
    // Values that go on in the same way are described together.
    std::vector<std::pair<std::vector<Box>, std::vector<std::string>>> alike;
    for (const auto& [value, part] : mine) {
      auto rest = describe(part, others.at(value), fact + 1);
      const auto same = std::find_if(alike.begin(), alike.end(), [&](const auto& candidate) {
        return std::equal(rest.begin(), rest.end(), candidate.first.begin(), candidate.first.end(),
                          [](const Box& a, const Box& b) { return a.facts == b.facts; });
      });
      if (same == alike.end()) {
        alike.emplace_back(std::move(rest), std::vector<std::string>{value});
        continue;
      }
      for (std::size_t i = 0; i < rest.size(); ++i) same->first[i].count += rest[i].count;
      same->second.push_back(value);
    }
    std::vector<Box> boxes;
    for (auto& [rest, values] : alike)
      for (auto& box : rest) {
        if (values.size() < others.size())
          box.facts.insert(box.facts.begin(), {order_[fact], values});
        boxes.push_back(std::move(box));
      }
    return boxes;
  }

 private:
  std::map<std::string, Group> split(const Group& group, std::size_t fact) const {
    std::map<std::string, Group> parts;
    for (const auto index : group) {
      const auto found = all_[index].find(order_[fact]);
      parts[found == all_[index].end() ? "" : found->second].push_back(index);
    }
    return parts;
  }

  const std::vector<Facts>& all_;
  std::vector<std::string> order_;
};

std::size_t words_in(const std::vector<Box>& boxes) {
  std::size_t words = boxes.size();
  for (const auto& box : boxes)
    for (const auto& [name, values] : box.facts) words += values.size();
  return words;
}

}  // namespace

FactSets fact_sets_of(const rules::ConfigurationSet& set, const rules::Document& document,
                      const rules::Document* also) {
  FactSets cases;
  cases.known = set.known() && !set.known()->providers.empty();
  if (cases.known) {
    for (auto& combination : set.combinations(document))
      cases.facts.push_back(std::move(combination.facts));
    return cases;
  }
  std::set<Facts> named;
  add_named(document, named);
  if (also) {
    rules::Document same_types = *also;
    same_types.worker_types = document.worker_types;
    add_named(same_types, named);
  }
  cases.facts.assign(named.begin(), named.end());
  return cases;
}

void keep_matching(FactSets& cases, const Facts& facts) {
  std::erase_if(cases.facts, [&](const Facts& candidate) {
    return std::any_of(facts.begin(), facts.end(), [&](const auto& fact) {
      const auto found = candidate.find(fact.first);
      return found == candidate.end() || found->second != fact.second;
    });
  });
}

const rules::Evaluation& Evaluations::operator()(const Facts& facts) {
  std::vector<std::size_t> matched;
  for (std::size_t i = 0; i < document_.rules.size(); ++i)
    if (rules::matches(document_.rules[i], facts)) matched.push_back(i);
  auto& evaluation = by_rules_[std::move(matched)];
  if (!evaluation)
    evaluation = std::make_unique<rules::Evaluation>(rules::evaluate(document_, facts));
  return *evaluation;
}

std::vector<Box> describe(const Group& group, const std::vector<Facts>& all) {
  Group everything(all.size());
  std::iota(everything.begin(), everything.end(), std::size_t{0});
  // By worker type first or last: whichever is shorter to say.
  auto order = fact_order(all);
  auto boxes = Describer(all, order).describe(group, everything, 0);
  std::rotate(order.begin(), order.begin() + 1, order.end());
  auto others = Describer(all, order).describe(group, everything, 0);
  return words_in(others) < words_in(boxes) ? others : boxes;
}

std::string to_string(const Box& box) {
  constexpr std::size_t shown = 4;
  std::string text;
  for (const auto& [name, values] : box.facts) {
    text += (text.empty() ? "" : " ") + name + "=";
    for (std::size_t i = 0; i < values.size() && i < shown; ++i)
      text += (i ? "," : "") + (values[i].empty() ? "-" : values[i]);
    if (values.size() > shown) text += ",+" + std::to_string(values.size() - shown);
  }
  return text.empty() ? "everywhere" : text;
}

std::string to_string(const Facts& facts) {
  std::string text;
  for (const auto& name : fact_order({facts}))
    if (const auto found = facts.find(name); found != facts.end())
      text += (text.empty() ? "" : " ") + name + "=" + found->second;
  return text;
}

}  // namespace muster::cli
