#include "plugins/provider/static/static_provider.hpp"

#include <muster/json_schema.hpp>

#include "tests/unit/plugins/provider/static/fixture.hpp"

namespace muster::static_machines {
namespace {

struct StaticProviderTest : ::testing::Test {
  testing::FakeContext context;
  std::unique_ptr<Provider> provider = make_provider(StaticProvider::describe().example_config);

  Result<Expansion> expand(std::string_view section, const char* pool = "worker-manager/contract") {
    json::object document = parsed(R"({"workerConfig": {"a": 1}})");
    if (!section.empty()) document["static"] = *json::parse(section);
    return provider->expand({WorkerPoolId(pool), {{{"region", "dc1"}}}, document}, context);
  }
};

TEST_F(StaticProviderTest, a_wrong_section_is_refused_with_its_key) {
  const auto mistake = [&](std::string_view section) {
    const auto answer = expand(section);
    return answer ? "none" : answer.error().message;
  };
  EXPECT_EQ(mistake("7"), "static: must be a table");
  EXPECT_TRUE(mistake(R"({"colour": "red"})").starts_with("static.colour: is not known"));
  EXPECT_TRUE(mistake(R"({"state": "14"})").starts_with("static.state: must be a table"));
  EXPECT_EQ(mistake(R"({"state": {"os": 14}})"), "static.state.os: must be a string");
  EXPECT_TRUE(mistake(R"({"state": {"os": []}})").starts_with("static.state.os: is an empty list"));
  EXPECT_TRUE(mistake(R"({"state": {"os": ["a", "[b"]}})").starts_with("static.state.os[1]: the "));
  EXPECT_TRUE(mistake(R"({"state": {"": "a"}})").starts_with("static.state: a name is empty"));
  for (const char* price : {"-1", "\"1\"", "1e999", "true"})
    EXPECT_TRUE(!json::parse(price) ||
                mistake(std::string(R"({"pricePerCapacityHour": )") + price + "}")
                    .starts_with("static.pricePerCapacityHour: must be a number"))
        << price;
}

TEST_F(StaticProviderTest, a_pool_has_one_launch_document_with_the_state_it_wants) {
  const auto none = expand("");
  ASSERT_TRUE(none);
  ASSERT_EQ(none->launch_documents.size(), 1u);
  EXPECT_EQ(json::write(none->launch_documents[0].document),
            R"({"static":{},"workerConfig":{"a":1}})");
  const auto some = expand(R"({"state": {"os": "14.*"}, "pricePerCapacityHour": 1})");
  EXPECT_EQ(json::write(some->launch_documents.at(0).document.at("static")),
            R"({"state":{"os":"14.*"},"pricePerCapacityHour":1})");
}

TEST_F(StaticProviderTest, the_schemas_refuse_keys_that_nobody_knows) {
  const ProviderDescription description = StaticProvider::describe();
  const auto schema = json::Schema::compile(description.config_schema);
  ASSERT_TRUE(schema) << schema.error().message;
  for (const char* wrong :
       {R"({"regoin": "dc1"})", R"({"pools": {"a/b": {"keys": []}}})",
        R"({"machines": [{"workerPoolId": "a/b", "workerId": "c", "power": true}]})"})
    EXPECT_FALSE(schema->validate(*json::parse(wrong)).empty()) << wrong;
  EXPECT_TRUE(schema->validate(description.example_config).empty());
}

TEST_F(StaticProviderTest, machines_that_are_not_powered_are_announced) {
  const auto listing = provider->list({owner()}, context);
  ASSERT_TRUE(listing);
  ASSERT_EQ(listing->announced.size(), 2u);
  EXPECT_EQ(listing->announced[0].worker_id, WorkerId("mac-01"));
  EXPECT_EQ(listing->announced[0].worker_group, WorkerGroup("dc1"));
  EXPECT_EQ(json::write(listing->announced[0].provider_data),
            R"({"v":1,"hostName":"mac-01.dc1.example.com"})");
  EXPECT_TRUE(listing->instances.empty());
}

TEST_F(StaticProviderTest, a_provider_without_a_configuration_launches_nothing) {
  StaticProvider bare("rack-1");
  const LaunchConfig launch_config{.launch_config_id = LaunchConfigId("lc-1"),
                                   .worker_pool_id = WorkerPoolId("rack/build"),
                                   .placement = {},
                                   .document = {}};
  const auto launches = bare.allocate(
      {.owner = {}, .launch_config = launch_config, .idempotency_keys = {IdempotencyKey("k-1")}},
      context);
  ASSERT_TRUE(launches);
  ASSERT_EQ(launches->launches.size(), 1u);
  ASSERT_TRUE(launches->launches[0].error);
  EXPECT_EQ(launches->launches[0].error->error_class, ErrorClass::unsupported);
  EXPECT_EQ(bare.placements({}, context)->placements.at(0).facts.at("region"), "rack-1");
}

}  // namespace
}  // namespace muster::static_machines
