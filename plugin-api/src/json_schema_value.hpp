// JSON values as JSON Schema sees them: 1 and 1.0 are the same number, object keys have no order.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <muster/json.hpp>

namespace muster::json::schema_detail {

// Deeper values are taken to be different: nobody compares them on purpose, and a stack is finite.
inline constexpr int max_value_depth = 200;

bool is_integer(const value& number);

// Exact for all three kinds of number. Negative, zero, positive as in strcmp. Both must be numbers.
int compare_numbers(const value& a, const value& b);

// Decimal, as people write it: 0.0075 is a multiple of 0.0001. `of` must be positive.
bool is_multiple(const value& number, const value& of);

bool equal(const value& a, const value& b, int depth = 0);

// Equal values have equal hashes.
std::size_t hash(const value& item, int depth = 0);

// "a string", "an integer", ...
std::string_view kind_name(const value& item);

// The value itself if it is short enough to stand in a sentence, else its beginning or its kind.
std::string excerpt(const value& item);

// Unicode code points in valid UTF-8.
std::size_t code_points(std::string_view text);

}  // namespace muster::json::schema_detail
