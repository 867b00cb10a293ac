#include <gtest/gtest.h>

#include <muster/rules/compiled.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/evaluator.hpp>

namespace muster::rules {
namespace {

std::string configuration(const std::string& east_image, const std::string& extra = "") {
  return "workerTypes = [\"t\"]\n"
         "[[rules]]\nruleId = \"all\"\nvalues.size = 1\n"
         "[[rules]]\nruleId = \"east\"\nconditions = { region = \"east-*\" }\nvalues.image = \"" +
         east_image +
         "\"\n[[rules]]\nruleId = \"west\"\nconditions = { region = \"west-*\" }\nvalues.image = "
         "\"w\"\n" +
         extra;
}

std::shared_ptr<const Document> parsed(const std::string& text,
                                       const std::string& file = "build.toml") {
  const Parsed result = parse_toml(text, file);
  EXPECT_TRUE(result.document);
  return result.document;
}

const Facts east_1 = {{"region", "east-1"}}, east_2 = {{"region", "east-2"}},
            west = {{"region", "west-1"}};

TEST(Evaluator, knows_nothing_of_a_document_that_was_not_given) {
  Evaluator evaluator;
  EXPECT_EQ(evaluator.evaluate("build", east_1), nullptr);
  evaluator.remove("build");
  evaluator.update(parsed(configuration("e")));
  EXPECT_NE(evaluator.evaluate("build", east_1), nullptr);
  evaluator.remove("build");
  EXPECT_EQ(evaluator.evaluate("build", east_1), nullptr);
}

TEST(Evaluator, facts_that_match_the_same_rules_share_one_result) {
  Evaluator evaluator;
  evaluator.update(parsed(configuration("e")));
  EXPECT_EQ(evaluator.evaluate("build", east_1), evaluator.evaluate("build", east_2));
  EXPECT_NE(evaluator.evaluate("build", east_1), evaluator.evaluate("build", west));
  EXPECT_EQ(evaluator.statistics().evaluated, 2u);
}

TEST(Evaluator, an_edit_changes_only_what_the_edited_rule_had_a_part_in) {
  Evaluator evaluator;
  evaluator.update(parsed(configuration("e")));
  const auto east_before = evaluator.evaluate("build", east_1);
  const auto west_before = evaluator.evaluate("build", west);
  evaluator.update(parsed(configuration("e2")));
  EXPECT_EQ(evaluator.evaluate("build", west), west_before);
  const auto east_after = evaluator.evaluate("build", east_1);
  EXPECT_NE(east_after, east_before);
  EXPECT_EQ(json::write(east_after->document), R"({"size":1,"image":"e2"})");
  EXPECT_EQ(json::write(east_before->document), R"({"size":1,"image":"e"})");
  EXPECT_EQ(evaluator.statistics().evaluated, 3u);
}

TEST(Evaluator, edits_that_change_no_effect_change_no_result) {
  Evaluator evaluator;
  evaluator.update(parsed(configuration("e")));
  const auto before = evaluator.evaluate("build", east_1);
  evaluator.update(parsed("# a comment\n" + configuration("e", "[[rules]]\nruleId = \"idle\"\n")));
  EXPECT_EQ(evaluator.evaluate("build", east_1), before);
}

TEST(Evaluator, the_kind_of_a_number_is_part_of_it) {
  Evaluator evaluator;
  evaluator.update(parsed(configuration("e", "[[rules]]\nruleId = \"n\"\nvalues.n = 1\n")));
  EXPECT_TRUE(evaluator.evaluate("build", east_1)->document.at("n").is_int64());
  evaluator.update(parsed(configuration("e", "[[rules]]\nruleId = \"n\"\nvalues.n = 1.0\n")));
  EXPECT_TRUE(evaluator.evaluate("build", east_1)->document.at("n").is_double());
}

TEST(Evaluator, documents_with_the_same_effects_share_results_and_keep_their_own_conditions) {
  Evaluator evaluator;
  evaluator.update(parsed(configuration("e"), "one.toml"));
  evaluator.update(parsed(configuration("e"), "two.toml"));
  EXPECT_EQ(evaluator.evaluate("one", east_1), evaluator.evaluate("two", east_2));
  EXPECT_EQ(evaluator.statistics().evaluated, 1u);
}

TEST(Evaluator, thousands_of_edits_do_not_pile_up_results) {
  Evaluator evaluator;
  for (int i = 0; i < 2'500; ++i) {
    evaluator.update(parsed(configuration(std::to_string(i))));
    evaluator.evaluate("build", east_1);
    evaluator.evaluate("build", west);
  }
  EXPECT_LE(evaluator.statistics().results, 4u);
}

TEST(CompiledRules, asks_only_for_facts_that_conditions_name) {
  const CompiledRules rules(parsed(configuration("e")));
  ASSERT_EQ(rules.fact_count(), 1u);
  EXPECT_EQ(rules.fact_name(0), "region");
  EXPECT_EQ(members(rules.match({{"region", "east-9"}, {"other", "x"}})),
            (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(members(rules.match({})), (std::vector<std::size_t>{0}));
}

}  // namespace
}  // namespace muster::rules
