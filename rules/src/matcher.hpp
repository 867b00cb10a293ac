// Compiled rules that remember the row of each fact value they were asked about.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include <muster/rules/compiled.hpp>

namespace muster::rules {

inline std::size_t mix_hash(std::size_t hash, std::uint64_t value) {
  hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
  return hash * 0xFF51AFD7ED558CCDu;
}

struct RuleSetHash {
  std::size_t operator()(const RuleSet& set) const {
    std::size_t hash = 0;
    for (const SetWord& word : set) hash = mix_hash(mix_hash(hash, word.index), word.bits);
    return hash;
  }
};

// Owned by one thread at a time.
class Matcher {
 public:
  explicit Matcher(std::shared_ptr<const Document> document)
      : rules_(std::move(document)), rows_(rules_.fact_count()), chosen_(rules_.fact_count()) {}

  const CompiledRules& rules() const { return rules_; }

  // The set stays valid until the next call.
  const RuleSet& match(const Facts& facts) {
    for (std::size_t f = 0; f < rows_.size(); ++f) {
      const auto fact = facts.find(rules_.fact_name(f));
      chosen_[f] = fact == facts.end() ? &rules_.row_without(f) : &row(f, fact->second);
    }
    rules_.intersect(chosen_, matched_);
    return matched_;
  }

 private:
  // Chosen rows must stay where they are until the intersection: nodes of an unordered_map do, and
  // each fact has its own map, which is emptied only before its row is chosen.
  const CompiledRules::Row& row(std::size_t fact, const std::string& value) {
    constexpr std::size_t most_values = 100'000;
    auto& known = rows_[fact];
    if (const auto found = known.find(value); found != known.end()) return found->second;
    if (known.size() >= most_values) known.clear();
    return known.emplace(value, rules_.row(fact, value)).first->second;
  }

  CompiledRules rules_;
  std::vector<std::unordered_map<std::string, CompiledRules::Row>> rows_;
  std::vector<const CompiledRules::Row*> chosen_;
  RuleSet matched_;
};

}  // namespace muster::rules
