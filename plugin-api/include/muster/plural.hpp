// Counts with their noun: "1 pool", "2 pools".
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace muster {

// For nouns that do not just get an s, and for verbs: (3, "worker is", "workers are").
std::string count_of(std::integral auto count, std::string_view one, std::string_view many) {
  return std::to_string(count) + " " + std::string(count == 1 ? one : many);
}

std::string count_of(std::integral auto count, std::string_view noun) {
  return count_of(count, noun, std::string(noun) + "s");
}

}  // namespace muster
