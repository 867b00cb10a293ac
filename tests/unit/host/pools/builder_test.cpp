#include "host/pools/builder.hpp"

#include <chrono>

#include <gmock/gmock.h>

#include "tests/unit/host/pools/fixture.hpp"

namespace muster::pools {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

const WorkerPoolId build_pool("worker-manager/build");

TEST(Builder, a_syntax_error_refuses_everything_and_the_old_configuration_is_untouched) {
  Fixture fixture;
  const auto good = fixture.build(configuration());
  ASSERT_TRUE(good.configuration) << texts_of(good.problems);
  const auto bad =
      fixture.build({{"build.toml", configuration()}, {"other.toml", "workerTypes = ["}}, "r2");
  EXPECT_FALSE(bad.configuration);
  EXPECT_TRUE(bad.waits.empty());
  EXPECT_THAT(texts_of(bad.problems), HasSubstr("other.toml:1:"));
  EXPECT_EQ(good.configuration->revision, "r1");
}

TEST(Builder, what_a_section_schema_refuses_is_told_once_at_its_line) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration(
      "simulated.image = 5\nsimulated.instanceTypes = [\"small\", 7]\n", R"(["a", "b"])"));
  EXPECT_FALSE(outcome.configuration);
  EXPECT_EQ(fixture.calls, 0);
  const std::string texts = texts_of(outcome.problems);
  EXPECT_THAT(texts, HasSubstr("build.toml:10:11: simulated.image: "));
  EXPECT_THAT(texts, HasSubstr("build.toml:11:11: simulated.instanceTypes: instanceTypes[1]: "));
  EXPECT_THAT(texts, HasSubstr("(for workerType=a provider=sim region=eu-1 "
                               "availabilityZone=eu-1a and 5 more)"));
  EXPECT_THAT(outcome.problems, SizeIs(2));
}

TEST(Builder, what_the_provider_refuses_is_told_at_the_line_that_it_names) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration("simulated.instanceTypes = [\"smal\"]\n"));
  EXPECT_FALSE(outcome.configuration);
  EXPECT_TRUE(outcome.waits.empty());
  EXPECT_THAT(texts_of(outcome.problems),
              HasSubstr("build.toml:10:11: simulated.instanceTypes: instanceTypes[0]: there is no "
                        "instance type \"smal\"; did you mean \"small\"?"));
}

TEST(Builder, wrong_values_for_muster_itself_are_told_at_their_lines) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration(R"(strategy = "clasic"
workerConfig = 3
[rules.values.workerManager]
capacityPerInstance = 0
initialWeight = 2
maxCapacty = 4
[rules.values.lifecycle]
idleTimout = 5
warmCapacity = 11
)"));
  EXPECT_FALSE(outcome.configuration);
  const std::string texts = texts_of(outcome.problems);
  EXPECT_THAT(texts,
              HasSubstr("build.toml:10:1: strategy: \"clasic\" is not a strategy of this host "
                        "(for workerType=build); did you mean classic?"));
  EXPECT_THAT(texts, HasSubstr("build.toml:11:1: workerConfig: must be a table"));
  EXPECT_THAT(texts, HasSubstr("build.toml:13:1: workerManager.capacityPerInstance: is 0, "));
  EXPECT_THAT(texts, HasSubstr("build.toml:14:1: workerManager.initialWeight: is 2, but must be a "
                               "number from 0 to 1"));
  EXPECT_THAT(texts, HasSubstr("build.toml:15:1: workerManager.maxCapacty: is not known"));
  EXPECT_THAT(texts, HasSubstr("did you mean maxCapacity?"));
  EXPECT_THAT(texts, HasSubstr("build.toml:17:1: lifecycle.idleTimout: is not known"));
  EXPECT_THAT(texts, HasSubstr("build.toml:18:1: lifecycle.warmCapacity: is 11, more than"));
}

TEST(Builder, a_payload_schema_that_is_none_is_told_at_the_line_of_its_mistake) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration(R"([rules.values.payloadSchema]
type = "object"
[rules.values.payloadSchema.properties."a/b"]
type = "strng"
[rules.values.payloadSchema.properties.command]
pattern = "(?<=a)b"
)"));
  EXPECT_FALSE(outcome.configuration);
  const std::string texts = texts_of(outcome.problems);
  EXPECT_THAT(texts, HasSubstr("is no valid JSON Schema: the schema is wrong at #/properties/"));
  EXPECT_THAT(texts, HasSubstr("build.toml:13:1: payloadSchema.properties."));
  EXPECT_TRUE(fixture.build(configuration("payloadSchema.properties.command.type = \"string\"\n"))
                  .configuration);
}

TEST(Builder, a_provider_that_is_not_there_is_no_mistake_and_its_part_of_the_pool_is_left_alone) {
  Fixture fixture;
  fixture.provider().unavailable = Error::transient("waits for its plugin");
  auto outcome = fixture.build(configuration());
  ASSERT_TRUE(outcome.configuration);
  const fleet::PoolSpec& pool = *outcome.configuration->pools.begin()->second;
  EXPECT_THAT(pool.launch_configs, ::testing::IsEmpty());
  EXPECT_THAT(pool.unasked_providers, ::testing::ElementsAre(ProviderId("sim")));
  EXPECT_TRUE(texts_of(outcome.problems).empty());
  EXPECT_THAT(outcome.waits,
              ::testing::ElementsAre(Wait{ProviderId("sim"), "waits for its plugin"}));
}

TEST(Builder, a_provider_that_nobody_uses_is_not_waited_for) {
  Fixture fixture;
  fixture.provider_context.providers[ProviderId("dark")].unavailable =
      Error::transient("no plugin");
  const auto outcome = fixture.build(configuration());
  EXPECT_TRUE(outcome.configuration) << texts_of(outcome.problems);
}

TEST(Builder, a_fact_that_only_a_missing_provider_may_know_is_no_mistake_yet) {
  Fixture fixture;
  const std::string text = configuration(
      "[[rules]]\nruleId = \"r\"\ndescription = \"d\"\nconditions = { rack = \"1\" }\n"
      "values.workerConfig.x = 1\n");
  EXPECT_THAT(texts_of(fixture.build(text).problems), HasSubstr("\"rack\""));
  fixture.provider_context.providers[ProviderId("dark")].unavailable =
      Error::transient("no plugin");
  const auto outcome = fixture.build(text);
  EXPECT_TRUE(texts_of(outcome.problems).empty());
  ASSERT_THAT(outcome.waits, SizeIs(1));
  EXPECT_EQ(outcome.waits[0].provider_id, ProviderId("dark"));
  EXPECT_THAT(outcome.waits[0].reason, HasSubstr("rack"));
}

TEST(Builder, a_provider_in_trouble_is_asked_no_more_in_this_build) {
  Fixture fixture;
  fixture.failure = Error::throttle("slow down");
  auto outcome = fixture.build(configuration());
  ASSERT_TRUE(outcome.configuration);
  EXPECT_THAT(outcome.configuration->pools.begin()->second->unasked_providers, SizeIs(1));
  EXPECT_EQ(fixture.calls, 1);
  EXPECT_THAT(outcome.waits, ::testing::ElementsAre(Wait{ProviderId("sim"), "slow down"}));
  fixture.failure.reset();
  outcome = fixture.build(configuration());
  ASSERT_TRUE(outcome.configuration);
  EXPECT_THAT(outcome.configuration->pools.begin()->second->unasked_providers,
              ::testing::IsEmpty());
}

TEST(Builder, an_answer_that_makes_no_sense_is_the_providers_trouble) {
  Fixture fixture;
  const auto nonsense = [](const ProviderId&, const ExpandRequest&) -> Result<Expansion> {
    return Expansion{{{{}, 0, ""}}};
  };
  const std::vector<rules::SourceFile> files = {{"build.toml", configuration()}};
  const auto outcome = fixture.builder.build(files, "r1", fixture.provider_context, nonsense);
  ASSERT_TRUE(outcome.configuration);
  EXPECT_THAT(outcome.configuration->pools.begin()->second->launch_configs, ::testing::IsEmpty());
  ASSERT_THAT(outcome.waits, SizeIs(1));
  EXPECT_THAT(outcome.waits[0].reason, HasSubstr("capacity 0"));
}

TEST(Builder, too_many_combinations_are_refused_before_any_call) {
  Fixture fixture;
  rules::Limits limits;
  limits.max_combinations = 2;
  fixture.builder = Builder(limits);
  const auto outcome = fixture.build(configuration());
  EXPECT_FALSE(outcome.configuration);
  EXPECT_EQ(fixture.calls, 0);
  EXPECT_THAT(texts_of(outcome.problems), HasSubstr("3 launch documents, more than the 2"));
}

TEST(Builder, a_file_that_is_too_much_work_is_refused_at_once) {
  std::string types, rules;
  for (int i = 0; i < 900; ++i) {
    const std::string number = std::to_string(i);
    types += (i == 0 ? "[\"t" : ", \"t") + number + "\"";
    rules += "[[rules]]\nruleId = \"r" + number + "\"\nvalues.lifecycle.a" + number + " = 1\n";
  }
  Fixture fixture;
  const auto begin = std::chrono::steady_clock::now();
  const auto outcome = fixture.build(configuration("", types + "]") + rules);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  EXPECT_FALSE(outcome.configuration);
  EXPECT_EQ(fixture.calls, 0);
  EXPECT_THAT(texts_of(outcome.problems),
              HasSubstr("build.toml:1:16: workerTypes: the file is too much work: worker types "
                        "times rules that apply to them come to more than the 200000 allowed; "
                        "split the file"));
}

TEST(Builder, each_bound_on_work_holds_for_one_file) {
  const auto problems_with = [](rules::Limits limits) {
    Fixture fixture;
    fixture.builder = Builder(limits);
    return texts_of(fixture
                        .build(configuration("[[rules]]\nruleId = \"one\"\ndescription = \"d\"\n"
                                             "conditions.workerType = [\"build\", \"x*\"]\n"
                                             "[rules.values]\nsimulated.image = \"i\"\n"))
                        .problems);
  };
  rules::Limits limits;
  limits.max_pattern_checks = limits.max_pool_rules = limits.max_launch_rules = 2;
  EXPECT_EQ(problems_with(limits), "");
  limits.max_pattern_checks = 1;
  EXPECT_THAT(problems_with(limits), HasSubstr("patterns in conditions come to more than the 1"));
  limits = {};
  limits.max_pool_rules = 1;
  EXPECT_THAT(problems_with(limits), HasSubstr("worker types times rules that apply to them"));
  limits = {};
  limits.max_launch_rules = 1;
  EXPECT_THAT(problems_with(limits), HasSubstr("different launch documents times rules"));
}

TEST(Builder, a_way_to_choose_workers_that_nobody_knows_is_refused_at_its_line) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration("placementStrategies = [\"pakc\", \"x\"]\n"));
  EXPECT_FALSE(outcome.configuration);
  EXPECT_THAT(texts_of(outcome.problems),
              HasSubstr("build.toml:10:1: placementStrategies: \"pakc\" is not a placement "
                        "strategy (for workerType=build); did you mean pack?"));
  EXPECT_THAT(texts_of(outcome.problems), HasSubstr("known are random, fewest-active"));
}

TEST(Builder, makes_a_pool_with_all_its_settings) {
  Fixture fixture;
  const auto outcome = fixture.build(configuration(R"(minCapacity = 1
scalingRatio = 0.5
emailOnError = true
teams = ["core"]
placementStrategies = ["spread", "fewest-active"]
strategy = { name = "cheapest", risk = 0.2 }
[rules.values.lifecycle]
registrationTimeout = 900
idleTimeout = "5m"
cycling = { budget = "10%" }
[rules.values.workerManager]
capacityPerInstance = 3
initialWeight = 0.5
maxCapacity = 6
[rules.values.workerConfig]
x = 1
)"));
  ASSERT_TRUE(outcome.configuration) << texts_of(outcome.problems);
  ASSERT_TRUE(outcome.configuration->pools.contains(build_pool));
  const fleet::PoolSpec& pool = *outcome.configuration->pools.at(build_pool);
  EXPECT_EQ(pool.origin, "build.toml");
  EXPECT_EQ(pool.owner, "team@example.com");
  EXPECT_EQ(pool.description, "Builds");
  EXPECT_TRUE(pool.email_on_error);
  EXPECT_EQ(pool.strategy, "cheapest");
  EXPECT_EQ(json::write(pool.settings.strategy), R"({"risk":0.2})");
  EXPECT_EQ(pool.settings.min_capacity, 1);
  EXPECT_EQ(pool.settings.max_capacity, 10);
  EXPECT_EQ(pool.settings.scaling_ratio, 0.5);
  EXPECT_EQ(pool.lifecycle.registration_timeout, std::chrono::seconds(900));
  EXPECT_EQ(pool.lifecycle.idle_timeout, std::chrono::minutes(5));
  EXPECT_DOUBLE_EQ(pool.lifecycle.cycling_budget.share, 0.1);
  EXPECT_EQ(pool.teams, std::vector<std::string>{"core"});
  EXPECT_EQ(pool.placement_strategies,
            (std::vector{queue::Strategy::spread, queue::Strategy::fewest_active}));
  ASSERT_THAT(pool.launch_configs, SizeIs(6));  // two instance types in three zones
  const fleet::LaunchConfigSpec& spec = *pool.launch_configs.front();
  EXPECT_EQ(spec.launch_config.capacity_per_instance, 3);
  EXPECT_EQ(spec.max_capacity, 6);
  EXPECT_EQ(spec.initial_weight, 0.5);
  EXPECT_EQ(json::write(spec.worker_config), R"({"x":1})");
  EXPECT_EQ(spec.launch_config.placement.facts.at("availabilityZone"), "eu-1a");
  EXPECT_EQ(spec.launch_config.launch_config_id.str().substr(0, 3), "lc-");
  EXPECT_EQ(outcome.configuration->field_classes.at(ProviderId("sim")).behavioural_fields,
            std::vector<std::string>{"simulated.label"});
}

TEST(Builder, the_provider_sees_neither_pool_settings_nor_other_providers_sections) {
  Fixture fixture;
  ProviderDescription other;
  other.section = "aws";
  fixture.provider_context.providers[ProviderId("ec2")] = {other, {}, "1"};
  const auto outcome =
      fixture.build(configuration("aws.ImageId = \"ami\"\nsimulated.image = \"i\"\n"));
  ASSERT_TRUE(outcome.configuration) << texts_of(outcome.problems);
  EXPECT_EQ(json::write(fixture.last_request.document), R"({"simulated":{"image":"i"}})");
}

std::vector<std::string> ids_of(const fleet::PoolSpec& pool) {
  std::vector<std::string> ids;
  for (const auto& spec : pool.launch_configs)
    ids.push_back(spec->launch_config.launch_config_id.str());
  return ids;
}

TEST(Builder, another_owner_or_description_cycles_nobody_and_asks_no_provider) {
  Fixture fixture;
  const auto before = fixture.build(configuration("simulated.image = \"i\"\n"));
  const int calls = fixture.calls;
  std::string text = configuration("simulated.image = \"i\"\nlifecycle.idleTimeout = 5\n");
  text.replace(text.find("team@"), 5, "crew@");
  const auto after = fixture.build(text, "r2");
  ASSERT_TRUE(after.configuration) << texts_of(after.problems);
  EXPECT_EQ(fixture.calls, calls);
  const auto &was = before.configuration->pools.at(build_pool),
             &is = after.configuration->pools.at(build_pool);
  EXPECT_EQ(is->owner, "crew@example.com");
  EXPECT_NE(was, is);
  EXPECT_EQ(was->launch_configs, is->launch_configs);  // the very same objects
}

TEST(Builder, what_workers_receive_changes_without_another_id) {
  Fixture fixture;
  const auto before = fixture.build(configuration("workerConfig.x = 1\n"));
  const auto after = fixture.build(configuration("workerConfig.x = 2\n"), "r2");
  const auto &was = *before.configuration->pools.at(build_pool),
             &is = *after.configuration->pools.at(build_pool);
  EXPECT_EQ(ids_of(was), ids_of(is));
  EXPECT_EQ(json::write(is.launch_configs[0]->worker_config), R"({"x":2})");
  const auto other = fixture.build(configuration("simulated.image = \"i\"\n"), "r3");
  EXPECT_NE(ids_of(is), ids_of(*other.configuration->pools.at(build_pool)));
}

TEST(Builder, only_what_changed_is_expanded_and_the_rest_stays_the_same_object) {
  Fixture fixture;
  const std::string others = configuration("", R"(["b", "c"])");
  const auto before =
      fixture.build({{"build.toml", configuration()}, {"others.toml", others}}, "r1");
  ASSERT_TRUE(before.configuration) << texts_of(before.problems);
  fixture.calls = 0;
  const auto after = fixture.build(
      {{"build.toml", configuration("simulated.image = \"i\"\n")}, {"others.toml", others}}, "r2");
  ASSERT_TRUE(after.configuration);
  EXPECT_EQ(fixture.calls, 3);
  EXPECT_EQ(after.configuration->revision, "r2");
  EXPECT_NE(before.configuration->pools.at(build_pool), after.configuration->pools.at(build_pool));
  for (const char* type : {"b", "c"})
    EXPECT_EQ(before.configuration->pools.at(worker_pool_of(type)),
              after.configuration->pools.at(worker_pool_of(type)));
}

TEST(Builder, a_refused_change_in_between_costs_no_identity) {
  Fixture fixture;
  const auto before = fixture.build(configuration());
  EXPECT_FALSE(fixture.build(configuration("simulated.image = 1\n"), "r2").configuration);
  fixture.calls = 0;
  const auto after = fixture.build(configuration(), "r3");
  EXPECT_EQ(fixture.calls, 0);
  EXPECT_EQ(before.configuration->pools.at(build_pool), after.configuration->pools.at(build_pool));
}

TEST(Builder, another_version_of_the_provider_is_asked_again) {
  Fixture fixture;
  const auto before = fixture.build(configuration());
  fixture.calls = 0;
  fixture.provider().version = "2";
  const auto after = fixture.build(configuration());
  EXPECT_EQ(fixture.calls, 3);  // and answers as the one before did
  EXPECT_EQ(before.configuration->pools.at(build_pool), after.configuration->pools.at(build_pool));
}

TEST(Builder, an_instance_type_that_is_named_twice_is_one_launch_configuration) {
  Fixture fixture;
  const auto outcome =
      fixture.build(configuration("simulated.instanceTypes = [\"small\", \"small\"]\n"));
  ASSERT_TRUE(outcome.configuration);
  EXPECT_THAT(outcome.configuration->pools.at(build_pool)->launch_configs, SizeIs(3));
  EXPECT_THAT(texts_of(outcome.problems, rules::Severity::warning), HasSubstr("twice"));
}

TEST(Builder, a_facts_file_is_for_tools_and_does_not_count_beside_running_providers) {
  Fixture fixture;
  const auto outcome =
      fixture.build({{"build.toml", configuration()}, {"facts.toml", "[providers.other]\n"}}, "r1");
  EXPECT_TRUE(outcome.configuration) << texts_of(outcome.problems);
}

}  // namespace
}  // namespace muster::pools
