// What of a launch configuration may be written into a file: no secrets, nothing that TOML cannot
// say, nothing that would disturb a screen or a reader.
#pragma once

#include <functional>
#include <string>

#include <muster/error.hpp>
#include <muster/json.hpp>

namespace muster::importing {

using Lost = std::function<void(const std::string& path, const std::string& reason)>;

// The document without secrets and nulls, each of which is told. Fails as `invalid` for control
// characters, numbers beyond 64 bits, and documents that are too deep or too large.
Result<json::object> clean(const json::object& document, const Lost& lost);

}  // namespace muster::importing
