#include "host/endpoints/query.hpp"

#include <gtest/gtest.h>

namespace muster::endpoints {
namespace {

TEST(Queries, are_decoded) {
  const Query query("a=b%2Fc&d=e+f&g");
  EXPECT_EQ(query.text("a"), "b/c");
  EXPECT_EQ(query.text("d"), "e f");
  EXPECT_EQ(query.text("g"), "");
  EXPECT_TRUE(query.find("g"));
  EXPECT_FALSE(query.find("h"));
  EXPECT_FALSE(query.broken());
}

TEST(Queries, keep_what_has_a_broken_escape_and_name_it) {
  const Query query("a=1&b=%zz&c=%");
  EXPECT_EQ(query.broken(), "b=%zz");
  EXPECT_EQ(query.text("b"), "%zz");
}

TEST(Queries, have_repeated_parameters_in_their_order) {
  EXPECT_EQ(Query("a=2&b=x&a=1").all("a"), (std::vector<std::string>{"2", "1"}));
}

TEST(Queries, refuse_numbers_and_flags_that_are_none) {
  const Query query("n=12&big=1001&word=x&yes=true&limit=0");
  EXPECT_EQ(*query.number("n", 1, 0, 20), 12);
  EXPECT_EQ(*query.number("other", 1, 0, 20), 1);
  EXPECT_FALSE(query.number("big", 1, 0, 1000));
  EXPECT_FALSE(query.number("word", 1, 0, 1000));
  EXPECT_TRUE(*query.flag("yes"));
  EXPECT_FALSE(*query.flag("other"));
  EXPECT_FALSE(query.flag("n"));
  EXPECT_FALSE(query.limit());
  EXPECT_EQ(*Query("").limit(), 100u);
}

}  // namespace
}  // namespace muster::endpoints
