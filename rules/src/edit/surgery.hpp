// The smallest change of a TOML text that gives one path another value. Texts go in and come out
// ending with a line end. Nothing here checks the outcome: the caller parses and compares.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "syntax.hpp"
#include "toml_fwd.hpp"

namespace muster::rules::syntax {

// How a path is written.
struct Place {
  enum class Kind {
    none,      // it is not there
    entry,     // `key = value`, or an element of an array
    dotted,    // a table made by dotted keys
    header,    // a table under its own [header] or [[header]]
    implicit,  // a table made by the headers of its sub-tables
    elements,  // an array of [[headers]]
  };
  Kind kind = Kind::none;
  const Section* section = nullptr;  // the section it stands in, or the first one that makes it
  const Value* inside = nullptr;     // the inline table or array around it, if any
  const Entry* entry = nullptr;      // the entry, or the first one that makes a dotted table
  std::size_t depth = 0;             // how many steps of the path lead to `inside` or `section`
};

Place find(const Document& document, const Address& path);

// A value on one line.
std::string write_value(const toml::node& value);

// Sets `path` to `value`. `before` is what the path holds now, null if nothing.
Result<std::string> put(std::string text, const Address& path, const toml::node& value,
                        const toml::node* before);

// Removes all that `path` holds.
Result<std::string> erase(std::string text, const Address& path);

// Items of an inline array or inline table, by index.
std::string insert_item(std::string text, const Value& container, std::size_t index,
                        std::string_view item);
std::string remove_item(std::string text, const Value& container, std::size_t index);
std::string move_item(std::string text, const Value& container, std::size_t from, std::size_t to);

// Removes whole lines, and the blank lines that would then stand double.
std::string cut_lines(std::string text, std::size_t begin, std::size_t end);

}  // namespace muster::rules::syntax
