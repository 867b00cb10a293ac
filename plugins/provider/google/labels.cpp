#include "plugins/provider/google/labels.hpp"

#include <algorithm>

#include "lib/crypto/sha256.hpp"

namespace muster::google {
namespace {

constexpr std::size_t longest_label = 63, longest_name = 63;
constexpr std::string_view name_begin = "muster-", key_mark = "-k-", digest_mark = "-d-";
constexpr std::size_t owner_digits = 16;  // all that tells hosts apart

bool is_plain_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '-';
}

std::string escaped(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string made;
  for (const char letter : text) {
    if (is_plain_letter(letter)) {
      made += letter;
      continue;
    }
    const auto byte = static_cast<unsigned char>(letter);
    made += '_';
    made += digits[byte >> 4];
    made += digits[byte & 15];
  }
  return made;
}

int digit_of(char letter) {
  if (letter >= '0' && letter <= '9') return letter - '0';
  if (letter >= 'a' && letter <= 'f') return letter - 'a' + 10;
  return -1;
}

std::string unescaped(std::string_view text) {
  std::string made;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const int high = text[at] == '_' && at + 2 < text.size() ? digit_of(text[at + 1]) : -1;
    const int low = high >= 0 ? digit_of(text[at + 2]) : -1;
    if (low < 0) {
      made += text[at];
      continue;
    }
    made += static_cast<char>(high * 16 + low);
    at += 2;
  }
  return made;
}

std::string part_name(const std::string& name, std::size_t number) {
  return number == 1 ? name : name + "-" + std::to_string(number);
}

}  // namespace

std::string label_value(std::string_view text) {
  return escaped(text).substr(0, longest_label);
}

Labels labels_of(const std::map<std::string, std::string>& tags) {
  Labels labels;
  for (const auto& [tag, text] : tags) {
    // A label begins with a letter and has room for the number of its part.
    std::string name = escaped(tag).substr(0, longest_label - 3);
    if (name.empty() || name.front() < 'a' || name.front() > 'z') name = "t" + name;
    const std::string value = escaped(text);
    std::size_t number = 1;
    for (std::size_t at = 0; at == 0 || at < value.size(); at += longest_label, ++number)
      labels[part_name(name, number)] = value.substr(at, longest_label);
  }
  return labels;
}

std::map<std::string, std::string> tags_in(const Labels& labels) {
  std::map<std::string, std::string> tags;
  for (const auto& [name, first] : labels) {
    std::string value = first;
    // A full label goes on in the next one.
    for (std::size_t number = 2; value.size() == longest_label * (number - 1); ++number) {
      const auto next = labels.find(part_name(name, number));
      if (next == labels.end()) break;
      value += next->second;
    }
    tags.emplace(unescaped(name), unescaped(value));
  }
  return tags;
}

MachineName name_of(const Owner& owner, const IdempotencyKey& key) {
  const std::string& text = key.str();
  const std::string host = owner.host_id + "-";
  const std::string begin =
      std::string(name_begin) +
      sha256_hex(owner.host_id + "\n" + owner.provider_id.str()).substr(0, owner_digits);
  const std::string_view rest =
      text.starts_with(host) ? std::string_view(text).substr(host.size()) : std::string_view();
  const bool has_key = !rest.empty() && std::ranges::all_of(rest, is_plain_letter) &&
                       rest.back() != '-' &&
                       begin.size() + key_mark.size() + rest.size() <= longest_name;
  if (has_key) return {begin + std::string(key_mark) + std::string(rest), true};
  return {begin + std::string(digest_mark) + sha256_hex(text).substr(0, 36), false};
}

std::optional<IdempotencyKey> key_in(std::string_view name, const std::string& host_id) {
  const std::size_t head = name_begin.size() + owner_digits;
  if (!name.starts_with(name_begin) || name.size() <= head + key_mark.size() ||
      !name.substr(head).starts_with(key_mark))
    return std::nullopt;
  return IdempotencyKey(host_id + "-" + std::string(name.substr(head + key_mark.size())));
}

std::string request_id(std::string_view text) {
  std::string hex = sha256_hex(text).substr(0, 32);
  hex[12] = '4';  // the version and variant that every reader takes
  hex[16] = "89ab"[static_cast<std::size_t>(digit_of(hex[16])) % 4];
  for (const std::size_t at : {20, 16, 12, 8}) hex.insert(at, "-");
  return hex;
}

}  // namespace muster::google
