// The query of a request: what comes after the '?'.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/error.hpp>

namespace muster::endpoints {

// A value. THREADS: any.
class Query {
 public:
  Query() = default;
  // Decodes names and values. What has a broken escape stays as it was written, and `broken` has
  // the first such parameter.
  explicit Query(std::string_view text);

  using Parameters = std::vector<std::pair<std::string, std::string>>;
  const Parameters& parameters() const { return parameters_; }
  const std::optional<std::string>& broken() const { return broken_; }

  std::optional<std::string_view> find(std::string_view name) const;
  // Empty if it is not there.
  std::string text(std::string_view name) const { return std::string(find(name).value_or("")); }
  std::optional<std::string> optional_text(std::string_view name) const;
  std::vector<std::string> all(std::string_view name) const;
  // "true" or "false"; false if it is not there. Fails as `invalid`.
  Result<bool> flag(std::string_view name) const;
  // The fallback if it is not there. Fails as `invalid`.
  Result<std::int64_t> number(std::string_view name, std::int64_t fallback, std::int64_t low,
                              std::int64_t high) const;
  // `limit`, 1 to 1000, usually 100.
  Result<std::size_t> limit() const;

 private:
  Parameters parameters_;
  std::optional<std::string> broken_;
};

}  // namespace muster::endpoints
