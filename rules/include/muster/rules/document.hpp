// A worker configuration as written: worker types and ordered rules, with the place of each part.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/rules/facts.hpp>
#include <muster/rules/glob.hpp>
#include <muster/rules/limits.hpp>
#include <muster/rules/node.hpp>
#include <muster/rules/path.hpp>
#include <muster/rules/problem.hpp>

namespace muster::rules {

// One fact must match one of the patterns.
struct Condition {
  std::string fact;
  Position position;
  std::vector<Glob> any_of;
  std::vector<Position> pattern_positions;  // beside any_of
};

// All conditions must hold. Without any it always holds.
struct Clause {
  Position position;
  std::vector<Condition> all_of;
};

struct Unset {
  Path path;
  Position position;
};

struct Rule {
  std::string rule_id;
  std::string description;
  Position position;             // of the rule's own first key, usually `ruleId`
  Position conditions_position;  // {} without conditions
  std::vector<Clause> any_of;    // empty: the rule always applies
  std::vector<Unset> unset;
  Node values;  // a table, maybe empty
};

struct WorkerType {
  std::string name;
  Position position;
};

struct Document {
  std::string id;    // the file's stem
  std::string file;  // as given by the caller, for messages
  std::vector<WorkerType> worker_types;
  std::vector<Rule> rules;

  SourcePosition at(Position position) const { return {file, position}; }
  // nullopt if there is no such rule.
  std::optional<std::size_t> find_rule(std::string_view rule_id) const;
};

struct Parsed {
  std::shared_ptr<const Document> document;  // null if there are errors
  // With errors: what could be read in spite of them, to look for more. Null if nothing could.
  std::shared_ptr<const Document> incomplete = {};
  Problems problems = {};  // all of the file, sorted
};

// Pure functions: text in, document or every problem of the text out. Never throw on any input.
//
// TOML dates and times become strings as RFC 3339 writes them; `inf` and `nan` are errors, for JSON
// has no such numbers. In JSON, a null in `values` deletes and `conditions` may be null.
Parsed parse_toml(std::string_view text, const std::string& file_name, const Limits& limits = {});
Parsed parse_json(std::string_view text, const std::string& file_name, const Limits& limits = {});

// By the ending of the file's name: `.json` or TOML.
Parsed parse_document(std::string_view text, const std::string& file_name,
                      const Limits& limits = {});

// Condition names that neither muster nor one of the providers knows: one error each.
Problems check_condition_names(const Document& document, const KnownFacts& known);

}  // namespace muster::rules
