#include "cli/import/documents.hpp"

#include <vector>

#include <gtest/gtest.h>

#include <muster/error.hpp>

namespace muster::importing {
namespace {

json::object object(std::string_view text) {
  return json::parse_object(text).value();
}

// As rules do it.
void lay_over(json::object& target, const json::object& source) {
  for (const auto& [key, value] : source) {
    json::value* below = target.if_contains(key);
    if (below && below->is_object() && value.is_object())
      lay_over(below->get_object(), value.get_object());
    else
      target[key] = value;
  }
}

TEST(CommonPart, with_the_difference_laid_over_it_each_document_is_whole) {
  const std::vector<json::object> documents = {
      object(R"({"a": {"b": 1, "c": {"d": [1, 2]}}, "e": {}, "f": 1, "g": {"h": 1}})"),
      object(R"({"a": {"b": 1, "c": {"d": [1]}}, "e": {}, "f": "1", "g": {}})"),
      object(R"({"a": {"b": 1, "c": {"d": [1, 2], "x": 1}}, "e": {"y": 1}, "g": 7})")};
  std::vector<const json::object*> pointers;
  for (const json::object& document : documents) pointers.push_back(&document);
  const json::object common = common_part(pointers);
  EXPECT_EQ(common, object(R"({"a": {"b": 1}})"));
  for (const json::object& document : documents) {
    json::object whole = common;
    lay_over(whole, difference(document, common));
    EXPECT_EQ(whole, document);
  }
  EXPECT_EQ(common_part({}), json::object());
}

TEST(FirstDifference, names_the_path) {
  EXPECT_EQ(first_difference(object(R"({"a": {"b": 1}})"), object(R"({"a": {"b": 2}})")), "a.b");
  EXPECT_EQ(first_difference(object(R"({"a": 1})"), object(R"({"a": 1, "b": 2})")), "b");
  EXPECT_EQ(first_difference(object(R"({"a": 1, "b": 2})"), object(R"({"b": 2, "a": 1})")), "");
}

TEST(Take, keeps_the_order_of_what_stays) {
  json::object document = object(R"({"a": 1, "b": 2, "c": 3, "d": 4})");
  EXPECT_EQ(take(document, "b"), json::value(2));
  EXPECT_EQ(json::write(document), R"({"a":1,"c":3,"d":4})");
  EXPECT_TRUE(take(document, "nothing").is_null());
}

}  // namespace
}  // namespace muster::importing
