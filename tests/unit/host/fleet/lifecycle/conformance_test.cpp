#include "host/fleet/lifecycle/conformance.hpp"

#include <gtest/gtest.h>

namespace muster::lifecycle {
namespace {

json::object object(std::string_view text) {
  return *json::parse_object(text);
}

LaunchConfig config(std::string_view document, const std::string& region = "r",
                    const std::string& type = "m5") {
  return {.launch_config_id = LaunchConfigId("lc"),
          .worker_pool_id = WorkerPoolId("p/w"),
          .placement = {{{"region", region}}},
          .document = object(document),
          .instance_type = type};
}

const FieldClasses classes{.static_fields = {"aws.ImageId"},
                           .dynamic_fields = {"aws.SubnetId", "aws.Placement.Zone"},
                           .behavioural_fields = {"aws.Tags", "note"}};

std::optional<std::string> judge(const LaunchConfig& launched, std::vector<LaunchConfig> current,
                                 const FieldClasses& by = classes) {
  std::vector<const LaunchConfig*> pointers;
  for (const LaunchConfig& each : current) pointers.push_back(&each);
  return why_outdated(launched, pointers, by);
}

TEST(Conformance, nothing_left_where_it_runs_makes_it_outdated) {
  EXPECT_EQ(judge(config("{}"), {}), "nothing is launched any more where it runs");
  EXPECT_EQ(judge(config("{}", "r"), {config("{}", "elsewhere")}),
            "nothing is launched any more where it runs");
}

TEST(Conformance, a_static_field_that_changed_is_named) {
  EXPECT_EQ(judge(config(R"({"aws":{"ImageId":"a"}})"), {config(R"({"aws":{"ImageId":"b"}})")}),
            "`aws.ImageId` of its launch configuration has changed");
}

TEST(Conformance, a_field_that_nobody_classed_is_static) {
  EXPECT_EQ(
      judge(config(R"({"aws":{"Disk":{"Size":1}}})"), {config(R"({"aws":{"Disk":{"Size":2}}})")}),
      "`aws.Disk.Size` of its launch configuration has changed");
}

TEST(Conformance, a_static_field_that_came_or_went_is_named) {
  EXPECT_EQ(judge(config("{}"), {config(R"({"key":1})")}),
            "`key` of its launch configuration has changed");
  EXPECT_EQ(judge(config(R"({"key":1})"), {config("{}")}),
            "`key` of its launch configuration has changed");
}

TEST(Conformance, the_difference_is_told_from_the_document_of_its_own_type) {
  EXPECT_EQ(judge(config(R"({"a":1,"b":1})", "r", "c5"),
                  {config(R"({"a":2,"b":1})", "r", "m5"), config(R"({"a":1,"b":2})", "r", "c5")}),
            "`b` of its launch configuration has changed");
}

TEST(Conformance, a_behavioural_field_may_change_come_and_go) {
  EXPECT_EQ(judge(config(R"({"note":"x","aws":{"Tags":{"a":1},"ImageId":"i"}})"),
                  {config(R"({"aws":{"Tags":{"b":[2]},"ImageId":"i"}})")}),
            std::nullopt);
}

TEST(Conformance, a_dynamic_value_is_fine_while_some_document_has_it) {
  const auto with = [](const std::string& subnet) {
    return config(R"({"aws":{"ImageId":"i","SubnetId":")" + subnet + "\"}}");
  };
  EXPECT_EQ(judge(with("a"), {with("b"), with("a")}), std::nullopt);
  EXPECT_EQ(judge(with("a"), {with("b"), with("c")}),
            "its value of `aws.SubnetId` is no longer among those that are launched");
}

TEST(Conformance, a_dynamic_value_of_a_document_that_differs_otherwise_does_not_count) {
  EXPECT_EQ(judge(config(R"({"aws":{"ImageId":"i","SubnetId":"a"}})"),
                  {config(R"({"aws":{"ImageId":"i","SubnetId":"b"}})"),
                   config(R"({"aws":{"ImageId":"j","SubnetId":"a"}})")}),
            "its value of `aws.SubnetId` is no longer among those that are launched");
}

TEST(Conformance, dynamic_fields_lie_at_any_depth_and_may_be_missing) {
  EXPECT_EQ(judge(config(R"({"aws":{"Placement":{"Zone":"a"}}})"),
                  {config(R"({"aws":{"Placement":{"Zone":"b"}}})")}),
            "its value of `aws.Placement.Zone` is no longer among those that are launched");
  EXPECT_EQ(judge(config(R"({"aws":{"Placement":{}}})"), {config(R"({"aws":{"Placement":{}}})")}),
            std::nullopt);
  EXPECT_EQ(judge(config(R"({"aws":{"SubnetId":"a"}})"), {config(R"({"aws":{}})")}),
            "its value of `aws.SubnetId` is no longer among those that are launched");
}

TEST(Conformance, a_path_through_something_that_is_no_table_harms_nobody) {
  EXPECT_EQ(judge(config(R"({"aws":"text"})"), {config(R"({"aws":"text"})")}), std::nullopt);
  EXPECT_EQ(judge(config(R"({"aws":[1]})"), {config(R"({"aws":{"SubnetId":1}})")}),
            "`aws` of its launch configuration has changed");
}

TEST(Conformance, a_static_field_below_a_behavioural_one_stays_static) {
  const FieldClasses by{
      .static_fields = {"aws.ImageId"}, .dynamic_fields = {}, .behavioural_fields = {"aws"}};
  EXPECT_EQ(judge(config(R"({"aws":{"ImageId":"i","x":1}})"),
                  {config(R"({"aws":{"ImageId":"i","x":2}})")}, by),
            std::nullopt);
  EXPECT_EQ(judge(config(R"({"aws":{"ImageId":"i","x":1}})"),
                  {config(R"({"aws":{"ImageId":"j","x":1}})")}, by),
            "`aws.ImageId` of its launch configuration has changed");
}

TEST(Conformance, what_is_musters_own_makes_nobody_outdated) {
  EXPECT_EQ(judge(config(R"({"workerConfig":{"a":1},"workerManager":{"capacityPerInstance":1}})"),
                  {config(R"({"workerConfig":{"a":2}})")}),
            std::nullopt);
}

TEST(Conformance, the_order_of_keys_and_the_spelling_of_numbers_do_not_matter) {
  EXPECT_EQ(
      judge(config(R"({"a":2,"b":{"c":1,"d":2}})"), {config(R"({"b":{"d":2.0,"c":1},"a":2.0})")}),
      std::nullopt);
}

TEST(Conformance, with_several_candidates_any_that_is_alike_is_enough) {
  EXPECT_EQ(judge(config(R"({"x":1})"),
                  {config(R"({"x":3})"), config(R"({"x":2})"), config(R"({"x":1})")}),
            std::nullopt);
}

TEST(Conformance, facts_that_differ_in_anything_are_another_place) {
  LaunchConfig with_zone = config("{}");
  with_zone.placement.facts["availabilityZone"] = "a";
  EXPECT_TRUE(judge(config("{}"), {with_zone}).has_value());
}

}  // namespace
}  // namespace muster::lifecycle
