#include <cmath>
#include <cstring>
#include <random>

#include <gtest/gtest.h>

#include <muster/json.hpp>
#include <muster/utf8.hpp>

namespace muster::json {
namespace {

std::string error_of(std::string_view text) {
  const auto parsed = parse(text);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(Json, refuses_what_is_not_json_and_says_where) {
  EXPECT_EQ(error_of("{\n  \"a\": tru\n}"), "not JSON: syntax error, line 2, column 8");
  for (const char* bad : {"", "{", "[1,]", "{\"a\":1,}", "nul", "01", "1.", "\"\\x\"", "\"\t\"",
                          "[1] 2", "'a'", "NaN", "// c\n1", "\xff", "\"\xc3\x28\"", "\"\\ud800\""})
    EXPECT_NE(error_of(bad), "accepted") << bad;
}

TEST(Json, refuses_duplicate_keys_because_readers_disagree_about_them) {
  EXPECT_EQ(error_of(R"({"a":1,"b":{"c":1,"c":2}})"),
            "the key \"c\" occurs twice in one object, line 1, column 21");
  EXPECT_EQ(error_of(R"({"a":1,"b":{"a":1}})"), "accepted");
}

TEST(Json, refuses_nesting_past_the_limit_without_using_the_stack) {
  EXPECT_EQ(error_of(std::string(100'000, '[')).substr(0, 31), "nested deeper than 64 levels, l");
  EXPECT_EQ(error_of(std::string(64, '[') + std::string(64, ']')), "accepted");
}

TEST(Json, refuses_numbers_that_no_double_holds) {
  EXPECT_NE(error_of("1e999"), "accepted");
}

TEST(Json, numbers_survive_a_round_trip) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t bits = random();
    double number;
    std::memcpy(&number, &bits, sizeof number);
    if (!std::isfinite(number)) continue;
    const std::string text = write(value(number));
    const auto parsed = parse(text);
    ASSERT_TRUE(parsed) << text;
    ASSERT_EQ(parsed->to_number<double>(), number) << text;
  }
}

TEST(Json, integers_keep_all_their_digits) {
  EXPECT_EQ(write(*parse("[9223372036854775807,18446744073709551615,-9223372036854775808]")),
            "[9223372036854775807,18446744073709551615,-9223372036854775808]");
}

TEST(Json, writes_compact_and_pretty) {
  const value document = *parse(R"({"b":[1,2.5,{}],"a":{"c":null,"d":[]},"e":"\u0007\n\""})");
  EXPECT_EQ(write(document), R"({"b":[1,2.5,{}],"a":{"c":null,"d":[]},"e":"\u0007\n\""})");
  EXPECT_EQ(write_pretty(document),
            "{\n  \"b\": [\n    1,\n    2.5,\n    {}\n  ],\n  \"a\": {\n    \"c\": null,\n    "
            "\"d\": []\n  },\n"
            "  \"e\": \"\\u0007\\n\\\"\"\n}");
}

// RFC 8785, section 3.2.3 and appendix B.
TEST(Json, canonical_form_is_that_of_rfc_8785) {
  EXPECT_EQ(canonical(*parse(
                R"({"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],
      "string":"\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/","literals":[null,true,false]})")),
            "{\"literals\":[null,true,false],\"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],"
            "\"string\":\"\xe2\x82\xac$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}");
  EXPECT_EQ(
      canonical(*parse(
          "{\"\\u20ac\":1,\"\\r\":2,\"\\ufb33\":3,\"1\":4,\"\\ud83d\\ude00\":5,\"\\u0080\":6,"
          "\"\\u00f6\":7}")),
      "{\"\\r\":2,\"1\":4,\"\xc2\x80\":6,\"\xc3\xb6\":7,\"\xe2\x82\xac\":1,\"\xf0\x9f\x98\x80\":5,"
      "\"\xef\xac\xb3\":3}");
  const std::pair<std::uint64_t, const char*> numbers[] = {
      {0x0000000000000000, "0"},
      {0x8000000000000000, "0"},
      {0x0000000000000001, "5e-324"},
      {0x8000000000000001, "-5e-324"},
      {0x7fefffffffffffff, "1.7976931348623157e+308"},
      {0x4340000000000000, "9007199254740992"},
      {0x4430000000000000, "295147905179352830000"},
      {0x44b52d02c7e14af5, "9.999999999999997e+22"},
      {0x44b52d02c7e14af6, "1e+23"},
      {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
      {0x444b1ae4d6e2ef4e, "999999999999999700000"},
      {0x444b1ae4d6e2ef50, "1e+21"},
      {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
      {0x3eb0c6f7a0b5ed8d, "0.000001"},
      {0x41b3de4355555555, "333333333.3333333"},
      {0xbecbf647612f3696, "-0.0000033333333333333333"},
      {0x43143ff3c1cb0959, "1424953923781206.2"},
  };
  for (const auto& [bits, text] : numbers) {
    double number;
    std::memcpy(&number, &bits, sizeof number);
    EXPECT_EQ(canonical(value(number)), text);
  }
}

TEST(Json, writes_utf8_whatever_a_string_holds) {
  const object document{{"k\xff", "\xff a \xed\xa0\x80 \xc3"}, {"ok", "\xc3\xa4"}};
  for (const std::string& text : {write(document), write_pretty(document), canonical(document)}) {
    EXPECT_TRUE(is_utf8(text)) << text;
    EXPECT_TRUE(parse(text)) << text;
  }
  EXPECT_EQ(write(value("a\xff")), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(write(value("\xff")), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace muster::json
