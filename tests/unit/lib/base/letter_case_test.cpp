#include "lib/base/letter_case.hpp"

#include <gtest/gtest.h>

namespace muster {
namespace {

TEST(LetterCaseTest, only_the_letters_of_ascii_change) {
  EXPECT_EQ(to_lower("Hawk ID=\"Ab-9_Z\""), "hawk id=\"ab-9_z\"");
  EXPECT_EQ(to_lower("@[`{\xc3\x84"), "@[`{\xc3\x84");
  EXPECT_EQ(to_lower(""), "");
  EXPECT_EQ(to_lower(std::string_view("A\0B", 3)), std::string("a\0b", 3));
}

}  // namespace
}  // namespace muster
