// An evaluation with its reasons, as the JSON that tools and the host's API show.
#pragma once

#include <muster/json.hpp>
#include <muster/rules/evaluate.hpp>

namespace muster::rules {

// Whether a path is the key or lies below it.
bool is_below(const Path& path, const Path& key);

// {"key", "value", "rule", "file", "line", "column", "replaced": [...]}: which rule set it, and
// what it replaced, oldest first.
json::object to_json(const Document& document, const Leaf& leaf);
// The same without a value.
json::object to_json(const Document& document, const Deletion& deletion);

// {"configuration", "file", "facts", "rules", "values", "deleted", "document"}, of which values and
// deleted are those at the key or below it; an empty key stands for all.
json::object explanation(const Document& document, const Facts& facts, const Evaluation& evaluation,
                         const Path& key);

// Every key that the evaluation has or had, and those above them.
std::vector<std::string> keys_of(const Evaluation& evaluation);

}  // namespace muster::rules
