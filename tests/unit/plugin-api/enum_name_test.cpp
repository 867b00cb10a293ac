#include <array>
#include <string_view>

#include <gtest/gtest.h>

#include <muster/enum_name.hpp>

namespace elsewhere {

enum class Colour { red, dark_blue };
constexpr std::array<std::string_view, 2> enum_names(Colour) {
  return {"red", "darkBlue"};
}

}  // namespace elsewhere

namespace muster {
namespace {

TEST(EnumNameTest, words_are_found_in_the_namespace_of_the_enum) {
  EXPECT_EQ(name_of(elsewhere::Colour::red), "red");
  EXPECT_EQ(name_of(elsewhere::Colour::dark_blue), "darkBlue");
}

}  // namespace
}  // namespace muster
