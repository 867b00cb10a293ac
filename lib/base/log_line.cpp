#include "lib/base/log_line.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/json.hpp>
#include <muster/utf8.hpp>

namespace muster {
namespace {

constexpr std::string_view hidden = "(hidden)";

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
