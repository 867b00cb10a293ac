// Values as PostgreSQL's text format has them. Pure.
//
// A text of muster is any bytes; one of PostgreSQL is UTF-8 without NUL. What it would refuse is
// escaped by a byte 1, so that the order of keys stays that of their bytes:
//   NUL: 1 1    1: 1 2    a byte that belongs to no UTF-8: 1 3 and two hexadecimal digits
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "host/store/store.hpp"

namespace muster::postgres {

std::string escaped(std::string_view text);
std::string unescaped(std::string_view text);

// Nothing: NULL.
std::optional<std::string> to_parameter(const store::Value& value);

// What the server wrote of a column. A text goes into the buffer that `value` has already. False if
// it is not of that type.
bool from_text(std::string_view text, store::ColumnType type, store::Value& value);

}  // namespace muster::postgres
