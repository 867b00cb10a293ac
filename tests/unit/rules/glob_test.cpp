#include <random>

#include <gtest/gtest.h>

#include <muster/rules/glob.hpp>

namespace muster::rules {
namespace {

bool matches(std::string_view pattern, std::string_view text) {
  return Glob::parse(pattern).value().matches(text);
}

std::string error_of(std::string_view pattern) {
  const auto glob = Glob::parse(pattern);
  return glob ? "accepted" : glob.error().message;
}

TEST(Glob, refuses_what_cannot_be_meant) {
  EXPECT_EQ(error_of("[abc"), "the pattern \"[abc\" is not a glob: the [ has no closing ]");
  for (const char* bad : {"[", "[]", "[!]", "[^]", "[a", "[a-", "[\\", "[z-a]", "\\", "ab\\",
                          "\xff", "[\xc3]", "a[!"})
    EXPECT_NE(error_of(bad), "accepted") << bad;
}

TEST(Glob, refuses_patterns_that_are_too_long) {
  EXPECT_TRUE(Glob::parse(std::string(256, 'a')));
  EXPECT_TRUE(Glob::parse(std::string(10, '?'), 10));
  EXPECT_EQ(error_of(std::string(257, '?')),
            "the pattern has 257 characters, more than the 256 allowed");
}

TEST(Glob, a_literal_matches_only_itself) {
  EXPECT_TRUE(matches("us-east-1", "us-east-1"));
  EXPECT_FALSE(matches("us-east-1", "us-east-10"));
  EXPECT_FALSE(matches("us-east-1", "Us-east-1"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
}

TEST(Glob, a_star_matches_any_run) {
  for (const char* text : {"", "a", "anything / at all\n"}) EXPECT_TRUE(matches("*", text));
  EXPECT_TRUE(matches("us-*", "us-"));
  EXPECT_FALSE(matches("us-*", "us"));
  EXPECT_TRUE(matches("*-1", "us-east-1"));
  EXPECT_FALSE(matches("*-1", "us-east-1a"));
  EXPECT_TRUE(matches("a*b*c", "a-b-b-c"));
  EXPECT_FALSE(matches("a*b*c", "a-c-b"));
  EXPECT_TRUE(matches("***a***", "bab"));
  EXPECT_FALSE(matches("*a*", "bbb"));
}

TEST(Glob, a_question_mark_matches_one_character_of_any_length_in_bytes) {
  EXPECT_TRUE(matches("?", "a"));
  EXPECT_TRUE(matches("?", "é"));
  EXPECT_TRUE(matches("?", "😀"));
  EXPECT_FALSE(matches("?", ""));
  EXPECT_FALSE(matches("?", "éé"));
  EXPECT_TRUE(matches("??*", "éa"));
}

TEST(Glob, classes_match_one_of_their_characters) {
  EXPECT_TRUE(matches("[abc]", "b"));
  EXPECT_FALSE(matches("[abc]", "d"));
  EXPECT_TRUE(matches("us-[a-z]*-[0-9]", "us-west-2"));
  EXPECT_FALSE(matches("[a-z]", "A"));
  EXPECT_TRUE(matches("[!a-z]", "A"));
  EXPECT_FALSE(matches("[!a-z]", "q"));
  EXPECT_TRUE(matches("[^a-z]", "A"));
  EXPECT_FALSE(matches("[!a-z]", ""));
  EXPECT_TRUE(matches("[à-ü]", "é"));
  EXPECT_FALSE(matches("[à-ü]", "e"));
  EXPECT_TRUE(matches("[a-cx-z]", "y"));
  EXPECT_TRUE(matches("[a-]", "-"));
  EXPECT_TRUE(matches("[-a]", "-"));
  EXPECT_TRUE(matches("[*?]", "*"));
  EXPECT_FALSE(matches("[*?]", "a"));
  EXPECT_TRUE(matches("[\\]]", "]"));
  EXPECT_TRUE(matches("[a\\-z]", "-"));
  EXPECT_FALSE(matches("[a\\-z]", "m"));
  EXPECT_TRUE(matches("[a!]", "!"));
  EXPECT_TRUE(matches("[[]", "["));
}

TEST(Glob, a_backslash_takes_the_next_character_literally) {
  EXPECT_TRUE(matches("\\*", "*"));
  EXPECT_FALSE(matches("\\*", "a"));
  EXPECT_TRUE(matches("\\\\", "\\"));
  EXPECT_TRUE(matches("\\[a]", "[a]"));
  EXPECT_TRUE(matches("\\é", "é"));
}

TEST(Glob, knows_what_shape_it_has) {
  EXPECT_EQ(Glob::parse("a\\*b")->literal(), "a*b");
  EXPECT_TRUE(Glob::parse("a\\*b")->is_literal());
  EXPECT_FALSE(Glob::parse("a*")->is_literal());
  EXPECT_FALSE(Glob::parse("[a]")->is_literal());
  EXPECT_TRUE(Glob::parse("**")->matches_all());
  EXPECT_FALSE(Glob::parse("*a")->matches_all());
}

TEST(Glob, text_that_is_not_utf8_is_taken_byte_by_byte) {
  EXPECT_TRUE(matches("?", "\xff"));
  EXPECT_TRUE(matches("a?b",
                      "a\x80"
                      "b"));
  EXPECT_TRUE(matches("[!a]", "\xc3"));
  EXPECT_FALSE(matches("é", "\xc3"));
}

TEST(Glob, long_patterns_use_several_words_of_state) {
  const std::string many(200, '?');
  EXPECT_TRUE(matches(many, std::string(200, 'x')));
  EXPECT_FALSE(matches(many, std::string(199, 'x')));
  EXPECT_FALSE(matches(many, std::string(201, 'x')));
  EXPECT_TRUE(matches(many + "*", std::string(5000, 'x')));
  const auto huge = Glob::parse(std::string(1000, '?') + "*", 2000).value();
  EXPECT_TRUE(huge.matches(std::string(1000, 'x')));
  EXPECT_FALSE(huge.matches(std::string(999, 'x')));
}

// Recursion with all its backtracking, on code points of one byte.
bool naive(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern[0] == '*')
    return naive(pattern.substr(1), text) || (!text.empty() && naive(pattern, text.substr(1)));
  if (text.empty()) return false;
  if (pattern[0] == '?') return naive(pattern.substr(1), text.substr(1));
  if (pattern[0] == '[') {
    const bool negated = pattern[1] == '!';
    const char first = pattern[negated ? 2 : 1], last = pattern[negated ? 4 : 3];
    const bool inside = text[0] >= first && text[0] <= last;
    return inside != negated && naive(pattern.substr(negated ? 6 : 5), text.substr(1));
  }
  return pattern[0] == text[0] && naive(pattern.substr(1), text.substr(1));
}

TEST(Glob, agrees_with_a_naive_matcher_on_random_patterns) {
  std::mt19937 random(11);
  const std::vector<std::string> pieces = {"a", "b", "c", "*", "*", "?", "[a-b]", "[!b-c]"};
  std::size_t matched = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string pattern, text;
    for (auto n = random() % 7; n > 0; --n) pattern += pieces[random() % pieces.size()];
    for (auto n = random() % 8; n > 0; --n) text += static_cast<char>('a' + random() % 4);
    const bool expected = naive(pattern, text);
    matched += expected;
    ASSERT_EQ(matches(pattern, text), expected) << pattern << " on " << text;
  }
  EXPECT_GT(matched, 1000u);
}

// Counting steps would tie the test to the implementation; a backtracking matcher would need longer
// than the universe exists, so that finishing at all is the proof.
TEST(Glob, patterns_made_to_backtrack_finish) {
  std::string pattern;
  for (int i = 0; i < 100; ++i) pattern += "*a";
  EXPECT_FALSE(matches(pattern + "b", std::string(100'000, 'a')));
  EXPECT_TRUE(matches(pattern, std::string(100'000, 'a')));
}

}  // namespace
}  // namespace muster::rules
