#include "plugins/provider/static/command_template.hpp"

#include <algorithm>

namespace muster::static_machines {
namespace {

bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

}  // namespace

bool is_variable_name(std::string_view name) {
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, [](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '_' || c == '-';
  });
}

Result<CommandTemplate> CommandTemplate::parse(const std::string& key,
                                               const std::vector<std::string>& texts) {
  CommandTemplate made;
  if (texts.empty()) return Error::invalid(key + ": is empty; its first text is the program");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string at = key + "[" + std::to_string(i) + "]";
    const std::string& text = texts[i];
    if (i == 0 && text.empty()) return Error::invalid(at + ": the program's name is empty");
    if (text.find('\0') != std::string::npos)
      return Error::invalid(at + ": has a byte 0, which no argument can have");
    auto& pieces = made.arguments_.emplace_back();
    pieces.emplace_back();
    for (std::size_t c = 0; c < text.size(); ++c) {
      const bool brace = text[c] == '{' || text[c] == '}';
      if (!brace || text.substr(c, 2) == std::string(2, text[c])) {
        pieces.back().text += text[c];
        c += brace ? 1 : 0;
        continue;
      }
      const auto end = text.find('}', c);
      if (text[c] == '}' || end == std::string::npos)
        return Error::invalid(at + ": a brace stands alone; write " + std::string(2, text[c]) +
                              " for a brace");
      const std::string name = text.substr(c + 1, end - c - 1);
      if (!is_variable_name(name))
        return Error::invalid(at + ": \"{" + name + "}\" holds no name; write {{ for a brace");
      if (i == 0) return Error::invalid(at + ": the program itself cannot be filled in");
      made.places_.push_back({at, name});
      pieces.push_back({name, true});
      pieces.emplace_back();
      c = end;
    }
  }
  return made;
}

std::vector<std::string> CommandTemplate::filled(const Variables& variables) const {
  std::vector<std::string> texts;
  for (const auto& pieces : arguments_) {
    std::string& text = texts.emplace_back();
    for (const Piece& piece : pieces) text += piece.is_name ? variables.at(piece.text) : piece.text;
  }
  return texts;
}

}  // namespace muster::static_machines
