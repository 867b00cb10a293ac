// Edits of a worker configuration's text. Each edit changes only the bytes it must: comments,
// order, quoting, line ends and everything else stay. The edited text is parsed again and compared
// with the same edit done on the parsed document; when they differ in anything, the edit is refused
// and nothing changes.
//
// Only TOML is edited. All functions are thread-safe; none keeps state.
#pragma once

#include <chrono>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <boost/json/value.hpp>

#include <muster/error.hpp>
#include <muster/rules/path.hpp>

namespace muster::rules {

// A value as it is written in TOML, on one line. Fails for `null`, which TOML cannot say.
Result<std::string> to_toml(const boost::json::value& value);
// A quoted TOML string.
std::string toml_string(std::string_view text);
// What a person typed after `key=`: a TOML value if it is one, else a string. Returns TOML.
std::string toml_value_or_string(std::string_view text);

// Where a rule goes. `rule_id` is the neighbour of `before` and `after`.
struct RulePlace {
  enum class Where { first, last, before, after };
  Where where = Where::last;
  std::string rule_id = {};
};

// Sets one value of a rule; the path leads from the rule's `values`. A table replaces a table key
// by key and an array element by element, so that comments between those that stay are kept. Tables
// on the way are made.
struct SetValue {
  std::string rule_id;
  Path path;
  std::string value;  // TOML
};

// Takes a value out of a rule. Tables that this leaves empty go too, unless comments belong to
// them.
struct RemoveValue {
  std::string rule_id;
  Path path;
};

// Makes the rule delete what earlier rules set at `path`, by its `unset` list; `RemoveUnset` is the
// reverse. Adding a path twice changes nothing.
struct AddUnset {
  std::string rule_id;
  Path path;
};
struct RemoveUnset {
  std::string rule_id;
  Path path;
};

// Sets the globs that one fact must match; none removes the condition. Refused when the rule's
// conditions are alternatives, because it is not clear in which of them.
struct SetCondition {
  std::string rule_id;
  std::string fact;
  std::vector<std::string> globs;
};

// Replaces all conditions: a TOML table or an array of tables. Empty: the rule always applies.
struct SetConditions {
  std::string rule_id;
  std::string conditions;  // TOML
};

struct SetDescription {
  std::string rule_id;
  std::string description;
};

struct RenameRule {
  std::string rule_id;
  std::string new_rule_id;
};

// Adds a rule without values; `SetValue` in the same call fills it.
struct AddRule {
  std::string rule_id;
  std::string description;
  RulePlace place = {};
};

// Removes a rule with the comments in it and right above it.
struct RemoveRule {
  std::string rule_id;
};

// Moves a rule with the comments in it and right above it.
struct MoveRule {
  std::string rule_id;
  RulePlace place;
};

using Edit = std::variant<SetValue, RemoveValue, AddUnset, RemoveUnset, SetCondition, SetConditions,
                          SetDescription, RenameRule, AddRule, RemoveRule, MoveRule>;

// Applies the edits in order, all or none. An edit that changes nothing is a success.
// Fails as `not_found` for a rule or value that is not there (naming the nearest), as `invalid` for
// an edit that makes no sense, as `config` for a text that is not TOML or would no longer be a
// right worker configuration, as `unsupported` when the layout allows no safe edit.
Result<std::string> edit_text(std::string_view text, std::span<const Edit> edits);

struct FileEdit {
  std::string before;
  std::string after;
};

struct EditFileOptions {
  bool dry_run = false;  // read and edit, do not write
  std::chrono::milliseconds lock_deadline =
      std::chrono::seconds(10);  // for other editors to finish
};

// Applies the edits to a file. Other editors that use this function wait for one another, so no
// edit is lost; when any other program changes the file meanwhile, the edits are applied to what it
// wrote. The file is replaced atomically and durably: a reader sees the old or the new text, also
// after a crash. Mode and owner stay, and a symbolic link stays a link.
Result<FileEdit> edit_file(const std::filesystem::path& file, std::span<const Edit> edits,
                           const EditFileOptions& options = {});

}  // namespace muster::rules
