#include <algorithm>
#include <array>
#include <utility>

#include <muster/rules/glob.hpp>
#include <muster/rules/problem.hpp>

#include "unicode.hpp"

namespace muster::rules {
namespace {

constexpr char32_t past_last = 0x110000;

// Half-open ranges of code points, sorted, not touching.
using Ranges = std::vector<std::pair<char32_t, char32_t>>;

void normalise(Ranges& ranges) {
  std::sort(ranges.begin(), ranges.end());
  Ranges merged;
  for (const auto& range : ranges)
    if (!merged.empty() && range.first <= merged.back().second)
      merged.back().second = std::max(merged.back().second, range.second);
    else
      merged.push_back(range);
  ranges = std::move(merged);
}

Ranges complement(const Ranges& ranges) {
  Ranges result;
  char32_t begin = 0;
  for (const auto& [first, end] : ranges) {
    if (first > begin) result.emplace_back(begin, first);
    begin = end;
  }
  if (begin < past_last) result.emplace_back(begin, past_last);
  return result;
}

struct Step {
  Ranges accepts;
  bool star_before = false;
};

// Reads a pattern into the characters that it takes one after another, and where stars stand.
class PatternReader {
 public:
  explicit PatternReader(std::string_view text) : text_(text) {}

  std::string read() {  // what is wrong, or empty
    while (offset_ < text_.size()) {
      const char32_t c = next_code_point(text_, offset_);
      std::string wrong;
      if (c == '*')
        star_ = true;
      else if (c == '?')
        any_ = true, add({{0, past_last}});
      else if (c == '[')
        wrong = read_class();
      else
        wrong = read_literal(c);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  std::vector<Step> steps;
  bool star_at_end() const { return star_; }
  // Only literal characters, with at most a star behind them.
  bool is_simple() const {
    return !any_ &&
           std::none_of(steps.begin(), steps.end(), [](const Step& s) { return s.star_before; });
  }
  std::string literal;

 private:
  void add(Ranges accepts) { steps.push_back({std::move(accepts), std::exchange(star_, false)}); }

  std::string read_literal(char32_t c) {
    if (c == '\\') {
      if (offset_ == text_.size()) return "the \\ at its end escapes nothing";
      c = next_code_point(text_, offset_);
    }
    append_utf8(literal, c);
    add({{c, c + 1}});
    return {};
  }

  std::string read_class() {
    any_ = true;
    constexpr const char* unclosed = "the [ has no closing ]";
    if (offset_ == text_.size()) return unclosed;
    const bool negated = text_[offset_] == '!' || text_[offset_] == '^';
    if (negated) ++offset_;
    Ranges ranges;
    for (;;) {
      if (offset_ == text_.size()) return unclosed;
      if (text_[offset_] == ']') break;
      char32_t first = 0, last = 0;
      if (!read_class_character(first)) return unclosed;
      last = first;
      if (offset_ + 1 < text_.size() && text_[offset_] == '-' && text_[offset_ + 1] != ']') {
        ++offset_;
        if (!read_class_character(last)) return unclosed;
      }
      if (last < first) return "the range in its [ ] runs backwards";
      ranges.emplace_back(first, last + 1);
    }
    ++offset_;
    if (ranges.empty()) return "its [ ] is empty (write \\] for a bracket inside)";
    normalise(ranges);
    add(negated ? complement(ranges) : ranges);
    return {};
  }

  bool read_class_character(char32_t& c) {
    c = next_code_point(text_, offset_);
    if (c != '\\') return true;
    if (offset_ == text_.size()) return false;
    c = next_code_point(text_, offset_);
    return true;
  }

  std::string_view text_;
  std::size_t offset_ = 0;
  bool star_ = false, any_ = false;
};

}  // namespace

class GlobCompiler {
 public:
  static Glob compile(std::string_view pattern, PatternReader& reader) {
    Glob glob;
    glob.pattern_ = pattern;
    glob.states_ = reader.steps.size() + 1;
    if (reader.is_simple()) {
      glob.literal_ = std::move(reader.literal);
      glob.shape_ = reader.star_at_end() ? Glob::Shape::prefix : Glob::Shape::literal;
      return glob;
    }
    glob.shape_ = Glob::Shape::general;
    glob.words_ = (glob.states_ + 63) / 64;
    cut_intervals(glob, reader.steps);
    glob.stay_.assign(glob.words_, 0);
    for (std::size_t i = 0; i < reader.steps.size(); ++i)
      if (reader.steps[i].star_before) set(glob.stay_, 0, i);
    if (reader.star_at_end()) set(glob.stay_, 0, reader.steps.size());
    return glob;
  }

 private:
  static void set(std::vector<std::uint64_t>& bits, std::size_t row, std::size_t bit) {
    bits[row + bit / 64] |= std::uint64_t{1} << bit % 64;
  }

  static void cut_intervals(Glob& glob, const std::vector<Step>& steps) {
    auto& begins = glob.interval_begins_;
    begins = {0};
    for (const Step& step : steps)
      for (const auto& [first, end] : step.accepts) {
        begins.push_back(first);
        if (end < past_last) begins.push_back(end);
      }
    std::sort(begins.begin(), begins.end());
    begins.erase(std::unique(begins.begin(), begins.end()), begins.end());
    glob.enter_.assign(begins.size() * glob.words_, 0);
    for (std::size_t s = 0; s < steps.size(); ++s)
      for (const auto& [first, end] : steps[s].accepts) {
        auto row = static_cast<std::size_t>(std::lower_bound(begins.begin(), begins.end(), first) -
                                            begins.begin());
        for (; row < begins.size() && begins[row] < end; ++row)
          set(glob.enter_, row * glob.words_, s + 1);
      }
  }
};

Result<Glob> Glob::parse(std::string_view pattern, std::size_t max_length) {
  std::size_t length = 0;
  for (std::size_t offset = 0; offset < pattern.size(); ++length)
    if (is_invalid_byte(next_code_point(pattern, offset)))
      return Error::invalid("the pattern is not valid UTF-8");
  if (length > max_length)
    return Error::invalid("the pattern has " + std::to_string(length) +
                          " characters, more than the " + std::to_string(max_length) + " allowed");
  PatternReader reader(pattern);
  if (std::string wrong = reader.read(); !wrong.empty())
    return Error::invalid("the pattern " + in_quotes(pattern) + " is not a glob: " + wrong);
  return GlobCompiler::compile(pattern, reader);
}

bool Glob::matches(std::string_view text) const {
  switch (shape_) {
    case Shape::literal:
      return text == literal_;
    case Shape::prefix:
      return text.starts_with(literal_);
    case Shape::general:
      return run(text);
  }
  return false;
}

bool Glob::run(std::string_view text) const {
  constexpr std::size_t small = 5;  // 257 states, the most that the default limit allows
  std::array<std::uint64_t, small> fixed{};
  std::vector<std::uint64_t> large(words_ > small ? words_ : 0);
  std::uint64_t* const state = words_ > small ? large.data() : fixed.data();
  state[0] = 1;
  for (std::size_t offset = 0; offset < text.size();) {
    const char32_t c = next_code_point(text, offset);
    const auto interval = std::upper_bound(interval_begins_.begin(), interval_begins_.end(), c) -
                          interval_begins_.begin() - 1;
    const std::uint64_t* const enter = &enter_[static_cast<std::size_t>(interval) * words_];
    std::uint64_t carry = 0, alive = 0;
    for (std::size_t w = 0; w < words_; ++w) {
      const std::uint64_t moved = state[w] << 1 | carry;
      carry = state[w] >> 63;
      state[w] = (moved & enter[w]) | (state[w] & stay_[w]);
      alive |= state[w];
    }
    if (!alive) return false;
  }
  const std::size_t last = states_ - 1;
  return state[last / 64] >> last % 64 & 1;
}

}  // namespace muster::rules
