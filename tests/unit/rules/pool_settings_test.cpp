#include <gtest/gtest.h>

#include <muster/rules/pool_settings.hpp>

namespace muster::rules {
namespace {

CheckedPoolSettings settings_with(const std::string& line) {
  const Parsed parsed = parse_toml(R"(workerTypes = ["t"]
[[rules]]
ruleId = "r"
description = "d"
[rules.values]
providers = ["p"]
maxCapacity = 1
owner = "o"
description = "d"
)" + line + "\n",
                                   "t.toml");
  return pool_settings(*parsed.document, "t");
}

TEST(PoolSettings, a_strategy_is_a_name_or_a_table_with_a_name) {
  for (const char* wrong : {"strategy = []", "strategy = \"\"", "strategy = { name = 1 }",
                            "strategy = { name = \"\" }"})
    EXPECT_TRUE(has_errors(settings_with(wrong).problems)) << wrong;
  EXPECT_EQ(settings_with("strategy = \"cheapest\"").settings.strategy, "cheapest");
  const auto table = settings_with("strategy = { name = \"cheapest\", risk = 2 }");
  EXPECT_FALSE(has_errors(table.problems));
  EXPECT_EQ(table.settings.strategy, "cheapest");
  EXPECT_EQ(json::write(table.settings.strategy_settings), R"({"risk":2})");
  const auto nameless = settings_with("strategy = { risk = 2 }");
  EXPECT_EQ(nameless.settings.strategy, "");
  EXPECT_EQ(json::write(nameless.settings.strategy_settings), R"({"risk":2})");
}

TEST(PoolSettings, a_launch_document_has_none_of_them) {
  json::object evaluated = {{"aws", 1}, {"workerManager", 2}, {"workerConfig", 3}};
  const std::string launch = json::write(evaluated);
  for (const std::string& name : pool_setting_names()) {
    EXPECT_TRUE(is_pool_setting(name));
    evaluated[name] = 4;
  }
  EXPECT_EQ(json::write(launch_document(evaluated)), launch);
}

}  // namespace
}  // namespace muster::rules
