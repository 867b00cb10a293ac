// The values of "format" that we can check.
#pragma once

#include <optional>
#include <string_view>

namespace muster::json::schema_detail {

struct Format {
  std::string_view name;         // "date-time"
  std::string_view description;  // "a date and time such as 2024-02-29T12:00:00Z"
  bool (*matches)(std::string_view text);
};

// Null for a format that we do not know, which is then not checked, as the standard has it.
const Format* find_format(std::string_view name);

bool is_ipv6(std::string_view text);

}  // namespace muster::json::schema_detail
