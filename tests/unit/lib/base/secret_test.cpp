#include "lib/base/secret.hpp"

#include <algorithm>
#include <concepts>
#include <ostream>

#include <gtest/gtest.h>

namespace muster {
namespace {

template <class T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

TEST(SecretTest, a_secret_does_not_print_and_does_not_convert) {
  EXPECT_FALSE(Printable<Secret>);
  EXPECT_FALSE((std::convertible_to<Secret, std::string>));
}

TEST(SecretTest, random_tokens_are_long_plain_and_never_the_same) {
  const std::string a = random_token().reveal(), b = random_token().reveal();
  EXPECT_NE(a, b);
  EXPECT_EQ(a.size(), 43u);
  EXPECT_TRUE(std::all_of(a.begin(), a.end(),
                          [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; }));
}

}  // namespace
}  // namespace muster
