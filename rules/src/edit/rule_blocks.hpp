// Whole rules as blocks of text, each with the comments that belong to it.
#pragma once

#include <cstddef>
#include <string>

#include <muster/error.hpp>

#include "toml_fwd.hpp"

namespace muster::rules::syntax {

// Where a rule goes: the index that it has afterwards. Comments may stand between two rules and
// belong to neither; `after_previous` puts the rule above them, else it goes below.
struct Slot {
  std::size_t index = 0;
  bool after_previous = false;
};

// `count` is how many rules there are before the edit.
Result<std::string> add_rule(std::string text, Slot slot, std::size_t count,
                             const std::string& rule_id, const std::string& description);
Result<std::string> remove_rule(std::string text, std::size_t index);
Result<std::string> move_rule(std::string text, std::size_t from, Slot to, std::size_t count);

}  // namespace muster::rules::syntax
