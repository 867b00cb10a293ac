#include <gtest/gtest.h>

#include <muster/rules/problem_json.hpp>

namespace muster::rules {
namespace {

TEST(ProblemJsonTest, has_every_part_of_a_problem) {
  const Problem problem{Severity::warning, {"build.toml", {3, 7}}, "rules[0].values", "it is empty",
                        "delete it",       "emptyValues"};
  const json::object expected{
      {"severity", "warning"}, {"file", "build.toml"},     {"line", 3},
      {"column", 7},           {"key", "rules[0].values"}, {"reason", "it is empty"},
      {"remedy", "delete it"}, {"code", "emptyValues"}};
  EXPECT_EQ(json::value(to_json(problem)), json::value(expected));
}

}  // namespace
}  // namespace muster::rules
