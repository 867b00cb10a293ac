// What reaches the screen: tables that fit, texts that do nothing, ages, names.
#include "cli/terminal.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using namespace std::chrono_literals;

const Time noon{std::chrono::sys_days{std::chrono::year{2026} / 3 / 1} + 12h};

View view(std::size_t columns, bool headers = true, bool wide = false) {
  return View(Style(false), columns, noon, headers, wide);
}

std::size_t widest_line(const std::string& text) {
  std::size_t widest = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at);
    widest = std::max(widest, display_width(std::string_view(text).substr(at, end - at)));
    at = end + 1;
  }
  return widest;
}

Table pools() {
  Table table;
  table.add_heads({"POOL", "STATE", "DETAIL", "WHY"});
  table.only_if_roomy({2});
  table.add({{"worker-manager/build-linux-opt"},
             {"blocked"},
             {"d"},
             {"the provider ec2 refuses launches until its quota of on-demand instances is raised; "
              "who can change it: the owner of the account"}});
  return table;
}

TEST(HarmlessText, does_nothing_to_a_terminal) {
  EXPECT_EQ(harmless("a\x1b[31mred\x07"), "a\\x1b[31mred\\x07");
  EXPECT_EQ(harmless("one\ntwo"), "one\\x0atwo");
  EXPECT_EQ(harmless("one\ntwo\x1b", NewLines::kept), "one\ntwo\\x1b");
  EXPECT_EQ(harmless("\xC2\x9B"
                     "2J"),
            "\\u009b2J")
      << "a control character of two bytes";
  EXPECT_EQ(harmless("\xE2\x80\xAE"
                     "evil"),
            "\\u202eevil")
      << "it would reverse the line";
  EXPECT_EQ(harmless("grün → ok"), "grün → ok");
}

TEST(TableText, escapes_what_cells_hold_before_it_measures_them) {
  Table table;
  table.add({{"a\x1b[2J"}, {"b"}});
  EXPECT_EQ(table.text(view(View::no_limit)), "a\\x1b[2J  b\n");
}

TEST(TableText, fits_the_terminal_and_folds_the_reason_in_its_column) {
  for (const std::size_t columns : {40, 60, 80, 120}) {
    const std::string text = pools().text(view(columns));
    EXPECT_LE(widest_line(text), columns) << text;
    EXPECT_THAT(text, Not(HasSubstr("DETAIL")));
  }
  EXPECT_THAT(pools().text(view(80)), HasSubstr("\n                                         "));
}

TEST(TableText, is_one_line_for_each_row_without_a_terminal_and_with_wide) {
  for (const View& wide : {view(View::no_limit), view(80, true, true)}) {
    const std::string text = pools().text(wide);
    EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 2);
    EXPECT_THAT(text, HasSubstr("DETAIL"));
  }
}

TEST(TableText, leaves_out_heads_if_asked) {
  EXPECT_THAT(pools().text(view(80, false)), Not(HasSubstr("POOL")));
}

TEST(FoldedText, breaks_between_words_and_long_words_anywhere) {
  EXPECT_THAT(folded("one two three", 7), ElementsAre("one two", "three"));
  EXPECT_THAT(folded("abcdefgh", 3), ElementsAre("abc", "def", "gh"));
  EXPECT_THAT(folded("äöüß", 2), ElementsAre("äö", "üß"));
  EXPECT_THAT(folded("", 5), ElementsAre(""));
}

TEST(Ages, are_short_and_beside_the_time) {
  const View at_noon = view(80);
  EXPECT_EQ(at_noon.age("2026-03-01T11:57:00.000Z"), "3m");
  EXPECT_EQ(at_noon.age("2026-03-01T11:59:01.000Z"), "59s");
  EXPECT_EQ(at_noon.age("2026-02-26T12:00:00.000Z"), "3d");
  EXPECT_EQ(at_noon.age("2026-03-01T15:00:00.000Z"), "in 3h");
  EXPECT_EQ(at_noon.age("9999-12-31T00:00:00.000Z"), "");
  EXPECT_EQ(at_noon.age("tomorrow"), "");
  EXPECT_EQ(at_noon.time("2026-03-01T11:57:00.000Z"), "2026-03-01 11:57:00 (3m)");
}

std::string names_of(const char* text) {
  return names_in(json::parse_object(text).value());
}

TEST(NamesAlone, are_those_of_a_list_or_of_one_thing) {
  EXPECT_EQ(names_of(R"({"workers": [{"workerGroup": "g", "workerId": "w\u001b"},
                                     {"workerGroup": "g", "workerId": "v"}]})"),
            "g/w\\x1b\ng/v\n");
  EXPECT_EQ(names_of(R"({"workerPoolId": "p/a", "launchConfigs": []})"), "p/a\n");
  EXPECT_EQ(names_of(R"({"requests": [{"requestId": "7", "workerPoolId": "p/a"}]})"), "7\n");
  EXPECT_EQ(names_of(R"({"pools": [1, "x", null]})"), "") << "a host that lies";
}

}  // namespace
}  // namespace muster::cli
