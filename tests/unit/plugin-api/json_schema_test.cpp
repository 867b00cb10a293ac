#include <string>

#include <gtest/gtest.h>

#include <muster/json_schema.hpp>

namespace muster::json {
namespace {

value json_of(std::string_view text) {
  return parse(text).value();
}

std::string compile_error(std::string_view schema) {
  const auto compiled = Schema::compile(json_of(schema));
  return compiled ? "accepted" : compiled.error().message;
}

// All violations, a line each.
std::string problems(std::string_view schema, std::string_view instance) {
  const auto compiled = Schema::compile(json_of(schema));
  if (!compiled) return "schema: " + compiled.error().message;
  std::string out;
  for (const Violation& one : compiled->validate(json_of(instance)))
    out += (out.empty() ? "" : "\n") + to_string(one);
  return out;
}

TEST(JsonSchema, refuses_a_malformed_schema_and_says_where) {
  EXPECT_EQ(compile_error("3"), "a schema must be an object, true or false, but is 3");
  EXPECT_EQ(compile_error(R"({"properties": {"a/b": {"minLength": -1}}})"),
            "the schema is wrong at #/properties/a~1b/minLength: must be a whole number of at "
            "least 0, but is -1");
  EXPECT_EQ(compile_error(R"({"type": "int"})"),
            "the schema is wrong at #/type: must be one of null, boolean, integer, number, string, "
            "array, object, but is \"int\"");
  EXPECT_EQ(compile_error(R"({"items": [true]})"),
            "the schema is wrong at #/items: must be one schema; a list of schemas is spelled "
            "\"prefixItems\" in draft 2020-12");
  for (const char* bad :
       {R"({"properties": 1})", R"({"properties": {"a": 1}})", R"({"required": "a"})",
        R"({"required": [1]})", R"({"enum": 1})", R"({"allOf": []})", R"({"allOf": [1]})",
        R"({"multipleOf": 0})", R"({"minimum": "1"})", R"({"uniqueItems": 1})", R"({"$ref": 1})",
        R"({"not": null})", R"({"pattern": 1})", R"({"patternProperties": {"(": true}})",
        R"({"dependentRequired": {"a": "b"}})", R"({"maxLength": 1e300})"})
    EXPECT_NE(compile_error(bad), "accepted") << bad;
}

TEST(JsonSchema, refuses_references_that_lead_nowhere) {
  EXPECT_EQ(compile_error(R"({"properties": {"a": {"$ref": "#/$defs/b"}}})"),
            "the schema is wrong at #/properties/a/$ref: \"#/$defs/b\" leads nowhere: there is no "
            "\"$defs\" at #");
  EXPECT_EQ(compile_error(R"({"$ref": "https://example.com/x#/a"})"),
            "the schema is wrong at #/$ref: \"https://example.com/x#/a\" leads nowhere: no schema "
            "with the address \"https://example.com/x\" is known");
  EXPECT_EQ(compile_error(R"({"$ref": "#/enum", "enum": [1]})"),
            "the schema is wrong at #/$ref: \"#/enum\" leads nowhere: the value is an array "
            "and not a schema");
  EXPECT_NE(compile_error(R"({"$ref": "#nowhere"})"), "accepted");
  EXPECT_NE(compile_error(R"({"$ref": "#/%"})"), "accepted");
}

TEST(JsonSchema, refuses_patterns_that_cannot_run_in_linear_time) {
  EXPECT_EQ(compile_error(R"j({"pattern": "^(?!x)"})j"),
            "the schema is wrong at #/pattern: the pattern \"^(?!x)\" cannot be used: it has a "
            "lookahead, which cannot be matched in linear time");
  EXPECT_NE(compile_error(R"({"pattern": "(a)\\1"})"), "accepted");
  EXPECT_NE(compile_error(R"({"pattern": "((a{1000}){1000}){1000}"})"), "accepted");
  EXPECT_NE(compile_error(R"({"pattern": "a\\"})"), "accepted");
  EXPECT_NE(compile_error(R"({"pattern": "\\u{}"})"), "accepted");
}

TEST(JsonSchema, refuses_drafts_it_does_not_understand) {
  EXPECT_EQ(
      compile_error(R"({"$schema": "http://json-schema.org/draft-04/schema#"})"),
      "\"$schema\" names http://json-schema.org/draft-04/schema, but drafts 6, 7, 2019-09 and "
      "2020-12 are understood");
}

TEST(JsonSchema, names_both_sides_of_a_mismatch) {
  EXPECT_EQ(problems(R"({"type": "integer"})", "\"3\""),
            "\"3\" is a string, but an integer is expected");
  EXPECT_EQ(problems(R"({"type": ["string", "null"]})", "[1]"),
            "is an array, but null or a string is expected");
  EXPECT_EQ(problems(R"({"type": "integer"})", "1.5"),
            "1.5 is a number, but an integer is expected");
  EXPECT_EQ(problems(R"({"minimum": 1})", "0"), "0 must be at least 1");
  EXPECT_EQ(problems(R"({"exclusiveMaximum": 1})", "1"), "1 must be less than 1");
  EXPECT_EQ(problems(R"({"multipleOf": 0.01})", "0.015"), "0.015 must be a multiple of 0.01");
  EXPECT_EQ(problems(R"({"const": "a"})", "\"b\""), "must be \"a\", but is \"b\"");
  EXPECT_EQ(problems(R"({"maxLength": 2})", "\"äöü\""),
            "\"äöü\" has 3 characters, but at most 2 are allowed");
  EXPECT_EQ(problems(R"({"pattern": "^ami-"})", "\"img-1\""),
            "\"img-1\" does not match the pattern ^ami-");
  EXPECT_EQ(problems(R"({"format": "date-time"})", "\"today\""),
            "\"today\" is not a date and time such as 2024-02-29T12:00:00Z");
  EXPECT_EQ(problems(R"({"minItems": 1})", "[]"), "has 0 items, but at least 1 are needed");
  EXPECT_EQ(problems(R"({"uniqueItems": true})", R"([1, "a", 1.0])"),
            "/2: 1 is already at index 0, but no item may occur twice");
  EXPECT_EQ(problems("false", "1"), "nothing is allowed here");
}

TEST(JsonSchema, suggests_the_key_or_word_that_was_probably_meant) {
  constexpr auto schema = R"({"properties": {"maxCapacity": {"type": "integer"}, "owner": true},
                              "additionalProperties": false})";
  EXPECT_EQ(problems(schema, R"({"maxCapcity": 1})"),
            "/maxCapcity: the key \"maxCapcity\" is not known; did you mean \"maxCapacity\"?");
  EXPECT_EQ(problems(schema, R"({"colour": 1})"),
            "/colour: the key \"colour\" is not known; known are maxCapacity, owner");
  EXPECT_EQ(problems(R"({"enum": ["spot", "onDemand", 3]})", "\"sopt\""),
            "\"sopt\" is not one of \"spot\", \"onDemand\", 3; did you mean \"spot\"?");
}

TEST(JsonSchema, reports_every_violation_with_its_place_in_the_instance_and_in_the_schema) {
  const auto schema = Schema::compile(json_of(
      R"({"properties": {"rules": {"items": {"required": ["ruleId"],
                                              "properties": {"a~b": {"type": "string"}}}}}})"));
  const auto found = schema->validate(json_of(R"({"rules": [{"ruleId": "x"}, {"a~b": 1}]})"));
  const std::vector<Violation> expected{
      {"/rules/1", "lacks the key \"ruleId\"", "#/properties/rules/items/required"},
      {"/rules/1/a~0b", "1 is an integer, but a string is expected",
       "#/properties/rules/items/properties/a~0b/type"}};
  EXPECT_EQ(found, expected);
}

TEST(JsonSchema, explains_the_alternative_that_came_closest) {
  constexpr auto schema = R"({"anyOf": [
      {"type": "string"},
      {"type": "object", "properties": {"port": {"maximum": 65535}}, "required": ["port"]}]})";
  EXPECT_EQ(problems(schema, R"({"port": 70000})"),
            "has none of the 2 allowed forms; closest: /port: 70000 must be at most 65535");
  EXPECT_EQ(problems(R"({"oneOf": [{"type": "integer"}, {"minimum": 2}]})", "3"),
            "must have exactly one of the 2 allowed forms, but has those with the numbers 1, 2");
}

TEST(JsonSchema, ends_on_a_schema_that_refers_to_itself_for_ever) {
  EXPECT_EQ(problems(R"({"$ref": "#"})", "1"),
            "it is nested too deeply to be checked, or the schema refers to itself without end");
  EXPECT_NE(problems(R"({"not": {"$ref": "#"}})", "1"), "");
  EXPECT_NE(problems(R"({"anyOf": [{"$ref": "#"}, true], "not": {"$ref": "#"}})", "1"), "");
}

TEST(JsonSchema, ends_on_a_schema_that_doubles_the_work_at_every_level) {
  object defs;
  for (int i = 0; i < 100; ++i) {
    const value next(object{{"$ref", "#/$defs/" + std::to_string(i + 1)}});
    defs.emplace(std::to_string(i), object{{"allOf", array{next, next}}});
  }
  defs.emplace("100", true);
  const auto schema = Schema::compile(object{{"$defs", defs}, {"$ref", "#/$defs/0"}});
  ASSERT_TRUE(schema);
  EXPECT_EQ(to_string(schema->validate(value(1)).at(0)), "it takes too many steps to check this");
}

TEST(JsonSchema, survives_deep_instances_and_deep_schemas) {
  value instance(1);
  value schema(object{{"type", "string"}});
  for (int i = 0; i < 3000; ++i) {
    instance = array{std::move(instance)};
    schema = object{{"items", std::move(schema)}};
  }
  const auto recursive = Schema::compile(json_of(R"({"items": {"$ref": "#"}})"));
  EXPECT_EQ(recursive->validate(instance).size(), 1U);
  EXPECT_EQ(Schema::compile(object{{"const", instance}})->validate(instance).size(), 1U);
  const auto deep = Schema::compile(schema);
  ASSERT_TRUE(deep);
  EXPECT_EQ(deep->validate(instance).size(), 1U);
}

TEST(JsonSchema, matches_patterns_on_long_strings_in_linear_time) {
  const auto schema = Schema::compile(json_of(R"({"pattern": "^(a+)+$"})"));
  EXPECT_TRUE(schema->validate(value(std::string(1'000'000, 'a'))).empty());
  const auto found = schema->validate(value(std::string(1'000'000, 'a') + "b"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_LT(found[0].message.size(), 200U);
}

TEST(JsonSchema, reports_a_limited_number_of_violations) {
  const auto schema = Schema::compile(json_of(R"({"items": {"type": "string"}})"));
  EXPECT_EQ(schema->validate(array(10'000, value(1))).size(), 50U);
}

TEST(JsonSchema, finds_duplicates_among_many_items_quickly) {
  array items;
  for (int i = 0; i < 50'000; ++i) items.emplace_back(object{{"n", i}});
  items.emplace_back(object{{"n", 7.0}});
  const auto schema = Schema::compile(json_of(R"({"uniqueItems": true})"));
  const auto found = schema->validate(items);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].path, "/50000");
}

TEST(JsonSchema, refers_to_other_schemas_by_their_address_and_keeps_nothing_of_them) {
  auto others = std::make_unique<SchemaRegistry>();
  others->emplace("https://example.com/port.json", json_of(R"({"type": "integer"})"));
  auto document = std::make_unique<value>(json_of(R"({"$ref": "https://example.com/port.json"})"));
  const auto schema = Schema::compile(*document, *others);
  ASSERT_TRUE(schema);
  others.reset();
  document.reset();
  const auto found = schema->validate(value("x"));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].schema_path, "https://example.com/port.json#/type");
}

TEST(JsonSchema, compares_numbers_exactly) {
  EXPECT_EQ(problems(R"({"maximum": 9007199254740992})", "9007199254740993"),
            "9007199254740993 must be at most 9007199254740992");
  EXPECT_EQ(problems(R"({"const": 18446744073709551615})", "18446744073709551615"), "");
  EXPECT_NE(problems(R"({"const": 18446744073709551615})", "-1"), "");
  EXPECT_EQ(problems(R"({"multipleOf": 0.1})", "0.3"), "");
  EXPECT_EQ(problems(R"({"multipleOf": 3})", "-9223372036854775808").substr(0, 20),
            "-9223372036854775808");
}

}  // namespace
}  // namespace muster::json
