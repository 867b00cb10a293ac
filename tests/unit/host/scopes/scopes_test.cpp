#include "host/scopes/scopes.hpp"

#include <gtest/gtest.h>

#include "host/auth/authority.hpp"

namespace muster::auth {
namespace {

TEST(ScopesTest, only_printable_ascii_is_a_scope) {
  for (const char* bad : {"a\n", "\t", "\x7f", "ä", "a\x01"}) EXPECT_FALSE(is_valid_scope(bad));
  EXPECT_FALSE(is_valid_scope(std::string_view("\0", 1)));
  for (const char* good : {"", " ", "*", "a*b", "~", "queue:claim-work:x/y"})
    EXPECT_TRUE(is_valid_scope(good));
}

TEST(ScopesTest, only_a_star_at_the_end_stands_for_more) {
  EXPECT_FALSE(satisfies("a*b", "axb"));
  EXPECT_FALSE(satisfies("a", "ab"));
  EXPECT_FALSE(satisfies("ab*", "a*"));
  EXPECT_FALSE(satisfies("", "a"));
  EXPECT_TRUE(satisfies("a*", "a"));
  EXPECT_TRUE(satisfies("a*", "a*"));
  EXPECT_TRUE(satisfies("a*", "ab*"));
  EXPECT_TRUE(satisfies("*", ""));
  EXPECT_TRUE(satisfies("a**", "a*b"));
}

TEST(ScopesTest, a_set_is_sorted_and_holds_nothing_twice) {
  using List = std::vector<std::string>;
  EXPECT_EQ(ScopeSet().list(), List());
  EXPECT_EQ(ScopeSet({"b", "a", "b"}).list(), (List{"a", "b"}));
  EXPECT_EQ(ScopeSet({"a", "ab*", "a*", "b", "abc"}).list(), (List{"a*", "b"}));
  EXPECT_EQ(ScopeSet({"x:a", "*", "y"}).list(), (List{"*"}));
  EXPECT_EQ(ScopeSet({"a(", "a", "aa", "b", ""}).list(), (List{"", "a", "a(", "aa", "b"}));
}

// Against the definition, over all sets of a few scopes that are made to collide.
TEST(ScopesTest, a_set_satisfies_exactly_what_one_of_its_scopes_does) {
  const std::vector<std::string> texts{"",   "*",   "a",   "a*", "a**", "ab",  "ab*",
                                       "b*", "a*b", "ba*", "ba", "a(",  "abc", "a b"};
  for (std::size_t i = 0; i < texts.size(); ++i)
    for (std::size_t j = 0; j < texts.size(); ++j)
      for (std::size_t k = 0; k < texts.size(); ++k) {
        const std::vector<std::string> held{texts[i], texts[j], texts[k]};
        const ScopeSet set(held);
        for (const std::string& wanted : texts) {
          const bool expected = satisfies(held[0], wanted) || satisfies(held[1], wanted) ||
                                satisfies(held[2], wanted);
          ASSERT_EQ(set.satisfies(wanted), expected)
              << wanted << " by " << held[0] << "," << held[1] << "," << held[2];
        }
      }
}

TEST(ScopesTest, expressions_without_parts_are_decided) {
  EXPECT_TRUE(satisfies(ScopeSet(), all_of({})));
  EXPECT_FALSE(satisfies(ScopeSet({"*"}), any_of({})));
}

TEST(ScopesTest, what_is_missing_is_told_without_what_is_there) {
  const ScopeSet held({"a", "w:*"});
  const auto left = [&](const Expression& wanted) { return json::write(missing(held, wanted)); };
  EXPECT_EQ(left(scope("a")), "null");
  EXPECT_EQ(left(scope("b")), R"("b")");
  EXPECT_EQ(left(all_of({})), "null");
  EXPECT_EQ(left(any_of({})), R"({"AnyOf":[]})");
  EXPECT_EQ(left(all_of({scope("a"), scope("b")})), R"("b")");
  EXPECT_EQ(left(all_of({scope("b"), scope("w:1"), scope("c")})), R"({"AllOf":["b","c"]})");
  EXPECT_EQ(left(any_of({scope("b"), scope("w:1")})), "null");
  EXPECT_EQ(left(any_of({scope("b"), all_of({scope("a"), scope("c")})})), R"({"AnyOf":["b","c"]})");
  EXPECT_EQ(left(any_of({scope("b")})), R"("b")");
}

TEST(ScopesTest, a_refusal_has_the_words_that_clients_know) {
  const Expression wanted = all_of({scope("a"), scope("b"), any_of({scope("c"), scope("d")})});
  EXPECT_EQ(Authority::refuse({"me", ScopeSet({"*"})}, wanted), std::nullopt);
  EXPECT_EQ(Authority::refuse({"me", ScopeSet({"a"})}, wanted),
            "Client ID me does not have sufficient scopes and is missing the following scopes:\n"
            "\n```\n{\n  \"AllOf\": [\n    \"b\",\n    {\n      \"AnyOf\": [\n        \"c\",\n"
            "        \"d\"\n      ]\n    }\n  ]\n}\n```\n\n"
            "This request requires the client to satisfy the following scope expression:\n"
            "\n```\n{\n  \"AllOf\": [\n    \"a\",\n    \"b\",\n    {\n      \"AnyOf\": [\n"
            "        \"c\",\n        \"d\"\n      ]\n    }\n  ]\n}\n```");
  EXPECT_EQ(Authority::refuse({"", ScopeSet()}, scope("worker-manager:x")),
            "This request requires Taskcluster credentials that satisfy the following scope "
            "expression:\n\n```\nworker-manager:x\n```");
}

}  // namespace
}  // namespace muster::auth
