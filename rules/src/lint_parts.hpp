// The parts of lint(), one file each.
#pragma once

#include <cstddef>
#include <string>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/problem.hpp>

#include "reach.hpp"

namespace muster::rules {

class Warnings {
 public:
  explicit Warnings(const Document& document) : document_(document) {}

  void add(Position at, std::string key, std::string reason, std::string remedy, std::string code) {
    problems_.push_back({Severity::warning, document_.at(at), std::move(key), std::move(reason),
                         std::move(remedy), std::move(code)});
  }
  const Document& document() const { return document_; }
  Problems take() { return std::move(problems_); }

 private:
  const Document& document_;
  Problems problems_;
};

inline std::string rule_key(std::size_t rule) {
  return "rules[" + std::to_string(rule) + "]";
}

void lint_text(Warnings& warnings);                                 // descriptions, names
void lint_sections(Warnings& warnings, const KnownFacts* known);    // top-level keys of values
void lint_conditions(Warnings& warnings, const KnownFacts* known);  // patterns that shadow others
void lint_secrets(Warnings& warnings);

// Rules and patterns that match nothing, over all launch documents that are known.
void lint_reach(Warnings& warnings, const KnownFacts* known, const Limits& limits);

// Rules without any effect, in all these sets of rules; null: whatever the facts.
void lint_overwritten(Warnings& warnings, const RuleSets* sets);

}  // namespace muster::rules
