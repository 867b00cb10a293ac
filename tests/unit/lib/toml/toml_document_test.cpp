#include "lib/toml/toml_document.hpp"

#include <random>

#include <gtest/gtest.h>

namespace muster::config {
namespace {

namespace variant2 = boost::variant2;

TEST(TomlDocumentTest, random_bytes_and_damaged_files_are_refused_or_read_but_never_crash) {
  std::mt19937 random(11);
  const std::string good =
      "listen = \"a\"\n[log]\nlevel = 'x'\n[providers.\"\xc3\xbc\"]\nlimits = {a = [1, 2.5]}\n"
      "text = \"\"\"\nmore\n\"\"\" # end\n";
  for (int i = 0; i < 20'000; ++i) {
    std::string text = good;
    for (int flips = 1 + static_cast<int>(random() % 4); flips > 0; --flips)
      text[random() % text.size()] = static_cast<char>(random());
    if (i % 3 == 0) text.resize(random() % text.size());
    parse_toml(text);
  }
}

TEST(TomlDocumentTest, deep_texts_are_refused_however_they_are_written) {
  for (const char* part : {"[", "a.", "{a=", "a . ", "\"a\".", "[a."}) {
    std::string text = "x = ";
    if (std::string_view(part).front() != '[' && std::string_view(part).front() != '{') text = "";
    for (int i = 0; i < 50'000; ++i) text += part;
    const auto parsed = parse_toml(text);
    ASSERT_TRUE(variant2::holds_alternative<Mistake>(parsed)) << part;
    EXPECT_NE(variant2::get<Mistake>(parsed).reason.find("nested deeper"), std::string::npos)
        << variant2::get<Mistake>(parsed).reason;
  }
}

TEST(TomlDocumentTest, places_are_those_of_keys_and_values) {
  const auto parsed = parse_toml("a = 1\n[t.\"x/y~\"]\n  k = [10, { z = 2 }]\n");
  const auto& document = variant2::get<TomlDocument>(parsed);
  EXPECT_EQ(document.key_position("/a"), (Position{1, 1}));
  EXPECT_EQ(document.value_position("/a"), (Position{1, 5}));
  EXPECT_EQ(document.value_position("/t/x~1y~0/k/1/z"), (Position{3, 18}));
  EXPECT_EQ(document.value_position("/t/x~1y~0/k/7"), (Position{3, 7}));
  EXPECT_EQ(key_path(document.root, "/t/x~1y~0/k/1/z"), "t.\"x/y~\".k[1].z");
  EXPECT_EQ(document.value_position("/nothing"), (Position{1, 1}));
}

TEST(TomlDocumentTest, pointer_parts_are_unescaped) {
  EXPECT_EQ(pointer_parts("/a~1b/~0/"), (std::vector<std::string>{"a/b", "~", ""}));
  EXPECT_TRUE(pointer_parts("").empty());
}

}  // namespace
}  // namespace muster::config
