// Patterns of conditions: `*` any run of characters, `?` one character, `[a-z]` one of a class,
// `[!a-z]` (or `[^a-z]`) one not of it, `\` takes the next character literally. Case matters; no
// character is special in the text; characters are Unicode code points. The whole text must match.
//
// Matching reads the text once, from left to right, whatever the pattern: time is linear in the
// text, and there is nothing to backtrack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::rules {

// A value; const functions are thread-safe.
class Glob {
 public:
  // Fails as `invalid` with a sentence that says what is wrong with the pattern.
  static Result<Glob> parse(std::string_view pattern, std::size_t max_length = 256);

  bool matches(std::string_view text) const;

  const std::string& pattern() const { return pattern_; }
  // True if the pattern matches exactly one text, which is `literal()`.
  bool is_literal() const { return shape_ == Shape::literal; }
  const std::string& literal() const { return literal_; }
  // True for `*` and its like: matches every text.
  bool matches_all() const { return shape_ == Shape::prefix && literal_.empty(); }

  friend bool operator==(const Glob& a, const Glob& b) { return a.pattern_ == b.pattern_; }

 private:
  enum class Shape { literal, prefix, general };  // prefix: a literal, then `*`

  Glob() = default;
  friend class GlobCompiler;
  bool run(std::string_view text) const;

  std::string pattern_;
  std::string literal_;
  Shape shape_ = Shape::literal;
  // The general shape is an automaton whose state i means "the first i characters of the pattern
  // are matched". The code points are cut into intervals that the pattern does not tell apart; each
  // has a row of bits: which states may be entered by reading a character of it.
  std::size_t words_ = 0;
  std::vector<char32_t> interval_begins_;
  std::vector<std::uint64_t> enter_;  // words_ per interval
  std::vector<std::uint64_t> stay_;   // states followed by a star
  std::size_t states_ = 0;
};

}  // namespace muster::rules
