// Where a value stands in a document: the keys from the root. As text, `aws.Tags."cost.center"`:
// segments that are not bare TOML keys are quoted.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::rules {

using Path = std::vector<std::string>;

std::string format_path(const Path& path);

// Bare, 'literal' or "basic" (with TOML's escapes) segments, spaces around dots allowed, as a TOML
// key. Fails as `invalid` with a sentence. format_path and parse_path are each other's inverse.
Result<Path> parse_path(std::string_view text);

}  // namespace muster::rules
