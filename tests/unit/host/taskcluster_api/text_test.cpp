// Texts and patterns that need no host.
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "host/taskcluster_api/pattern.hpp"
#include "host/taskcluster_api/pretty_text.hpp"

namespace muster::taskcluster_api {
namespace {

TEST(PrettyText, writes_what_a_tree_of_values_would_be_written_as) {
  const json::value document =
      json::parse(R"({"a": [], "b": {}, "c": [1, -2.5, "x\"\\\n\u0001\u00e9", null, true],
                     "d": {"e": {"f": [[{}]]}}, "": ""})")
          .value();
  PrettyText text;
  text.value(document);
  EXPECT_EQ(text.take(), json::write_pretty(document));
}

TEST(PrettyText, keeps_its_indent_at_any_depth) {
  json::value deep = 1;
  for (int i = 0; i < 40; ++i) deep = json::array{deep};
  PrettyText text;
  text.value(deep);
  EXPECT_EQ(text.take(), json::write_pretty(deep));
}

TEST(PrettyText, writes_times_as_everybody_else_does) {
  for (const std::int64_t ms : {0LL, 1LL, 951'868'799'999LL, 1'000'000'000'000LL,
                                1'772'323'199'001LL, 4'102'444'800'000LL, 253'402'300'799'999LL}) {
    const Time time{std::chrono::milliseconds(ms)};
    std::string text;
    append_time(text, time);
    EXPECT_EQ(text, format_time(time));
  }
}

TEST(Patterns, worker_pool_ids) {
  const auto fits = identifiers::worker_pool_id.matches;
  for (const char* wrong : {"", "/", "p", "p/", "/w", "p/W", "p/w-", "p/-w", "p/1w", "p/w_x",
                            "p/w/x", "p.q/w", "p/w\n", "p /w"})
    EXPECT_FALSE(fits(wrong)) << wrong;
  EXPECT_FALSE(fits(std::string(39, 'p') + "/w"));
  EXPECT_FALSE(fits("p/" + std::string(39, 'w')));
  for (const char* right : {"p/w", "P-_9/w", "p/w-1", "p/ww", "-/a9"})
    EXPECT_TRUE(fits(right)) << right;
  EXPECT_TRUE(fits(std::string(38, 'p') + "/" + std::string(38, 'w')));
}

TEST(Patterns, names_and_numbers) {
  EXPECT_FALSE(identifiers::name.matches(""));
  EXPECT_FALSE(identifiers::name.matches("a.b"));
  EXPECT_FALSE(identifiers::name.matches(std::string(39, 'a')));
  EXPECT_TRUE(identifiers::name.matches("eu-1_A"));
  EXPECT_FALSE(number_pattern.matches(""));
  EXPECT_FALSE(number_pattern.matches("-1"));
  EXPECT_TRUE(number_pattern.matches("007"));
  EXPECT_FALSE(anything_pattern.matches(""));
  EXPECT_FALSE(anything_pattern.matches("\n"));
  EXPECT_TRUE(anything_pattern.matches("x"));
  EXPECT_TRUE(some_worker_pool_pattern.matches(""));
  EXPECT_FALSE(some_worker_pool_pattern.matches("p w"));
  EXPECT_FALSE(flag_pattern.matches("True"));
  EXPECT_FALSE(launched_state_pattern.matches("standalone"));
  EXPECT_TRUE(worker_state_pattern.matches("standalone"));
}

}  // namespace
}  // namespace muster::taskcluster_api
