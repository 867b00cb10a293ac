#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/rules/edit.hpp>

namespace muster::rules {
namespace {

using testing::HasSubstr;

// The edited text, or the sentence why not.
std::string edited(std::string_view text, std::vector<Edit> edits) {
  const auto result = edit_text(text, edits);
  return result ? *result : "refused: " + result.error().message;
}
std::string set(std::string_view text, std::string rule, std::string path, std::string value) {
  return edited(text, {SetValue{std::move(rule), *parse_path(path), std::move(value)}});
}
std::string unset(std::string_view text, std::string rule, std::string path) {
  return edited(text, {RemoveValue{std::move(rule), *parse_path(path)}});
}

const std::string build = R"(# the build fleet
workerTypes = ["build-opt"]  # one for now

# who and how many
[[rules]]
ruleId = "basic"
description = 'Basic options'
[rules.values]
providers = [
  "ec2",  # the cloud
  "dc1"   # the cellar
]
maxCapacity   = 200   # agreed with finance
owner = 'build@example.com'

[[rules]]
ruleId = "ami"
description = "Images"
conditions = { provider = "ec2", region = ["us-*"] }
[rules.values.aws]
# the bakery writes the next line
ImageId = "ami-1"  # Debian 12

# -- below: exceptions --

# for Sam
[[rules]]
ruleId = "late"
description = "Late"
)";

// What `build` becomes when one piece of it is another.
std::string build_with(std::string_view piece, std::string_view other) {
  auto text = build;
  const auto at = text.find(piece);
  EXPECT_NE(at, std::string::npos) << piece;
  return text.replace(at, piece.size(), other);
}

TEST(edit, a_text_that_is_no_toml_is_refused) {
  EXPECT_THAT(set("workerTypes = [", "a", "b", "1"), HasSubstr("refused: The file is not TOML"));
  EXPECT_THAT(set("a = \"\xff\"", "a", "b", "1"), HasSubstr("refused: The file is not TOML"));
  EXPECT_THAT(set(std::string("a = \"\0\"", 7), "a", "b", "1"), HasSubstr("refused: "));
  EXPECT_THAT(set(std::string(100'000, '['), "a", "b", "1"), HasSubstr("refused: "));
}

TEST(edit, an_unknown_rule_is_refused_with_the_nearest_name) {
  EXPECT_EQ(set(build, "basics", "owner", "1"),
            "refused: There is no rule `basics`; did you mean `basic`?");
  EXPECT_EQ(set("workerTypes = []", "basic", "owner", "1"), "refused: There is no rule `basic`.");
}

TEST(edit, a_value_that_is_more_than_one_value_is_refused) {
  EXPECT_THAT(set(build, "ami", "aws.ImageId", "1\nx = 2"), HasSubstr("one line"));
  EXPECT_THAT(set(build, "ami", "aws.ImageId", "1 # why"), HasSubstr("more than a TOML value"));
  EXPECT_THAT(set(build, "ami", "aws.ImageId", ""), HasSubstr("not a TOML value"));
  EXPECT_THAT(set(build, "ami", "aws.ImageId", "[1"), HasSubstr("not a TOML value"));
}

TEST(edit, a_value_below_something_that_is_no_table_is_refused) {
  EXPECT_EQ(set(build, "ami", "aws.ImageId.x", "1"),
            "refused: `aws.ImageId` is not a table, so nothing can be set below it; set it whole.");
  EXPECT_THAT(set(build, "basic", "providers.x", "1"), HasSubstr("`providers` is not a table"));
}

TEST(edit, an_edit_that_makes_the_configuration_wrong_is_refused) {
  EXPECT_THAT(edited(build, {SetCondition{"ami", "region", {"[us"}}}), HasSubstr("refused: "));
  EXPECT_THAT(edited(build, {SetConditions{"ami", "3"}}), HasSubstr("refused: "));
}

TEST(edit, one_value_changes_and_no_other_byte) {
  EXPECT_EQ(set(build, "ami", "aws.ImageId", "\"ami-9\""),
            build_with("ImageId = \"ami-1\"", "ImageId = \"ami-9\""));
  EXPECT_EQ(set(build, "basic", "maxCapacity", "7"), build_with("= 200   #", "= 7   #"));
}

TEST(edit, the_quotes_of_the_old_value_are_kept_where_they_can_say_the_new_one) {
  EXPECT_EQ(set(build, "basic", "owner", "\"a@example.com\""),
            build_with("'build@example.com'", "'a@example.com'"));
  EXPECT_EQ(set(build, "basic", "owner", R"("o'neill@example.com")"),
            build_with("'build@example.com'", R"("o'neill@example.com")"));
}

TEST(edit, the_same_value_changes_nothing) {
  EXPECT_EQ(set(build, "basic", "providers", "['ec2', 'dc1']"), build);
  EXPECT_EQ(set(build, "basic", "maxCapacity", "0xC8"), build);
}

TEST(edit, elements_of_an_array_come_and_go_by_their_lines) {
  EXPECT_EQ(set(build, "basic", "providers", R"(["ec2", "dc1", "gce"])"),
            build_with("\"dc1\"   # the cellar\n", "\"dc1\",   # the cellar\n  \"gce\"\n"));
  EXPECT_EQ(
      set(build, "basic", "providers", R"(["ec2"])"),
      build_with("\"ec2\",  # the cloud\n  \"dc1\"   # the cellar\n", "\"ec2\"  # the cloud\n"));
  EXPECT_EQ(set(build, "basic", "providers", R"(["dc1"])"),
            build_with("  \"ec2\",  # the cloud\n", ""));
  EXPECT_EQ(set(build, "basic", "providers", R"(["gce", "ec2", "dc1"])"),
            build_with("  \"ec2\",", "  \"gce\",\n  \"ec2\","));
}

TEST(edit, a_new_key_follows_the_last_one_of_its_table) {
  EXPECT_EQ(set(build, "basic", "scalingRatio", "0.5"),
            build_with("'build@example.com'\n", "'build@example.com'\nscalingRatio = 0.5\n"));
  EXPECT_EQ(set(build, "ami", "aws.\"Key Name\"", "\"k\""),
            build_with("# Debian 12\n", "# Debian 12\n\"Key Name\" = \"k\"\n"));
}

TEST(edit, a_table_known_only_by_its_sub_tables_gets_a_header) {
  EXPECT_EQ(
      set(build, "ami", "minCapacity", "1"),
      build_with("[rules.values.aws]", "[rules.values]\nminCapacity = 1\n[rules.values.aws]"));
  EXPECT_EQ(set(build, "ami", "google.image", "\"g\""),
            build_with("# Debian 12\n", "# Debian 12\n[rules.values.google]\nimage = \"g\"\n"));
}

TEST(edit, a_rule_without_values_gets_them) {
  EXPECT_EQ(set(build, "late", "minCapacity", "1"), build + "[rules.values]\nminCapacity = 1\n");
  EXPECT_EQ(set(build, "late", "aws.ImageId", "\"a\""),
            build + "[rules.values.aws]\nImageId = \"a\"\n");
}

TEST(edit, a_table_header_used_elsewhere_is_used_for_a_new_table) {
  EXPECT_EQ(set(build, "basic", "aws.ImageId", "\"a\""),
            build_with("'build@example.com'\n",
                       "'build@example.com'\n[rules.values.aws]\nImageId = \"a\"\n"));
  EXPECT_EQ(set(build, "basic", "azure.image", "\"a\""),
            build_with("'build@example.com'\n", "'build@example.com'\nazure.image = \"a\"\n"));
}

TEST(edit, dotted_keys_and_inline_tables_stay_what_they_are) {
  const std::string text =
      "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\nvalues.gce = {zone = 'z', n = 1}\n";
  EXPECT_EQ(set(text, "a", "aws.KeyName", "\"k\""),
            "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\nvalues.aws.KeyName=\"k\"\n"
            "values.gce = {zone = 'z', n = 1}\n");
  EXPECT_EQ(set(text, "a", "gce.disk.size", "3"),
            "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\n"
            "values.gce = {zone = 'z', n = 1, disk.size = 3}\n");
  EXPECT_EQ(unset(text, "a", "gce.n"),
            "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\nvalues.gce = {zone = 'z'}\n");
  EXPECT_EQ(unset(text, "a", "gce.zone"),
            "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\nvalues.gce = {n = 1}\n");
  EXPECT_EQ(unset(text, "a", "gce"), "[[rules]]\nruleId = 'a'\nvalues.aws.ImageId='x'\n");
}

TEST(edit, a_table_is_replaced_key_by_key) {
  EXPECT_EQ(set(build, "ami", "aws", "{ ImageId = 'ami-2', KeyName = 'k' }"),
            build_with("ImageId = \"ami-1\"  # Debian 12\n",
                       "ImageId = \"ami-2\"  # Debian 12\nKeyName = \"k\"\n"));
  EXPECT_EQ(
      set(build, "ami", "aws", "'none'"),
      build_with("[rules.values.aws]\n# the bakery writes the next line\nImageId = \"ami-1\"  "
                 "# Debian 12\n",
                 "[rules.values]\naws = \"none\"\n"));
}

TEST(edit, a_removed_value_takes_its_line_and_leaves_other_comments) {
  EXPECT_EQ(unset(build, "basic", "maxCapacity"),
            build_with("maxCapacity   = 200   # agreed with finance\n", ""));
  EXPECT_EQ(unset(build, "ami", "aws.ImageId"),
            build_with("ImageId = \"ami-1\"  # Debian 12\n", ""));
}

TEST(edit, tables_left_empty_go_too) {
  const std::string text =
      "[[rules]]\nruleId = 'a'\n\n[rules.values.aws.disk]\nsize = 1\n\n[[rules]]\nruleId = 'b'\n";
  EXPECT_EQ(unset(text, "a", "aws.disk.size"),
            "[[rules]]\nruleId = 'a'\n\n[[rules]]\nruleId = 'b'\n");
}

TEST(edit, a_value_that_is_not_there_cannot_be_removed) {
  EXPECT_EQ(unset(build, "ami", "aws.ImageID"),
            "refused: Rule `ami` does not set `aws.ImageID`. Did you mean `aws.ImageId`?");
}

TEST(edit, crlf_a_byte_order_mark_and_a_missing_last_line_end_are_kept) {
  const std::string text = "\xEF\xBB\xBF[[rules]]\r\nruleId = 'a'\r\n[rules.values]\r\nn = 1";
  EXPECT_EQ(set(text, "a", "n", "2"),
            "\xEF\xBB\xBF[[rules]]\r\nruleId = 'a'\r\n[rules.values]\r\nn = 2");
  EXPECT_EQ(set(text, "a", "m", "2"),
            "\xEF\xBB\xBF[[rules]]\r\nruleId = 'a'\r\n[rules.values]\r\nn = 1\r\nm = 2");
  EXPECT_EQ(edited(text, {AddRule{"b", "B", {RulePlace::Where::first}}}),
            "\xEF\xBB\xBF[[rules]]\r\nruleId = \"b\"\r\ndescription = \"B\"\r\n\r\n[[rules]]\r\n"
            "ruleId = 'a'\r\n[rules.values]\r\nn = 1");
}

TEST(edit, conditions_are_set_one_by_one_and_whole) {
  EXPECT_EQ(edited(build, {SetCondition{"ami", "region", {"us-*", "eu-*"}}}),
            build_with("[\"us-*\"]", "[\"us-*\", \"eu-*\"]"));
  EXPECT_EQ(edited(build, {SetCondition{"ami", "region", {"eu-*"}}}),
            build_with("[\"us-*\"]", "\"eu-*\""));
  EXPECT_EQ(edited(build, {SetCondition{"ami", "region", {}}}),
            build_with(", region = [\"us-*\"]", ""));
  EXPECT_EQ(edited(build, {SetCondition{"late", "region", {"eu-*"}}}),
            build + "conditions = { region = \"eu-*\" }\n");
  EXPECT_EQ(edited(build, {SetConditions{"ami", ""}}),
            build_with("conditions = { provider = \"ec2\", region = [\"us-*\"] }\n", ""));
  EXPECT_EQ(edited(build, {SetConditions{"ami", "[{region = 'a'}, {region = 'b'}]"},
                           SetCondition{"ami", "region", {"c"}}}),
            "refused: Rule `ami` has 2 alternative conditions, so it is not clear which of them to "
            "change; set all its conditions at once.");
}

TEST(edit, unset_paths_come_and_go) {
  const auto with = edited(build, {AddUnset{"late", {"aws", "Key Name"}}});
  EXPECT_EQ(with, build + "unset = [\"aws.\\\"Key Name\\\"\"]\n");
  EXPECT_EQ(edited(with, {AddUnset{"late", {"aws", "Key Name"}}}), with);
  EXPECT_EQ(edited(with, {RemoveUnset{"late", {"aws", "Key Name"}}}), build);
  EXPECT_EQ(edited(build, {RemoveUnset{"late", {"aws"}}}),
            "refused: Rule `late` does not unset `aws`.");
}

TEST(edit, a_rule_is_added_where_asked) {
  const std::string rule = "[[rules]]\nruleId = \"new\"\ndescription = \"New\"\n";
  EXPECT_EQ(edited(build, {AddRule{"new", "New"}}), build + "\n" + rule);
  EXPECT_EQ(edited(build, {AddRule{"new", "New", {RulePlace::Where::before, "late"}}}),
            build_with("# for Sam", rule + "\n# for Sam"));
  EXPECT_EQ(edited(build, {AddRule{"new", "New", {RulePlace::Where::after, "ami"}}}),
            build_with("# Debian 12\n", "# Debian 12\n\n" + rule));
  EXPECT_EQ(edited(build, {AddRule{"ami", "New"}}), "refused: There is a rule `ami` already.");
  EXPECT_EQ(edited("", {AddRule{"new", "New"}, SetValue{"new", {"n"}, "1"}}),
            rule + "[rules.values]\nn = 1\n");
}

TEST(edit, a_rule_goes_with_its_own_comments_and_no_others) {
  auto without = build;
  const auto begin = without.find("# who"), end = without.find("[[rules]]\nruleId = \"ami\"");
  without.erase(begin, end - begin);
  EXPECT_EQ(edited(build, {RemoveRule{"basic"}}), without);
  EXPECT_EQ(edited(build, {RemoveRule{"late"}}), build.substr(0, build.find("\n# for Sam")));
}

TEST(edit, a_rule_moves_with_its_own_comments) {
  const auto moved = edited(build, {MoveRule{"late", {RulePlace::Where::first}}});
  EXPECT_EQ(moved.find("# for Sam\n[[rules]]\nruleId = \"late\"\ndescription = \"Late\"\n\n# who"),
            build.find("# who"));
  EXPECT_TRUE(moved.ends_with("# -- below: exceptions --\n"));
  EXPECT_EQ(edited(build, {MoveRule{"ami", {RulePlace::Where::after, "basic"}}}), build);
  EXPECT_EQ(edited(build, {MoveRule{"ami", {RulePlace::Where::after, "ami"}}}),
            "refused: A rule cannot be moved next to itself.");
}

TEST(edit, inline_rules_are_edited_in_place) {
  const std::string text = "rules = [\n  { ruleId = 'a' }, # A\n  { ruleId = 'b' }\n]\n";
  EXPECT_EQ(edited(text, {AddRule{"c", "C"}}),
            "rules = [\n  { ruleId = 'a' }, # A\n  { ruleId = 'b' },\n"
            "  { ruleId = \"c\", description = \"C\" }\n]\n");
  EXPECT_EQ(set(text, "b", "aws.n", "1"),
            "rules = [\n  { ruleId = 'a' }, # A\n  { ruleId = 'b', values.aws.n = 1 }\n]\n");
  EXPECT_EQ(edited(text, {RemoveRule{"b"}}), "rules = [\n  { ruleId = 'a' } # A\n]\n");
  EXPECT_EQ(edited(text, {MoveRule{"b", {RulePlace::Where::first}}}),
            "rules = [\n  { ruleId = 'b' },\n  { ruleId = 'a' } # A\n]\n");
  EXPECT_EQ(edited("rules = []", {AddRule{"c", "C"}}),
            "rules = [{ ruleId = \"c\", description = \"C\" }]");
}

TEST(edit, several_edits_are_all_done_or_none) {
  EXPECT_EQ(edited(build, {SetValue{"late", {"n"}, "1"}, RemoveRule{"nobody"}}),
            "refused: There is no rule `nobody`.");
}

TEST(edit, typed_values_are_toml_or_else_strings) {
  EXPECT_EQ(toml_value_or_string("12"), "12");
  EXPECT_EQ(toml_value_or_string("ami-9"), "\"ami-9\"");
  EXPECT_EQ(toml_value_or_string("['a', 2]"), "['a', 2]");
  EXPECT_EQ(toml_value_or_string("2024-01-02"), "\"2024-01-02\"");
  EXPECT_EQ(toml_value_or_string("nan"), "\"nan\"");
  EXPECT_EQ(toml_value_or_string("1 # one"), "\"1 # one\"");
  EXPECT_EQ(toml_value_or_string("a\nb"), "\"a\\nb\"");
  EXPECT_EQ(toml_value_or_string(""), "\"\"");
  EXPECT_EQ(*to_toml({{"a", {1, 2.5, "x"}}, {"b c", true}}),
            "{ a = [1, 2.5, \"x\"], \"b c\" = true }");
  EXPECT_FALSE(to_toml({{"a", nullptr}}));
}

}  // namespace
}  // namespace muster::rules
