#include "cli/terminal.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/exit_code.hpp"

namespace muster::cli {
namespace {

bool wants_colour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (!no_color || !*no_color) &&
         !(term && std::string_view(term) == "dumb");
}

// Texts come from files: what would move the cursor or colour the screen is shown, not sent.
std::string harmless(std::string_view text) {
  static constexpr char digits[] = "0123456789abcdef";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) {
      out += "\\x";
      out += digits[byte >> 4];
      out += digits[byte & 15];
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Style Style::of_stdout() {
  return Style(wants_colour(STDOUT_FILENO));
}
Style Style::of_stderr() {
  return Style(wants_colour(STDERR_FILENO));
}

std::string Style::operator()(Look look, std::string_view text) const {
  static constexpr const char* codes[] = {"", "1", "2", "31", "32", "33", "36"};
  std::string safe = harmless(text);
  if (!on_ || look == Look::plain || text.empty()) return safe;
  return "\x1b[" + std::string(codes[static_cast<int>(look)]) + "m" + safe + "\x1b[0m";
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::size_t terminal_columns() {
  struct winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 160;
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_) {
    if (widths.size() < row.size()) widths.resize(row.size());
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], display_width(row[i].text));
  }
  return widths;
}

std::size_t Table::width() const {
  std::size_t total = 0;
  for (const auto width : widths()) total += width + 2;
  return total;
}

std::string Table::text(const Style& style, std::string_view indent) const {
  const auto columns = widths();
  std::string out;
  for (const auto& row : rows_) {
    std::string line(indent);
    std::size_t owed = 0;  // spaces, written only if more text follows
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!row[i].text.empty()) {
        line.append(owed, ' ');
        owed = 0;
        line += style(row[i].look, row[i].text);
      }
      owed += columns[i] - display_width(row[i].text) + 2;
    }
    out += line + "\n";
  }
  return out;
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw Exit{exit_failed};
}

void print_json(const json::value& document) {
  auto text = json::write_pretty(document);
  if (!text.ends_with('\n')) text += '\n';
  print(text);
}

std::string show(const json::value& value) {
  return json::write(value);
}

}  // namespace muster::cli
