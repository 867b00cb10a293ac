#include "relay/name_pattern.hpp"

#include <algorithm>
#include <cctype>

#include "lib/base/letter_case.hpp"
#include "relay/dns_name.hpp"

namespace muster::relay {
namespace {

using Characters = std::bitset<128>;

bool is_of_name(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

Characters all_of_label() {
  Characters all;
  for (int c = 0; c < 128; ++c)
    if (is_of_name(static_cast<char>(c))) all.set(static_cast<std::size_t>(c));
  return all;
}

std::size_t index_of(char c) {
  return static_cast<unsigned char>(c);
}

Error wrong(std::string_view pattern, const std::string& why) {
  return Error::invalid("`" + std::string(pattern) + "` is not a pattern of host names: " + why);
}

// Reads what stands between the brackets; `at` is behind '[' and then behind ']'.
Result<Characters> read_class(std::string_view pattern, std::size_t& at) {
  const auto end = pattern.find(']', at);
  if (end == pattern.npos) return wrong(pattern, "a '[' has no ']'");
  std::string_view content = pattern.substr(at, end - at);
  at = end + 1;
  const bool negated = content.starts_with('!') || content.starts_with('^');
  if (negated) content.remove_prefix(1);
  if (content.empty()) return wrong(pattern, "there is nothing between the brackets");
  Characters characters;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char first = content[i];
    const bool range = i + 2 < content.size() && content[i + 1] == '-';
    const char last = range ? content[i + 2] : first;
    if (!is_of_name(first) || !is_of_name(last) || first > last)
      return wrong(pattern, "in brackets write letters, digits, '-', '_' or ranges as [0-9]");
    for (char c = first; c <= last; ++c) characters.set(index_of(c));
    if (range) i += 2;
  }
  return negated ? all_of_label() & ~characters : characters;
}

}  // namespace

Result<NamePattern> NamePattern::parse(std::string_view given) {
  NamePattern made;
  made.text_ = given;
  std::string pattern = to_lower(given);
  if (pattern.ends_with('.')) pattern.pop_back();
  if (pattern.empty()) return wrong(given, "it is empty");
  if (pattern.size() > longest_name) return wrong(given, "it is longer than any host name");
  for (std::size_t at = 0; at < pattern.size();) {
    const char c = pattern[at++];
    if (c == '*') {
      const bool twice = at < pattern.size() && pattern[at] == '*';
      while (at < pattern.size() && pattern[at] == '*') ++at;
      made.parts_.push_back({twice ? Part::Kind::any : Part::Kind::any_of_label});
    } else if (c == '?') {
      made.parts_.push_back({Part::Kind::one_of, all_of_label()});
    } else if (c == '[') {
      const auto characters = read_class(pattern, at);
      if (!characters) return characters.error();
      made.parts_.push_back({Part::Kind::one_of, *characters});
    } else if (is_of_name(c) || c == '.') {
      if (c == '.' && (at == 1 || pattern[at - 2] == '.'))
        return wrong(given, "it has an empty label");
      made.parts_.push_back({Part::Kind::one_of, Characters().set(index_of(c))});
    } else {
      return wrong(given, "host names have letters, digits, '-', '_' and dots only");
    }
  }
  return made;
}

// The set of parts that may come next, moved on by each character.
bool NamePattern::matches(std::string_view name) const {
  const std::size_t end = parts_.size();
  std::vector<bool> here(end + 1), next(end + 1);
  const auto enter = [&](std::vector<bool>& states, std::size_t state) {
    states[state] = true;
    while (state < end && parts_[state].kind != Part::Kind::one_of) states[++state] = true;
  };
  enter(here, 0);
  for (const char c : name) {
    std::fill(next.begin(), next.end(), false);
    const bool known = index_of(c) < 128;
    for (std::size_t state = 0; state < end && known; ++state) {
      if (!here[state]) continue;
      const Part& part = parts_[state];
      if (part.kind == Part::Kind::one_of && part.characters[index_of(c)]) enter(next, state + 1);
      if (part.kind == Part::Kind::any || (part.kind == Part::Kind::any_of_label && c != '.'))
        enter(next, state);
    }
    here.swap(next);
  }
  return here[end];
}

bool NamePattern::matches_nearly_all() const {
  std::size_t literal = 0, longest = 0;
  for (const Part& part : parts_) {
    const bool one = part.kind == Part::Kind::one_of && part.characters.count() == 1;
    literal = one && !part.characters['.'] ? literal + 1 : 0;
    longest = std::max(longest, literal);
  }
  return longest == 0;
}

}  // namespace muster::relay
