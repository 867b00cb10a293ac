// The idempotency keys of one launch that makes several machines, short enough for tags: the key of
// a machine is the one at its place in the launch (AmiLaunchIndex). Pure.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <muster/ids.hpp>
#include <muster/json.hpp>

namespace muster::cloud {

inline constexpr std::size_t longest_tag_value = 256;

// As many of the first keys as one tag can have, at least one: keys that end in numbers, as the
// host's do, are written as ranges ("host-7-:1-40+45"), others are
// alone. Only letters that clouds take in tags are added.
struct PackedKeys {
  std::size_t count = 0;
  std::string text;
};
PackedKeys pack_keys(const std::vector<IdempotencyKey>& keys, std::size_t from, std::size_t most);

// The key at that place; nothing if the text is not one of pack_keys, or has no such place.
std::optional<IdempotencyKey> key_at(std::string_view text, std::int64_t index);

}  // namespace muster::cloud
