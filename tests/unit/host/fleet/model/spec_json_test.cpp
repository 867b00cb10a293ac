#include "host/fleet/model/spec_json.hpp"

#include <gtest/gtest.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

PoolSpec full_spec() {
  PoolSpec spec;
  spec.worker_pool_id = WorkerPoolId("p/w");
  spec.origin = "builds.toml";
  spec.owner = "team@example.com";
  spec.description = "for builds";
  spec.email_on_error = true;
  spec.strategy = "cheapest";
  spec.settings = {
      .min_capacity = 1, .max_capacity = 9, .scaling_ratio = 0.25, .strategy = {{"a", 1}}};
  spec.lifecycle = {.registration_timeout = 1min,
                    .reregistration_timeout = 2h,
                    .queue_inactivity_timeout = 3h,
                    .idle_timeout = 4min,
                    .warm_capacity = 5,
                    .cycling_budget = {.workers = 2, .share = 0.5},
                    .finish_tasks = 6h,
                    .cycling_windows = {{.weekdays = {0, 6}, .from = 1h, .to = 2h}, {}}};
  spec.providers = {ProviderId("cloud"), ProviderId("other")};
  spec.teams = {"red", "blue"};
  spec.public_worker_keys = {"ssh-ed25519 AAAA one"};
  spec.placement_strategies = {queue::Strategy::spread, queue::Strategy::pack};
  spec.payload_schema = {{"type", "object"}};
  return spec;
}

TEST(SpecJson, a_document_that_is_not_one_is_refused) {
  EXPECT_FALSE(pool_spec_from_json({}).has_value());
  json::object document = to_json(full_spec());
  document["idleTimeout"] = "soon";
  EXPECT_FALSE(pool_spec_from_json(document).has_value());
}

TEST(SpecJson, everything_but_launch_configurations_survives) {
  const PoolSpec spec = full_spec();
  const auto again = pool_spec_from_json(*json::parse_object(json::write(to_json(spec))));
  ASSERT_TRUE(again.has_value());
  EXPECT_EQ(to_json(*again), to_json(spec));
  EXPECT_EQ(again->lifecycle, spec.lifecycle);
  EXPECT_EQ(again->teams, spec.teams);
  EXPECT_EQ(again->public_worker_keys, spec.public_worker_keys);
  EXPECT_EQ(again->placement_strategies, spec.placement_strategies);
  EXPECT_EQ(again->payload_schema, spec.payload_schema);
  EXPECT_EQ(again->providers, spec.providers);
  EXPECT_EQ(again->settings.strategy, spec.settings.strategy);
  EXPECT_EQ(again->owner, spec.owner);
  EXPECT_TRUE(again->email_on_error);
}

TEST(SpecJson, what_an_earlier_version_wrote_gives_workers_the_usual_time_for_their_tasks) {
  json::object document = to_json(full_spec());
  document.erase("finishTasks");
  const auto read = pool_spec_from_json(document);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->lifecycle.finish_tasks, Lifecycle().finish_tasks);
}

TEST(SpecJson, a_change_of_any_setting_is_a_change_of_the_document) {
  const json::object before = to_json(full_spec());
  const auto differs = [&](auto change) {
    PoolSpec spec = full_spec();
    change(spec);
    return to_json(spec) != before;
  };
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.teams.pop_back(); }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.public_worker_keys.clear(); }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.placement_strategies.clear(); }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.payload_schema.clear(); }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.lifecycle.cycling_budget.workers.reset(); }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.lifecycle.warm_capacity = 0; }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.lifecycle.finish_tasks = {}; }));
  EXPECT_TRUE(differs([](PoolSpec& spec) { spec.settings.max_capacity = 8; }));
}

}  // namespace
}  // namespace muster::fleet
