// What stands behind the '?' of a request, checked: a parameter that is misspelt must not be
// silently ignored.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/error.hpp>

namespace muster::api {

// A value. THREADS: any.
class Query {
 public:
  // Fails as `invalid`: a parameter that is not among the known ones, a broken escape, or one that
  // stands there twice without "[]" behind its name in `known`.
  static Result<Query> parse(std::string_view text, std::span<const std::string_view> known);

  std::optional<std::string> find(std::string_view name) const;
  // Empty if it is not there.
  std::string text(std::string_view name) const { return find(name).value_or(""); }
  std::vector<std::string> all(std::string_view name) const;
  // "true" or "false"; false if it is not there. Fails as `invalid`.
  Result<bool> flag(std::string_view name) const;
  // The fallback if it is not there. Fails as `invalid`.
  Result<std::int64_t> number(std::string_view name, std::int64_t fallback, std::int64_t low,
                              std::int64_t high) const;
  // `limit`, 1 to 1000, usually 100.
  Result<std::size_t> limit() const;

 private:
  std::vector<std::pair<std::string, std::string>> parameters_;
};

}  // namespace muster::api
