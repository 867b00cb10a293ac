#include <gtest/gtest.h>

#include <muster/rules/configuration_set.hpp>
#include <muster/rules/document.hpp>

namespace muster::rules {
namespace {

std::string rule(const std::string& body, const std::string& id = "a") {
  return "[[rules]]\nruleId = \"" + id + "\"\n" + body + "\n";
}

// The codes of all problems, in order.
std::string codes(const std::string& text, const Limits& limits) {
  std::string all;
  for (const Problem& problem : parse_toml(text, "c.toml", limits).problems)
    all += (all.empty() ? "" : " ") + problem.code;
  return all;
}

const std::string head = "workerTypes = [\"t\"]\n";

TEST(Limits, each_is_refused_one_past_it_and_accepted_at_it) {
  const std::string small = head + rule("values.a = 1");
  Limits limits;
  limits.max_file_bytes = small.size();
  EXPECT_EQ(codes(small, limits), "");
  limits.max_file_bytes = small.size() - 1;
  EXPECT_EQ(codes(small, limits), "fileTooLarge");

  limits = {};
  limits.max_rules = 2;
  EXPECT_EQ(codes(head + rule("") + rule("", "b"), limits), "");
  EXPECT_EQ(codes(head + rule("") + rule("", "b") + rule("", "c"), limits), "tooManyRules");

  limits = {};
  limits.max_worker_types = 1;
  EXPECT_EQ(codes(small, limits), "");
  EXPECT_EQ(codes("workerTypes = [\"t\", \"u\"]\n" + rule(""), limits), "tooManyWorkerTypes");

  limits = {};
  limits.max_clauses = 2;
  EXPECT_EQ(codes(head + rule("conditions = [{}, {}]"), limits), "");
  EXPECT_EQ(codes(head + rule("conditions = [{}, {}, {}]"), limits), "tooManyConditions");

  limits = {};
  limits.max_patterns = 2;
  EXPECT_EQ(codes(head + rule("conditions.region = ['a', 'b']"), limits), "");
  EXPECT_EQ(codes(head + rule("conditions.region = ['a', 'b', 'c']"), limits), "tooManyConditions");

  limits = {};
  limits.max_pattern_length = 3;
  EXPECT_EQ(codes(head + rule("conditions.region = 'éé?'"), limits), "");
  EXPECT_EQ(codes(head + rule("conditions.region = 'abcd'"), limits), "badGlob");

  limits = {};
  limits.max_nesting = 6;
  EXPECT_EQ(codes(head + rule("values.a.b.c = 1"), limits), "");
  EXPECT_EQ(codes(head + rule("values.a.b.c.d = 1"), limits), "tooDeep");
}

TEST(Limits, the_number_of_problems_shown_is_bounded_and_says_so) {
  Limits limits;
  limits.max_problems = 3;
  std::string text = head + rule("");
  for (int i = 0; i < 10; ++i) text += "k" + std::to_string(i) + " = 1\n";
  const Parsed parsed = parse_toml(text, "c.toml", limits);
  ASSERT_EQ(parsed.problems.size(), 4u);
  EXPECT_EQ(to_string(parsed.problems.back()),
            "c.toml: 7 more problems are not shown; correct these first");
}

// Each of these once cost stack or time in some parser.
TEST(Limits, texts_made_to_overflow_the_stack_are_refused) {
  const std::vector<std::string> bombs = {
      "a = " + std::string(200'000, '['),
      "a = " + std::string(100'000, '{'),
      "a" + std::string(100'000, '.') + "b = 1",
      "[" + std::string(100'000, '[') + "a",
  };
  for (const std::string& bomb : bombs)
    EXPECT_EQ(codes(head + bomb, {}), "tooDeep") << bomb.substr(0, 20);
  std::string dotted = "a";
  for (int i = 0; i < 50'000; ++i) dotted += ".a";
  EXPECT_EQ(codes(head + dotted + " = 1\n", {}), "tooDeep");
  std::string inline_tables;
  for (int i = 0; i < 30'000; ++i) inline_tables += "{a=";
  EXPECT_EQ(codes("a = " + inline_tables, {}), "tooDeep");
  const Parsed json = parse_json(std::string(200'000, '['), "c.json");
  ASSERT_EQ(json.problems.size(), 1u);
  EXPECT_EQ(json.problems[0].code, "tooDeep");
}

TEST(Limits, brackets_and_dots_in_strings_and_comments_nest_nothing) {
  Limits limits;
  limits.max_nesting = 6;
  const std::string deep = "[[[[[[[[{{{{{{{{a.b.c.d.e.f.g.h";
  EXPECT_EQ(codes(head + "# " + deep + "\n" +
                      rule("values.a = '" + deep + "'\nvalues.b = \"\\\"" + deep +
                           "\"\nvalues.c = '''\n" + deep + "'x'\n'''\nvalues.d = \"\"\"\n" + deep +
                           "\"\"\""),
                  limits),
            "");
}

TEST(Limits, the_product_of_worker_types_and_placements_is_bounded) {
  KnownFacts known;
  known.providers.push_back({"p", "p", {}, std::vector<Facts>(10, Facts{{"region", "r"}})});
  const std::vector<SourceFile> files = {
      {"c.toml", "workerTypes = [\"t\", \"u\"]\n" +
                     rule("description = 'd'\nvalues = { providers = ['p'], maxCapacity = 1, owner "
                          "= 'o', description = 'd' }")}};
  Limits limits;
  limits.max_combinations = 20;
  EXPECT_TRUE(check(ConfigurationSet::from_files(files, limits, known)).empty());
  limits.max_combinations = 19;
  const auto set = ConfigurationSet::from_files(files, limits, known);
  const Problems problems = check(set);
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_EQ(to_string(problems[0]),
            "c.toml:1:16: workerTypes: 2 worker types at the placements of their providers make 20 "
            "launch "
            "documents, more than the 19 allowed; split the file, or opt in to fewer providers");
  EXPECT_EQ(set.combinations(*set.find("c")).size(), 19u);
}

}  // namespace
}  // namespace muster::rules
