// What a new version of worker configurations changed.
#include "host/pools/difference.hpp"

#include <gtest/gtest.h>

namespace muster::pools {
namespace {

rules::SourceFile file(const std::string& name, const std::string& capacity,
                       const std::string& more = "") {
  return {name + ".toml", "workerTypes = [\"" + name + "\"]\n[[rules]]\nruleId = \"all\"\n" +
                              "[rules.values]\nmaxCapacity = " + capacity + "\n" + more};
}

const FactsOf no_facts = [](const std::string&) { return std::vector<rules::Facts>(); };

json::array changes(std::vector<rules::SourceFile> before, std::vector<rules::SourceFile> after,
                    const FactsOf& facts = no_facts) {
  return difference({"1", std::move(before)}, {"2", std::move(after)}, facts)
      .at("changes")
      .as_array();
}

TEST(Difference, of_the_same_files_and_of_files_with_errors_is_none) {
  EXPECT_TRUE(changes({file("build", "4")}, {file("build", "4")}).empty());
  EXPECT_TRUE(changes({{"build.toml", "nonsense ["}}, {{"build.toml", "more ["}}).empty());
  EXPECT_TRUE(changes({}, {}).empty());
}

TEST(Difference, names_the_value_and_the_line_on_both_sides) {
  const auto found =
      changes({file("build", "4"), file("test", "1")}, {file("build", "8"), file("test", "1")});
  ASSERT_EQ(found.size(), 1U);
  const json::object& change = found[0].as_object();
  EXPECT_EQ(change.at("workerPoolId"), "worker-manager/build");
  EXPECT_EQ(change.at("key"), "maxCapacity");
  EXPECT_EQ(change.at("before").at("value"), 4);
  EXPECT_EQ(change.at("after").at("value"), 8);
  EXPECT_EQ(change.at("after").at("file"), "build.toml");
  EXPECT_EQ(change.at("after").at("line"), 5);
  EXPECT_EQ(change.at("after").at("rule"), "all");
}

TEST(Difference, a_value_that_came_or_went_has_one_side) {
  const auto came = changes({file("build", "4")}, {file("build", "4", "minCapacity = 1\n")});
  ASSERT_EQ(came.size(), 1U);
  EXPECT_TRUE(came[0].at("before").is_null());
  EXPECT_EQ(came[0].at("after").at("value"), 1);
  const auto went = changes({file("build", "4", "minCapacity = 1\n")}, {file("build", "4")});
  ASSERT_EQ(went.size(), 1U);
  EXPECT_TRUE(went[0].at("after").is_null());
}

TEST(Difference, pools_come_and_go) {
  const auto found = changes({file("build", "4")}, {file("test", "4")});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at("what"), "removed");
  EXPECT_EQ(found[1].at("what"), "added");
}

TEST(Difference, counts_the_launch_configurations_that_a_rule_reaches) {
  const std::string rule =
      "[[rules]]\nruleId = \"us\"\nconditions = { region = \"us\" }\n[rules.values]\n";
  const FactsOf places = [](const std::string&) {
    return std::vector<rules::Facts>{{{"region", "us"}}, {{"region", "eu"}}, {{"region", "us"}}};
  };
  const auto found = changes({file("build", "4", rule + "owner = \"a\"\n")},
                             {file("build", "4", rule + "owner = \"b\"\n")}, places);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].at("cases"), 2);
  EXPECT_EQ(found[0].at("ofCases"), 3);
}

TEST(Difference, is_bounded) {
  const auto found = difference({"1", {file("build", "4"), file("test", "4")}},
                                {"2", {file("build", "5"), file("test", "5")}}, no_facts,
                                {.changes = 1, .fact_sets = 1});
  EXPECT_EQ(found.at("changes").as_array().size(), 1U);
  EXPECT_EQ(found.at("more"), 1);
}

}  // namespace
}  // namespace muster::pools
