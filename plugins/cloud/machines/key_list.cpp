#include "plugins/cloud/machines/key_list.hpp"

#include <charconv>

#include "lib/crypto/sha256.hpp"

namespace muster::cloud {
namespace {

struct Numbered {
  std::string_view prefix;
  std::int64_t number = 0;
};

// A key that ends in a number which reads back as the same text.
std::optional<Numbered> numbered(std::string_view key) {
  const std::size_t end_of_prefix = key.find_last_not_of("0123456789");
  const std::size_t begin = end_of_prefix == std::string_view::npos ? 0 : end_of_prefix + 1;
  const std::string_view digits = key.substr(begin);
  if (digits.empty() || digits.size() > 15 || (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  std::int64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  return Numbered{key.substr(0, begin), number};
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

// What separates keys in a list is in none of them.
bool is_plain(std::string_view key) {
  for (const char letter : key)
    if (letter == '+' || letter == ':' || static_cast<unsigned char>(letter) < 0x20) return false;
  return true;
}

std::string range(std::int64_t first, std::int64_t last) {
  return first == last ? std::to_string(first) : std::to_string(first) + "-" + std::to_string(last);
}

PackedKeys pack_numbers(const std::vector<IdempotencyKey>& keys, std::size_t from, std::size_t most,
                        std::string_view prefix) {
  const std::string head = std::string(prefix) + ":";
  std::string done = head;  // all ranges but the last
  PackedKeys packed;
  std::int64_t first = 0, last = 0;
  for (std::size_t at = from; at < keys.size() && packed.count < most; ++at) {
    const auto key = numbered(keys[at].str());
    if (!key || key->prefix != prefix) break;
    const bool continues = packed.count > 0 && key->number == last + 1;
    const std::string before =
        continues || packed.count == 0 ? done : done + range(first, last) + "+";
    const std::string text = before + range(continues ? first : key->number, key->number);
    if (text.size() > longest_tag_value) break;
    if (!continues) first = key->number;
    last = key->number;
    done = before;
    packed = {packed.count + 1, text};
  }
  return packed;
}

}  // namespace

PackedKeys pack_keys(const std::vector<IdempotencyKey>& keys, std::size_t from, std::size_t most) {
  const std::string& key = keys[from].str();
  if (const auto number = numbered(key); number && is_plain(number->prefix)) {
    const PackedKeys packed = pack_numbers(keys, from, most, number->prefix);
    if (packed.count > 0) return packed;
  }
  // One key as it is. A key that no tag can have is known by its digest.
  const bool fits = is_plain(key) && key.size() + 1 <= longest_tag_value;
  return {1, fits ? "=" + key : "@" + sha256_hex(key)};
}

std::optional<IdempotencyKey> key_at(std::string_view text, std::int64_t index) {
  if (index < 0 || text.empty()) return std::nullopt;
  if (text.front() == '=' || text.front() == '@') {
    if (index > 0) return std::nullopt;
    return IdempotencyKey(std::string(text.front() == '=' ? text.substr(1) : text));
  }
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::string prefix(text.substr(0, colon));
  std::string_view rest = text.substr(colon + 1);
  for (std::int64_t before = 0;;) {
    const std::size_t plus = rest.find('+');
    const std::string_view part = rest.substr(0, plus);
    const std::size_t dash = part.find('-');
    const auto first = whole(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : whole(part.substr(dash + 1));
    if (!first || !last || *last < *first) return std::nullopt;
    if (index - before <= *last - *first)
      return IdempotencyKey(prefix + std::to_string(*first + index - before));
    before += *last - *first + 1;
    if (plus == std::string_view::npos) return std::nullopt;
    rest = rest.substr(plus + 1);
  }
}

}  // namespace muster::cloud
