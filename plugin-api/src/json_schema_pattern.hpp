// JSON Schema's patterns are ECMAScript's; we run them with RE2, in time linear in the text. The
// few constructs that have another spelling there are rewritten, those that it cannot do are
// refused.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <muster/error.hpp>

namespace re2 {
class RE2;
}

namespace muster::json::schema_detail {

// Thread-safe.
class Pattern {
 public:
  // The error's message is a clause that says why not: "it has a lookahead, ...".
  static Result<Pattern> compile(std::string_view ecmascript);

  bool matches_part_of(std::string_view text) const;
  const std::string& text() const { return text_; }

 private:
  Pattern(std::string text, std::shared_ptr<const re2::RE2> program);

  std::string text_;  // as the schema has it, for messages
  std::shared_ptr<const re2::RE2> program_;
};

bool is_regex(std::string_view text);

}  // namespace muster::json::schema_detail
