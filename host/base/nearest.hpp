// "did you mean ...?"
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace muster {

// The candidate that a typing mistake most likely turned into `word`: the smallest number of
// inserted, deleted, replaced and swapped letters, case counting little. Empty if none is near.
std::string nearest(std::string_view word, std::span<const std::string> candidates);

}  // namespace muster
