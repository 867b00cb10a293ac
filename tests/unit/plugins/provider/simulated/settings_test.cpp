#include <muster/json_schema.hpp>

#include "tests/unit/plugins/provider/simulated/fixture.hpp"

namespace muster::simulated {
namespace {

std::string mistake(const json::object& changes) {
  const auto settings = read_settings(config_with(changes));
  return settings ? "accepted" : settings.error().message;
}

TEST(SimulatedSettings, say_what_is_wrong_and_where) {
  EXPECT_EQ(mistake({{"regions", json::array{}}}), "regions: a cloud needs at least one region");
  EXPECT_EQ(mistake({{"regions", {{{"name", "r"}, {"zones", json::array{}}}}}}),
            "regions[0].zones: a region needs a zone");
  EXPECT_EQ(mistake({{"instanceTypes", {{{"name", "a"}}, {{"name", "a"}}}}}),
            "instanceTypes[1].name: \"a\" occurs twice");
  EXPECT_EQ(mistake({{"instanceTypes", {{{"name", "a"}, {"capacity", 0}}}}}),
            "instanceTypes[0].capacity: is not between 1 and 1000000");
  EXPECT_EQ(mistake({{"failures", {{{"method", "alocate"}}}}}),
            "failures[0].method: \"alocate\" is not a method that can be simulated; did you mean "
            "\"allocate\"?");
  EXPECT_EQ(mistake({{"failures", {{{"class", "odd"}}}}}),
            "failures[0].class: \"odd\" is not a class of errors");
  EXPECT_EQ(mistake({{"failures", {{{"probability", 1.5}}}}}),
            "failures[0].probability: is not a probability between 0 and 1");
  EXPECT_EQ(mistake({{"failures", {{{"method", "list"}, {"afterEffect", true}}}}}),
            "failures[0].afterEffect: only launches can happen although their answer is lost: the "
            "method is allocate");
  EXPECT_EQ(mistake({{"boot", {{"minSeconds", 9}, {"maxSeconds", 8}}}}),
            "boot.minSeconds: is above maxSeconds");
  EXPECT_EQ(mistake({{"stateFile", "sim.json"}}),
            "stateFile: \"sim.json\" is not an absolute path");
  EXPECT_EQ(mistake({{"seed", -1}}), "seed: expected a whole number from 0, got the number -1");
}

TEST(SimulatedSettings, an_empty_configuration_is_a_small_cloud) {
  const auto settings = read_settings({});
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_EQ(settings->regions.size(), 2u);
  EXPECT_EQ(settings->instance_types.size(), 2u);
}

TEST(SimulatedSettings, a_preset_adds_a_clouds_behaviour_and_leaves_what_is_given) {
  EXPECT_EQ(mistake({{"preset", "cumulus"}}),
            "preset: \"cumulus\" is not known; known are \"aws\", \"google\", \"azure\"");
  for (const auto& [name, code] : std::initializer_list<std::pair<const char*, const char*>>{
           {"google", "ZONE_RESOURCE_POOL_EXHAUSTED"}, {"azure", "ZonalAllocationFailed"}}) {
    const auto other = read_settings({{"preset", name}});
    ASSERT_TRUE(other) << other.error().message;
    EXPECT_EQ(other->failures.front().code, code);
  }
  const auto plain = read_settings({{"preset", "aws"}});
  ASSERT_TRUE(plain) << plain.error().message;
  EXPECT_EQ(plain->boot.max_seconds, 120);
  EXPECT_GT(plain->interruptions.per_hour, 0);
  std::size_t shortages = 0, lost = 0;
  for (const FailureRule& rule : plain->failures) {
    shortages += rule.code == "InsufficientInstanceCapacity" && rule.zone && rule.instance_type;
    lost += rule.after_effect;
  }
  EXPECT_EQ(shortages, 6u) << "three zones and two types";
  EXPECT_EQ(lost, 1u);
  const auto given = read_settings({{"preset", "aws"},
                                    {"boot", {{"minSeconds", 1}, {"maxSeconds", 2}}},
                                    {"interruptions", {{"perHour", 0}}},
                                    {"failures", {{{"code", "mine"}}}}});
  EXPECT_EQ(given->boot.max_seconds, 2);
  EXPECT_EQ(given->interruptions.per_hour, 0);
  EXPECT_EQ(given->failures.front().code, "mine");
}

TEST(SimulatedSettings, the_schema_knows_every_setting) {
  const auto schema = json::Schema::compile(config_schema());
  ASSERT_TRUE(schema) << schema.error().message;
  json::object full =
      codec::to_value(settings_with(json::object{{"failures",
                                                  {{{"region", "eu-1"},
                                                    {"zone", "eu-1a"},
                                                    {"instanceType", "small"},
                                                    {"times", 1},
                                                    {"fromSeconds", 1},
                                                    {"untilSeconds", 2},
                                                    {"holdSeconds", 3}}}},
                                                 {"slow", {{{"method", "bid"}, {"seconds", 1}}}},
                                                 {"interruptions", {{"launches", {1, 2}}}}}))
          .as_object();
  const auto violations = schema->validate(full);
  EXPECT_TRUE(violations.empty()) << json::to_string(violations.front());
  full["colour"] = "green";
  EXPECT_EQ(schema->validate(full).size(), 1u);
}

}  // namespace
}  // namespace muster::simulated
