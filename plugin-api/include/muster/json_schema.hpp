// JSON Schema: what a plugin says about its configuration, checked by the host in words that a
// person understands. Understands drafts 6, 7, 2019-09 and 2020-12 (the one in "$schema").
//
// A schema is compiled once and then only read: any number of threads may validate with one Schema.
// Neither a schema nor an instance, however odd or hostile, makes it throw, crash or run for long:
// patterns run in linear time (RE2), recursion and work are bounded, and what goes past a bound is
// reported as a violation.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::json {

struct Violation {
  std::string path;         // JSON pointer into the instance: "/rules/0/values"; empty: all of it
  std::string message;      // what is there, what should be, and the nearest known key if any
  std::string schema_path;  // the keyword that was violated: "#/properties/rules/type"

  friend bool operator==(const Violation&, const Violation&) = default;
};

// One line for people: "/rules/0: lacks the key "ruleId"".
std::string to_string(const Violation& violation);

enum class Draft { draft6, draft7, draft2019_09, draft2020_12 };

struct SchemaOptions {
  Draft draft = Draft::draft2020_12;  // for a schema without "$schema" or with one we do not know
  bool check_formats = true;          // false: "format" is a note to people, as 2019-09 has it
};

// Schemas that others may refer to, by their absolute URI. Nothing is ever fetched.
using SchemaRegistry = std::map<std::string, value, std::less<>>;

namespace schema_detail {
struct Program;
}

class Schema {
 public:
  // Fails as `invalid`, naming the place in the schema, on a malformed keyword, on a reference to
  // something unknown, and on a pattern that cannot run in linear time (lookaround,
  // backreferences). The error's `code` is that place where it is known: "#/properties/a/type".
  // Keeps no pointer into its arguments.
  static Result<Schema> compile(const value& schema, const SchemaRegistry& others = {},
                                const SchemaOptions& options = {});

  // Empty: the instance is valid. At most 50 violations are reported. Thread-safe.
  std::vector<Violation> validate(const value& instance) const;

 private:
  explicit Schema(std::shared_ptr<const schema_detail::Program> program);

  std::shared_ptr<const schema_detail::Program> program_;
};

}  // namespace muster::json
