// Pattern and text, divided by the first newline. The automaton must agree with a table of all
// (pattern position, text position) pairs, which is slow and plain.
#include <cstdint>
#include <string_view>
#include <vector>

#include <muster/rules/glob.hpp>

#include "require.hpp"

namespace {

struct Token {
  bool star = false, any = false, negated = false;
  std::vector<std::pair<unsigned char, unsigned char>> ranges;

  bool takes(unsigned char c) const {
    if (any) return true;
    bool inside = false;
    for (const auto& [first, last] : ranges) inside = inside || (first <= c && c <= last);
    return inside != negated;
  }
};

unsigned char next(std::string_view pattern, std::size_t& i) {
  if (pattern[i] == '\\') ++i;
  return static_cast<unsigned char>(pattern[i++]);
}

// Only for patterns that were accepted, in ASCII.
std::vector<Token> tokens_of(std::string_view pattern) {
  std::vector<Token> tokens;
  for (std::size_t i = 0; i < pattern.size();) {
    Token token;
    if (pattern[i] == '*') {
      token.star = true, ++i;
    } else if (pattern[i] == '?') {
      token.any = true, ++i;
    } else if (pattern[i] == '[') {
      ++i;
      if (pattern[i] == '!' || pattern[i] == '^') token.negated = true, ++i;
      while (pattern[i] != ']') {
        const unsigned char first = next(pattern, i);
        unsigned char last = first;
        if (pattern[i] == '-' && pattern[i + 1] != ']') last = next(pattern, ++i);
        token.ranges.emplace_back(first, last);
      }
      ++i;
    } else {
      const unsigned char c = next(pattern, i);
      token.ranges.emplace_back(c, c);
    }
    tokens.push_back(token);
  }
  return tokens;
}

bool table_matches(const std::vector<Token>& tokens, std::string_view text) {
  std::vector<char> row(text.size() + 1, 0);
  row[0] = 1;
  for (const Token& token : tokens) {
    std::vector<char> following(text.size() + 1, 0);
    for (std::size_t i = 0; i <= text.size(); ++i) {
      if (token.star)
        following[i] = row[i] || (i > 0 && following[i - 1]);
      else if (i > 0)
        following[i] = row[i - 1] && token.takes(static_cast<unsigned char>(text[i - 1]));
    }
    row.swap(following);
  }
  return row.back();
}

bool is_ascii(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) >= 0x80) return false;
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(bytes), size);
  const auto newline = input.find('\n');
  const std::string_view pattern = input.substr(0, newline);
  const std::string_view text = newline == std::string_view::npos ? "" : input.substr(newline + 1);
  const auto glob = muster::rules::Glob::parse(pattern, 512);
  if (!glob) {
    REQUIRE(!glob.error().message.empty());
    return 0;
  }
  const bool matched = glob->matches(text);
  if (glob->is_literal()) REQUIRE(matched == (text == glob->literal()));
  if (glob->matches_all()) REQUIRE(matched);
  if (is_ascii(input)) REQUIRE(matched == table_matches(tokens_of(pattern), text));
  return 0;
}
