#include "lib/base/log_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/json.hpp>

namespace muster {
namespace {

constexpr std::string_view hidden = "(hidden)";

// Length of the well-formed UTF-8 sequence at the front, 0 if there is none.
std::size_t sequence_length(std::string_view bytes) {
  const auto at = [&](std::size_t i) {
    return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0u;
  };
  const unsigned lead = at(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((at(i) & 0xc0) != 0x80) return 0;
  const unsigned second = at(1);
  const bool overlong = (lead == 0xe0 && second < 0xa0) || (lead == 0xf0 && second < 0x90);
  const bool surrogate = lead == 0xed && second > 0x9f;
  const bool too_large = lead == 0xf4 && second > 0x8f;
  return overlong || surrogate || too_large ? 0 : length;
}

json::value value_of(const LogField& field) {
  if (names_a_secret(field.name)) return json::value(json::string(hidden));
  if (const auto* text = std::get_if<std::string>(&field.value))
    return json::value(json::string(valid_utf8(*text)));
  return std::visit(
      [](const auto& content) -> json::value {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::string>)
          return nullptr;
        else
          return content;
      },
      field.value);
}

bool is_plain_word(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '=' && c != '\\';
  });
}

std::string quoted_if_needed(const json::value& content) {
  if (!content.is_string()) return json::write(content);
  const std::string_view text = content.get_string();
  return is_plain_word(text) ? std::string(text) : json::write(content);
}

// Messages keep their spaces and umlauts; only what could forge a line or drive a terminal goes.
std::string on_one_line(std::string_view message) {
  std::string text;
  for (const char c : valid_utf8(message)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      text += c;
      continue;
    }
    char escaped[8];
    std::snprintf(escaped, sizeof escaped, c == '\n' ? "\\n" : "\\x%02x", byte);
    text += escaped;
  }
  return text;
}

}  // namespace

std::string valid_utf8(std::string_view bytes) {
  std::string text;
  text.reserve(bytes.size());
  while (!bytes.empty()) {
    const std::size_t length = sequence_length(bytes);
    if (length == 0)
      text += "\xef\xbf\xbd";
    else
      text += bytes.substr(0, length);
    bytes.remove_prefix(std::max<std::size_t>(1, length));
  }
  return text;
}

bool names_a_secret(std::string_view field) {
  static constexpr std::array<std::string_view, 6> words{
      "token", "secret", "password", "authorization", "credential", "privatekey"};
  std::string plain;
  for (const char c : field)
    if (std::isalnum(static_cast<unsigned char>(c)))
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  if (plain.ends_with("file") || plain.ends_with("path")) return false;
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return plain.find(word) != std::string::npos; });
}

std::string json_line(const LogEntry& entry) {
  json::object line;
  line["time"] = format_time(entry.time);
  line["level"] = to_string(entry.level);
  line["message"] = valid_utf8(entry.message);
  for (const LogField& field : entry.fields) {
    std::string name = valid_utf8(field.name);
    if (name == "time" || name == "level" || name == "message") name += '_';
    line[name] = value_of(field);
  }
  return json::write(line);
}

std::string text_line(const LogEntry& entry) {
  std::string line = format_time(entry.time) + " ";
  std::string level(to_string(entry.level));
  level.resize(8, ' ');
  line += level + on_one_line(entry.message);
  for (const LogField& field : entry.fields)
    line += " " + on_one_line(field.name) + "=" + quoted_if_needed(value_of(field));
  return line;
}

}  // namespace muster
