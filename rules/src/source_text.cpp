#include "source_text.hpp"

#include "unicode.hpp"

namespace muster::rules {
namespace {

std::string hexadecimal(char32_t value) {
  static constexpr char digits[] = "0123456789ABCDEF";
  return {'0', 'x', digits[value >> 4 & 15], digits[value & 15]};
}

bool is_forbidden_control(char32_t c, std::string_view rest) {
  if (c == '\r') return !rest.starts_with('\n');
  return (c < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
}

}  // namespace

Problems check_text(std::string_view text, const std::string& file, const Limits& limits) {
  Problems problems;
  if (text.size() > limits.max_file_bytes) {
    problems.push_back({Severity::error,
                        {file, {}},
                        "",
                        "the file has " + std::to_string(text.size()) + " bytes, more than the " +
                            std::to_string(limits.max_file_bytes) + " allowed",
                        "split it into several worker configurations",
                        "fileTooLarge"});
    return problems;
  }
  Position at{1, 1};
  for (std::size_t offset = 0; offset < text.size() && problems.size() < limits.max_problems;) {
    const bool first = offset == 0;
    const char32_t c = next_code_point(text, offset);
    if (first && c == 0xFEFF) continue;  // a byte order mark has no column
    if (is_invalid_byte(c))
      problems.push_back({Severity::error,
                          {file, at},
                          "",
                          "the byte " + hexadecimal(c - 0xDC00) + " is not valid UTF-8",
                          "save the file as UTF-8",
                          "invalidUtf8"});
    else if (is_forbidden_control(c, text.substr(offset)))
      problems.push_back({Severity::error,
                          {file, at},
                          "",
                          "the control character " + hexadecimal(c) + " is not allowed here",
                          "remove it, or write it as an escape in a string",
                          "controlCharacter"});
    if (c == '\n')
      ++at.line, at.column = 1;
    else
      ++at.column;
  }
  return problems;
}

}  // namespace muster::rules
