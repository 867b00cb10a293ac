#include <random>

#include <gtest/gtest.h>

#include <muster/rules/path.hpp>

namespace muster::rules {
namespace {

TEST(Path, refuses_what_is_no_path) {
  for (const char* bad : {"", ".", "a.", ".a", "a..b", "a b", "\"a", "'a", "\"a\"b", "a\"b\"", "é",
                          "\"\\x\"", "\"\\u12\"", "\"\\uD800\"", "\"\\U00110000\"", "\"\\", "a;"})
    EXPECT_FALSE(parse_path(bad)) << bad;
}

TEST(Path, reads_what_toml_takes_as_a_key) {
  EXPECT_EQ(*parse_path("a"), (Path{"a"}));
  EXPECT_EQ(*parse_path("aws.Tags.cost-center_1"), (Path{"aws", "Tags", "cost-center_1"}));
  EXPECT_EQ(*parse_path(" a . 'b.c' . \"d\\\"\\u00e9\" "), (Path{"a", "b.c", "d\"é"}));
  EXPECT_EQ(*parse_path("\"\".x"), (Path{"", "x"}));
}

TEST(Path, what_is_written_reads_back) {
  std::mt19937 random(5);
  const std::vector<std::string> pieces = {"a", "-", "_",  "0",  ".",    "\"",   "\\", "'",
                                           " ", "é", "\n", "\t", "\x01", "\x7f", "😀"};
  for (int i = 0; i < 5'000; ++i) {
    Path path(1 + random() % 3);
    for (std::string& segment : path)
      for (auto n = random() % 4; n > 0; --n) segment += pieces[random() % pieces.size()];
    const auto read = parse_path(format_path(path));
    ASSERT_TRUE(read) << format_path(path);
    ASSERT_EQ(*read, path);
  }
}

}  // namespace
}  // namespace muster::rules
