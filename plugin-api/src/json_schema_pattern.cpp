#include "json_schema_pattern.hpp"

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <re2/re2.h>

namespace muster::json::schema_detail {
namespace {

// ECMAScript's \s; RE2's own is ASCII only and lacks \v.
constexpr std::string_view whitespace = R"(\t\n\v\f\r \x{a0}\x{feff}\x{2028}\x{2029}\p{Zs})";
constexpr std::string_view anything = R"(\x{0}-\x{10ffff})";

std::string hex_escape(unsigned code) {
  char digits[8];
  const auto end = std::to_chars(digits, digits + sizeof digits, code, 16);
  return "\\x{" + std::string(digits, end.ptr) + "}";
}

// Unicode's long names for what RE2 knows by short ones.
std::string_view property(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 12> short_names{{
      {"Letter", "L"},
      {"Lowercase_Letter", "Ll"},
      {"Uppercase_Letter", "Lu"},
      {"Mark", "M"},
      {"Number", "N"},
      {"Decimal_Number", "Nd"},
      {"digit", "Nd"},
      {"Punctuation", "P"},
      {"punct", "P"},
      {"Symbol", "S"},
      {"Separator", "Z"},
      {"Other", "C"},
  }};
  for (const std::string_view prefix : {"Script=", "sc=", "General_Category=", "gc="})
    if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  for (const auto& [long_name, short_name] : short_names)
    if (long_name == name) return short_name;
  return name;
}

class Translation {
 public:
  explicit Translation(std::string_view source) : rest_(source) {}

  Result<std::string> run() {
    while (!rest_.empty()) {
      if (in_class_)
        inside_class();
      else
        outside_class();
      if (!problem_.empty()) return Error::invalid(problem_);
    }
    return std::move(out_);
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  void outside_class() {
    if (take("(?=") || take("(?!")) return refuse("it has a lookahead");
    if (take("(?<=") || take("(?<!")) return refuse("it has a lookbehind");
    if (take("(?<")) {
      out_ += "(?P<";
    } else if (take("(?:")) {
      out_ += "(?:";
    } else if (rest_.starts_with("(?")) {
      problem_ = "the group \"" + std::string(rest_.substr(0, 3)) + "\" is not known";
    } else if (take("[^]")) {
      out_ += "[" + std::string(anything) + "]";
    } else if (take("[]")) {
      out_ += "[^" + std::string(anything) + "]";
    } else if (take("[")) {
      in_class_ = true;
      out_ += take("^") ? "[^" : "[";
    } else if (take(".")) {
      out_ += R"([^\n\r\x{2028}\x{2029}])";
    } else if (take("\\")) {
      escape();
    } else {
      copy();
    }
  }

  void inside_class() {
    if (take("]")) {
      in_class_ = false;
      out_ += "]";
    } else if (take("[")) {  // RE2 would look for [:alpha:]
      out_ += "\\[";
    } else if (take("\\")) {
      escape();
    } else {
      copy();
    }
  }

  void escape() {
    if (rest_.empty()) {
      problem_ = "it ends with a backslash";
      return;
    }
    const char c = rest_[0];
    rest_.remove_prefix(1);
    if (std::string_view("dDwWtnrfv").find(c) != std::string_view::npos || (c == 'B' && !in_class_))
      out_ += {'\\', c};
    else if (c == 'b')
      out_ += in_class_ ? "\\x{8}" : "\\b";
    else if (c == 's')
      out_ += in_class_ ? std::string(whitespace) : "[" + std::string(whitespace) + "]";
    else if (c == 'S')
      out_ += in_class_ ? "\\S" : "[^" + std::string(whitespace) + "]";
    else if (c == '0')
      out_ += "\\x{0}";
    else if ((c >= '1' && c <= '9') || c == 'k')
      refuse("it has a backreference");
    else if (c == 'c' && !rest_.empty())
      control();
    else if (c == 'x' || c == 'u')
      code_point(c);
    else if (c == 'p' || c == 'P')
      unicode_property(c);
    else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'))
      problem_ = std::string("the escape \"\\") + c + "\" is not known";
    else
      out_ += {'\\', c};
  }

  void control() {
    out_ += hex_escape(static_cast<unsigned char>(rest_[0]) % 32);
    rest_.remove_prefix(1);
  }

  std::optional<unsigned> hex(std::size_t digits) {
    unsigned code = 0;
    if (rest_.size() < digits) return std::nullopt;
    const auto end = std::from_chars(rest_.data(), rest_.data() + digits, code, 16);
    if (end.ptr != rest_.data() + digits) return std::nullopt;
    rest_.remove_prefix(digits);
    return code;
  }

  void code_point(char kind) {
    std::optional<unsigned> code;
    if (kind == 'u' && take("{")) {
      const auto end = rest_.find('}');
      if (end != std::string_view::npos && end > 0 && end <= 6) code = hex(end);
      if (!take("}")) code.reset();
    } else {
      code = hex(kind == 'x' ? 2 : 4);
      if (code && *code >= 0xD800 && *code < 0xDC00 && take("\\u")) {
        const auto low = hex(4);
        code = low && *low >= 0xDC00 && *low < 0xE000
                   ? std::optional(0x10000 + ((*code - 0xD800) << 10) + (*low - 0xDC00))
                   : std::nullopt;
      }
    }
    if (code)
      out_ += hex_escape(*code);
    else
      problem_ = std::string("the escape \"\\") + kind + "\" is not complete";
  }

  void unicode_property(char kind) {
    const auto end = rest_.find('}');
    if (!rest_.starts_with('{') || end == std::string_view::npos) {
      problem_ = std::string("\"\\") + kind + "\" needs a name in braces";
      return;
    }
    out_ += std::string{'\\', kind, '{'} + std::string(property(rest_.substr(1, end - 1))) + "}";
    rest_.remove_prefix(end + 1);
  }

  void refuse(std::string_view what) {
    problem_ = std::string(what) + ", which cannot be matched in linear time";
  }

  void copy() {
    out_ += rest_[0];
    rest_.remove_prefix(1);
  }

  std::string_view rest_;
  std::string out_;
  std::string problem_;
  bool in_class_ = false;
};

}  // namespace

Pattern::Pattern(std::string text, std::shared_ptr<const re2::RE2> program)
    : text_(std::move(text)), program_(std::move(program)) {}

Result<Pattern> Pattern::compile(std::string_view ecmascript) {
  constexpr std::size_t longest = 16 * 1024;
  if (ecmascript.size() > longest) return Error::invalid("it is longer than 16 KiB");
  auto translated = Translation(ecmascript).run();
  if (!translated) return translated.error();
  re2::RE2::Options options(re2::RE2::Quiet);
  options.set_max_mem(4 << 20);
  options.set_never_capture(true);
  auto program = std::make_shared<const re2::RE2>(*translated, options);
  if (!program->ok()) return Error::invalid(program->error());
  return Pattern(std::string(ecmascript), std::move(program));
}

bool Pattern::matches_part_of(std::string_view text) const {
  return re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *program_);
}

bool is_regex(std::string_view text) {
  return Pattern::compile(text).has_value();
}

}  // namespace muster::json::schema_detail
