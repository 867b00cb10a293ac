#include <algorithm>
#include <bit>

#include <muster/rules/compiled.hpp>

namespace muster::rules {
namespace {

void set_bit(std::vector<std::uint64_t>& bits, std::size_t bit) {
  bits[bit / 64] |= std::uint64_t{1} << bit % 64;
}

void clear_bit(std::vector<std::uint64_t>& bits, std::size_t bit) {
  bits[bit / 64] &= ~(std::uint64_t{1} << bit % 64);
}

std::vector<std::uint64_t> summarise(const std::vector<std::uint64_t>& bits) {
  std::vector<std::uint64_t> summary((bits.size() + 63) / 64, 0);
  for (std::size_t i = 0; i < bits.size(); ++i)
    if (bits[i]) set_bit(summary, i);
  return summary;
}

template <class Visit>
void for_each_bit(std::uint64_t word, Visit visit) {
  for (; word; word &= word - 1) visit(static_cast<std::size_t>(std::countr_zero(word)));
}

}  // namespace

std::vector<std::size_t> members(const RuleSet& set) {
  std::vector<std::size_t> result;
  for (const SetWord& word : set)
    for_each_bit(word.bits, [&](std::size_t bit) { result.push_back(word.index * 64 + bit); });
  return result;
}

CompiledRules::CompiledRules(std::shared_ptr<const Document> document)
    : document_(std::move(document)) {
  static const Clause always{};
  std::vector<const Clause*> clauses;
  bool one_to_one = true;
  for (std::size_t r = 0; r < document_->rules.size(); ++r) {
    const Rule& rule = document_->rules[r];
    one_to_one = one_to_one && rule.any_of.size() <= 1;
    if (rule.any_of.empty())
      clauses.push_back(&always), clause_rule_.push_back(static_cast<std::uint32_t>(r));
    for (const Clause& clause : rule.any_of)
      clauses.push_back(&clause), clause_rule_.push_back(static_cast<std::uint32_t>(r));
  }
  if (one_to_one) clause_rule_.clear();
  all_.bits.assign((clauses.size() + 63) / 64, 0);
  for (std::size_t c = 0; c < clauses.size(); ++c) set_bit(all_.bits, c);
  all_.summary = summarise(all_.bits);
  for (std::size_t c = 0; c < clauses.size(); ++c)
    index_clause(*clauses[c], static_cast<std::uint32_t>(c));
  for (FactIndex& fact : facts_) fact.without.summary = summarise(fact.without.bits);
}

CompiledRules::FactIndex& CompiledRules::fact_index(const std::string& name) {
  const auto found = std::find_if(facts_.begin(), facts_.end(),
                                  [&](const FactIndex& fact) { return fact.name == name; });
  if (found != facts_.end()) return *found;
  facts_.push_back({name, {all_.bits, {}}, {}, {}});
  return facts_.back();
}

void CompiledRules::index_clause(const Clause& clause, std::uint32_t bit) {
  for (const Condition& condition : clause.all_of) {
    FactIndex& fact = fact_index(condition.fact);
    clear_bit(fact.without.bits, bit);
    for (const Glob& glob : condition.any_of) {
      if (glob.is_literal()) {
        fact.literals[glob.literal()].push_back(bit);
        continue;
      }
      auto same = std::find_if(fact.globs.begin(), fact.globs.end(),
                               [&](const auto& entry) { return entry.first == glob; });
      if (same == fact.globs.end()) same = fact.globs.insert(same, {glob, {}});
      same->second.push_back(bit);
    }
  }
}

CompiledRules::Row CompiledRules::row(std::size_t fact, std::string_view value) const {
  const FactIndex& index = facts_[fact];
  Row row{index.without.bits, {}};
  if (const auto found = index.literals.find(value); found != index.literals.end())
    for (const std::uint32_t bit : found->second) set_bit(row.bits, bit);
  for (const auto& [glob, bits] : index.globs)
    if (glob.matches(value))
      for (const std::uint32_t bit : bits) set_bit(row.bits, bit);
  row.summary = summarise(row.bits);
  return row;
}

void CompiledRules::intersect(const std::vector<const Row*>& rows, RuleSet& out) const {
  out.clear();
  for (std::size_t s = 0; s < all_.summary.size(); ++s) {
    std::uint64_t words = all_.summary[s];
    for (const Row* row : rows) words &= row->summary[s];
    for_each_bit(words, [&](std::size_t w) {
      const std::size_t index = s * 64 + w;
      std::uint64_t bits = all_.bits[index];
      for (const Row* row : rows) bits &= row->bits[index];
      if (bits) out.push_back({static_cast<std::uint32_t>(index), bits});
    });
  }
  if (!clause_rule_.empty()) clauses_to_rules(out);
}

// Clauses are numbered in the order of their rules, so the rules come out in order too.
void CompiledRules::clauses_to_rules(RuleSet& set) const {
  RuleSet rules;
  for (const SetWord& word : set)
    for_each_bit(word.bits, [&](std::size_t bit) {
      const std::uint32_t rule = clause_rule_[word.index * 64 + bit];
      if (rules.empty() || rules.back().index != rule / 64) rules.push_back({rule / 64, 0});
      rules.back().bits |= std::uint64_t{1} << rule % 64;
    });
  set.swap(rules);
}

RuleSet CompiledRules::match(const Facts& facts) const {
  std::vector<Row> rows;
  rows.reserve(facts_.size());
  std::vector<const Row*> pointers;
  for (std::size_t f = 0; f < facts_.size(); ++f) {
    const auto fact = facts.find(facts_[f].name);
    if (fact == facts.end())
      pointers.push_back(&facts_[f].without);
    else
      pointers.push_back(&rows.emplace_back(row(f, fact->second)));
  }
  RuleSet result;
  intersect(pointers, result);
  return result;
}

}  // namespace muster::rules
