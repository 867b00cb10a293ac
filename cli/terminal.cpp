#include "cli/terminal.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <sys/ioctl.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "cli/exit_code.hpp"

namespace muster::cli {
namespace {

bool wants_colour(int descriptor) {
  const char* no_color = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && (!no_color || !*no_color) &&
         !(term && std::string_view(term) == "dumb");
}

// The bytes of a character that a terminal acts on, as this text begins with it; 0 if it does not.
// C1 controls are control characters of two bytes; the others change the order of letters.
std::size_t active_character(std::string_view text) {
  const auto byte = [&](std::size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0U;
  };
  if (byte(0) < 0x20 || byte(0) == 0x7F) return 1;
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0x9F) return 2;
  if (byte(0) != 0xE2) return 0;
  const bool embedding = byte(1) == 0x80 && byte(2) >= 0xAA && byte(2) <= 0xAE;
  const bool isolate = byte(1) == 0x81 && byte(2) >= 0xA6 && byte(2) <= 0xA9;
  return embedding || isolate ? 3 : 0;
}

unsigned code_point(std::string_view bytes) {
  if (bytes.size() == 1) return static_cast<unsigned char>(bytes[0]);
  unsigned code = static_cast<unsigned char>(bytes[0]) & (bytes.size() == 2 ? 0x1FU : 0x0FU);
  for (const char c : bytes.substr(1)) code = code << 6 | (static_cast<unsigned char>(c) & 0x3FU);
  return code;
}

template <class Escape>
std::string without_active_characters(std::string_view text, Escape escape) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t active = active_character(text.substr(at));
    if (active > 0)
      out += escape(text.substr(at, active));
    else
      out += text[at];
    at += std::max<std::size_t>(active, 1);
  }
  return out;
}

std::string formatted(const char* format, unsigned number) {
  char digits[16];
  std::snprintf(digits, sizeof digits, format, number);
  return digits;
}

// As JSON says it: within strings these may be written as \u009b, and elsewhere there are none.
std::string harmless_json(const std::string& text) {
  return without_active_characters(text, [](std::string_view bytes) {
    return bytes == "\n" ? "\n" : formatted("\\u%04x", code_point(bytes));
  });
}

std::string in_words(long long seconds) {
  const auto text = [](long long number, char unit) { return std::to_string(number) + unit; };
  if (seconds < 120) return text(seconds, 's');
  if (seconds < 120 * 60) return text(seconds / 60, 'm');
  if (seconds < 48 * 3600) return text(seconds / 3600, 'h');
  return text(seconds / 86400, 'd');
}

std::size_t columns_of_stdout() {
  struct winsize size = {};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  const char* const given = std::getenv("COLUMNS");
  const long columns = given ? std::strtol(given, nullptr, 10) : 0;
  return columns >= 20 && columns <= 10'000 ? static_cast<std::size_t>(columns) : View::no_limit;
}

}  // namespace

std::string harmless(std::string_view text, NewLines lines) {
  return without_active_characters(text, [lines](std::string_view bytes) {
    if (bytes == "\n" && lines == NewLines::kept) return std::string(bytes);
    return formatted(bytes.size() == 1 ? "\\x%02x" : "\\u%04x", code_point(bytes));
  });
}

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

View View::of_stdout(const ViewOptions& options) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now());
  return View(Style::of_stdout(), columns_of_stdout(), now, !options.no_headers,
              options.format == "wide");
}

std::string View::age(const std::string& time) const {
  const auto at = parse_time(time);
  if (!at || time.starts_with("9999") || now_ == Time{}) return "";
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now_ - *at).count();
  return seconds < 0 ? "in " + in_words(-seconds) : in_words(seconds);
}

std::string View::time(const std::string& time) const {
  if (time.size() < 19) return harmless(time);
  std::string shown = harmless(time.substr(0, 19));
  shown[10] = ' ';
  const std::string passed = age(time);
  return passed.empty() ? shown : shown + " (" + passed + ")";
}

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size()) throw Exit{exit_failed};
}

void print_json(const json::value& document) {
  auto text = json::write_pretty(document);
  if (!text.ends_with('\n')) text += '\n';
  print(harmless_json(text));
}

void print_json_line(const json::value& document) {
  print(harmless_json(json::write(document)) + "\n");
}

std::string show(const json::value& value) {
  return json::write(value);
}

}  // namespace muster::cli
