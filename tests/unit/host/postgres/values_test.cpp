#include "host/postgres/values.hpp"

#include <limits>

#include <gtest/gtest.h>

#include <muster/utf8.hpp>

namespace muster::postgres {
namespace {

using store::ColumnType;
using store::Value;

TEST(PostgresValues, every_byte_comes_back_and_what_goes_out_is_text) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& text :
       {all, std::string("\0", 1), std::string("\1\1\1"), std::string("Gr\xc3\xbc\xc3"),
        std::string("\xed\xa0\x80"), std::string("plain"), std::string()}) {
    const std::string out = escaped(text);
    EXPECT_TRUE(is_utf8(out));
    EXPECT_EQ(out.find('\0'), std::string::npos);
    EXPECT_EQ(unescaped(out), text);
  }
}

TEST(PostgresValues, escapes_keep_the_order_of_keys) {
  const std::string sorted[] = {
      "a", std::string("a\0", 2), std::string("a\0b", 3), "a\1", "a\2", "aa", "b"};
  for (std::size_t i = 1; i < std::size(sorted); ++i)
    EXPECT_LT(escaped(sorted[i - 1]), escaped(sorted[i])) << i;
}

TEST(PostgresValues, an_escape_that_is_cut_off_does_no_harm) {
  for (const char* text : {"\1", "\1\3", "\1\3a", "x\1\3zz"}) EXPECT_FALSE(unescaped(text).empty());
}

TEST(PostgresValues, numbers_come_back_exactly) {
  for (const double number : {0.1, -0.0, 5e-324, 1e308, std::numeric_limits<double>::infinity()}) {
    Value back;
    ASSERT_TRUE(from_text(*to_parameter(number), ColumnType::real, back));
    EXPECT_EQ(std::get<double>(back), number);
  }
  Value back;
  EXPECT_FALSE(from_text("12x", ColumnType::integer, back));
  EXPECT_FALSE(from_text("", ColumnType::integer, back));
  EXPECT_EQ(to_parameter(Value{}), std::nullopt);
}

}  // namespace
}  // namespace muster::postgres
