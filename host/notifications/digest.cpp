#include "host/notifications/digest.hpp"

#include <algorithm>
#include <map>

#include <muster/codec.hpp>
#include <muster/utf8.hpp>

namespace muster::notifications {
namespace {

constexpr std::size_t longest_text = 1000;  // of one condition

const char* in_words(ItemKind kind) {
  switch (kind) {
    case ItemKind::began:
      return "NEW";
    case ItemKind::lasts:
      return "STILL";
    case ItemKind::resolved:
      break;
  }
  return "RESOLVED";
}

// Without control characters, and not longer than a reader wants.
std::string printable(std::string_view text) {
  std::string shown = valid_utf8(text.substr(0, longest_text));
  for (char& c : shown)
    if ((static_cast<unsigned char>(c) < ' ' && c != '\n') || c == '\x7f') c = ' ';
  return shown + (text.size() > longest_text ? "..." : "");
}

std::string inside_json_string(std::string_view text) {
  const std::string quoted = json::write(json::value(text));
  return quoted.substr(1, quoted.size() - 2);
}

std::string disarmed(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else
      out += c;
    if (c == '@') out += "\u200b";  // "@channel" is no mention with something behind its sign
  }
  return out;
}

void replace_all(std::string& text, std::string_view what, const std::string& with) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
    text.replace(at, what.size(), with);
}

}  // namespace

std::string subject_of(const Message& message) {
  std::map<ItemKind, std::size_t> counts;
  for (const Item& item : message.items) ++counts[item.kind];
  std::string numbers;
  const auto count = [&](ItemKind kind, const char* word) {
    if (counts[kind] > 0)
      numbers += (numbers.empty() ? "" : ", ") + std::to_string(counts[kind]) + " " + word;
  };
  count(ItemKind::began, "new");
  count(ItemKind::lasts, "still there");
  count(ItemKind::resolved, "resolved");
  std::string names;
  constexpr std::size_t most_names = 3;
  for (std::size_t at = 0; at < std::min(most_names, message.items.size()); ++at)
    names += (names.empty() ? "" : ", ") + printable(message.items[at].cause) + " " +
             printable(message.items[at].subject);
  if (message.items.size() > most_names) names += ", ...";
  return "muster: " + numbers + " (" + names + ")";
}

std::string text_of(const Message& message, std::string_view url) {
  std::string text;
  for (const Item& item : message.items) {
    text += std::string(in_words(item.kind)) + "  " + printable(item.cause) + "  " +
            printable(item.subject) + "\n" + printable(item.text) + "\nSince " +
            format_time(item.since);
    if (item.kind == ItemKind::resolved) text += ", over at " + format_time(item.at);
    text += ".\n\n";
  }
  if (message.left_out > 0)
    text += "And " + std::to_string(message.left_out) + " more: see `muster status`.\n\n";
  text += "The host: " + std::string(url) + "\n";
  return text;
}

std::string chat_body(std::string_view pattern, const Message& message, std::string_view url) {
  std::string body(pattern);
  // The text may hold "{{title}}" itself, so the title goes in first.
  replace_all(body, "{{title}}", inside_json_string(disarmed(subject_of(message))));
  replace_all(body, "{{text}}", inside_json_string(disarmed(text_of(message, url))));
  return body;
}

}  // namespace muster::notifications
