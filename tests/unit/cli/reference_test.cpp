// Completion, manual pages and advice, from one description of the commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/reference/command_info.hpp"

namespace muster::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

CommandInfo commands() {
  const OptionInfo json{.names = {"--json"}, .description = "Print JSON"};
  const OptionInfo output{
      .names = {"--output", "-o"}, .value = "TEXT", .choices = {"wide", "name"}};
  const OptionInfo pool{.names = {"pool"}, .value = "TEXT", .required = true, .is_argument = true};
  return {.path = "muster",
          .description = "keeps fleets",
          .commands = {{.path = "muster pool",
                        .description = "Pools",
                        .commands = {{.path = "muster pool list",
                                      .description = "List 'all' \\ of them",
                                      .footer = ".hidden line",
                                      .options = {json, output}},
                                     {.path = "muster pool show", .options = {json, pool}}}},
                       {.path = "muster pools",
                        .description = "Same as: muster pool list",
                        .same_as = "muster pool list",
                        .options = {json}}}};
}

TEST(UsageAdvice, names_the_nearest_command_and_option) {
  EXPECT_EQ(usage_advice(commands(), {"pol", "list"}),
            "there is no command muster pol; did you mean muster pool?");
  EXPECT_EQ(usage_advice(commands(), {"pool", "lsit"}),
            "there is no command muster pool lsit; did you mean muster pool list?");
  EXPECT_EQ(usage_advice(commands(), {"pool", "list", "--jsn"}),
            "muster pool list has no option --jsn; did you mean --json?");
  EXPECT_EQ(usage_advice(commands(), {"pool", "list", "--frobnicate=1"}),
            "muster pool list has no option --frobnicate");
}

// A noun that shows what is named without a verb.
TEST(UsageAdvice, names_the_nearest_verb_where_a_name_is_followed_by_more) {
  CommandInfo root = commands();
  root.commands[0].options = {{.names = {"name"}, .value = "TEXT", .is_argument = true}};
  const std::string advice = "there is no command muster pool shwo; did you mean muster pool show?";
  EXPECT_EQ(usage_advice(root, {"pool", "shwo", "default"}), advice);
  EXPECT_EQ(usage_advice(root, {"pool", "shwo", "--wide"}), advice);
  EXPECT_EQ(usage_advice(root, {"pool", "shwo"}), "") << "it may be a pool";
  EXPECT_EQ(usage_advice(root, {"pool", "windows-large", "default"}), "");
  EXPECT_EQ(usage_advice(root, {"pool", "windows-large", "--wide"}),
            "muster pool has no option --wide");
}

TEST(UsageAdvice, says_nothing_of_names_that_are_right) {
  EXPECT_EQ(usage_advice(commands(), {"pool", "list", "-o", "--jsn"}), "") << "it is a value";
  EXPECT_EQ(usage_advice(commands(), {"pool", "list", "-oname"}), "");
  EXPECT_EQ(usage_advice(commands(), {"pool", "show", "nosuch"}), "");
  EXPECT_EQ(usage_advice(commands(), {"pool", "list", "--", "--jsn"}), "");
  EXPECT_EQ(named_command(commands(), {"pool", "list", "--jsn"}).path, "muster pool list");
}

TEST(Completion, has_commands_options_and_choices_of_each_shell) {
  EXPECT_THAT(
      bash_completion(commands()),
      AllOf(HasSubstr("['muster pool']='list show'"), HasSubstr("complete -F _muster muster"),
            HasSubstr("['muster pool list --output']='wide name'")));
  EXPECT_THAT(zsh_completion(commands()),
              AllOf(HasSubstr("#compdef muster\n"), HasSubstr("'List '\\''all'\\'' \\ of them'")));
  EXPECT_THAT(fish_completion(commands()),
              AllOf(HasSubstr("-l 'output' -s o -r -f -a 'wide name'"), HasSubstr("-a 'list'")));
}

TEST(ManPage, has_every_verb_and_escapes_what_roff_would_obey) {
  const std::string page = man_page(commands().commands[0], "1.2");
  EXPECT_THAT(page, AllOf(HasSubstr(".TH MUSTER\\-POOL 1"), HasSubstr(".SS \"muster pool list\""),
                          HasSubstr("\\fB\\-\\-output\\fR"), HasSubstr("\\&.hidden line"),
                          HasSubstr("\\e of them")));
  EXPECT_THAT(man_page_of_help("musterd", "musterd keeps fleets\nUsage: musterd\n.x", "1.2"),
              AllOf(HasSubstr("musterd \\- keeps fleets"), HasSubstr("\\&.x")));
}

TEST(Reference, lists_spellings_apart_from_commands) {
  const std::string text = reference_markdown(commands());
  EXPECT_THAT(text, AllOf(HasSubstr("| `muster pool show POOL` |"),
                          HasSubstr("| `muster pools` | `muster pool list` |")));
  const json::array all = reference_json(commands());
  ASSERT_EQ(all.size(), 5U);
  EXPECT_EQ(all[2].at("calls").at(0).as_string(), "GET /pools");
}

}  // namespace
}  // namespace muster::cli
