// Evaluation with its reasons: what a document comes to for some facts, and which rule made it so.
// This is the plain form, for tools and tests; hosts that evaluate for thousands of facts use
// evaluator.hpp, which gives the same documents.
//
// Rules apply in order to an empty object. A rule first deletes its `unset` paths, then assigns its
// values deeply as RFC 7386 (JSON merge patch) does: tables merge, everything else replaces, null
// deletes. A table from which the last key is deleted stays, empty. Nulls inside arrays are values.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <muster/json.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules {

// One rule's act on one path.
struct Change {
  std::size_t rule = 0;  // index into Document::rules
  Position position;     // the line that did it, in Document::file
  Path path;             // the leaf itself, or one above or below it that stood in its place
  std::optional<json::value> value;  // nullopt: deleted
};

// A leaf is a scalar, an array (arrays are replaced whole) or an empty table.
struct Leaf {
  Path path;
  json::value value;
  std::size_t rule = 0;
  Position position;
  std::vector<Change> earlier;  // what it replaced, oldest first
};

// A leaf that was deleted and not set again.
struct Deletion {
  Path path;
  std::size_t rule = 0;
  Position position;
  std::vector<Change> earlier;  // the values it had, oldest first
};

struct Evaluation {
  json::object document;
  std::vector<std::size_t> matched;  // rules that applied, in order
  std::vector<Leaf> leaves;          // in the order of `document`
  std::vector<Deletion> deleted;

  const Leaf* find(const Path& path) const;
};

bool matches(const Rule& rule, const Facts& facts);

// Pure and deterministic.
Evaluation evaluate(const Document& document, const Facts& facts);

// The document alone, for the rules given by index, in ascending order.
json::object evaluate_rules(const Document& document, const std::vector<std::size_t>& rules);

}  // namespace muster::rules
