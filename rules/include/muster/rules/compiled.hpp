// The conditions of a document, indexed: which rules match is found by looking up each fact's
// value, not by trying rule after rule.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <muster/rules/document.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules {

// A set of small numbers as the words of a bitset that are not zero. Sets of few members among many
// stay small, and equal sets are equal vectors.
struct SetWord {
  std::uint32_t index;
  std::uint64_t bits;
  friend bool operator==(const SetWord&, const SetWord&) = default;
};
using RuleSet = std::vector<SetWord>;

std::vector<std::size_t> members(const RuleSet& set);

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

// Immutable and thread-safe; shares the document.
//
// A clause (a table of conditions) is one bit. For each fact that is asked for, a row of bits says
// which clauses allow a value of it: those that name it literally, those with a glob that matches,
// and those that do not ask for this fact. The rules that match are the intersection of the rows of
// all facts. Each row has a summary, a bit for each of its words, so that the intersection only
// touches words where something can match.
class CompiledRules {
 public:
  struct Row {
    std::vector<std::uint64_t> bits;
    std::vector<std::uint64_t> summary;
  };

  explicit CompiledRules(std::shared_ptr<const Document> document);

  const Document& document() const { return *document_; }
  const std::shared_ptr<const Document>& shared_document() const { return document_; }

  // The facts that conditions ask for. Facts of other names change nothing.
  std::size_t fact_count() const { return facts_.size(); }
  const std::string& fact_name(std::size_t fact) const { return facts_[fact].name; }

  // The clauses that allow this value; time grows with the globs on the fact, so callers keep rows.
  Row row(std::size_t fact, std::string_view value) const;
  // The clauses that do not ask for the fact: what holds when it is missing.
  const Row& row_without(std::size_t fact) const { return facts_[fact].without; }

  // The rules that match, from one row for each fact, in the order of the facts. `out` is replaced;
  // passing it in again and again allocates nothing.
  void intersect(const std::vector<const Row*>& rows, RuleSet& out) const;

  // All at once, for callers with few facts to ask about.
  RuleSet match(const Facts& facts) const;

 private:
  struct FactIndex {
    std::string name;
    Row without;
    std::unordered_map<std::string, std::vector<std::uint32_t>, TextHash, std::equal_to<>> literals;
    std::vector<std::pair<Glob, std::vector<std::uint32_t>>> globs;  // each pattern once
  };

  void index_clause(const Clause& clause, std::uint32_t bit);
  FactIndex& fact_index(const std::string& name);
  void clauses_to_rules(RuleSet& set) const;

  std::shared_ptr<const Document> document_;
  std::vector<FactIndex> facts_;
  std::vector<std::uint32_t> clause_rule_;  // empty while clause i is rule i
  Row all_;
};

}  // namespace muster::rules
