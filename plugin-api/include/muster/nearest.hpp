// "did you mean": the known word that a mistyped one was probably meant to be.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster {

// The candidate with the fewest edits (insert, delete, replace, swap of neighbours; the case of
// letters and the difference between data_directory and dataDirectory do not count), if they are
// few for the word's length. Work is bounded: words of more than 64 bytes have no nearest one.
std::optional<std::string> nearest(std::string_view word,
                                   const std::vector<std::string_view>& candidates);

}  // namespace muster
