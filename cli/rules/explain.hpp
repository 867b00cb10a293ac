// The parts of `muster explain`.
#pragma once

#include <optional>

#include <muster/json.hpp>
#include <muster/rules/evaluate.hpp>

#include "cli/rules/fact_sets.hpp"
#include "cli/terminal.hpp"

namespace muster::cli {

// One leaf for people, as rows of a table.
void add_leaf(Table& table, const rules::Document& document, const rules::Leaf& leaf);
void add_deletion(Table& table, const rules::Document& document, const rules::Deletion& deletion);

// Over all cases. False: nothing has the key.
bool explain_table(const rules::Document& document, const FactSets& cases, const rules::Path& key,
                   bool as_json);

}  // namespace muster::cli
