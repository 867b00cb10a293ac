// The parts of `muster explain`.
#pragma once

#include <optional>

#include <muster/json.hpp>
#include <muster/rules/evaluate.hpp>

#include "cli/rules/cases.hpp"
#include "cli/rules/terminal.hpp"

namespace muster::cli {

// Whether a path is the key or lies below it.
bool is_below(const rules::Path& path, const rules::Path& key);

// One leaf for programs, one for people (as rows of a table).
json::object leaf_json(const rules::Document& document, const rules::Leaf& leaf);
json::object deletion_json(const rules::Document& document, const rules::Deletion& deletion);
void add_leaf(Table& table, const rules::Document& document, const rules::Leaf& leaf);
void add_deletion(Table& table, const rules::Document& document, const rules::Deletion& deletion);

// Over all cases. False: nothing has the key.
bool explain_cases(const rules::Document& document, const Cases& cases, const rules::Path& key,
                   bool as_json);

}  // namespace muster::cli
