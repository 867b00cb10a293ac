// Payloads of tasks, checked against what a pool's configuration says of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/api/fixture.hpp"

namespace muster::api {
namespace {

using ::testing::HasSubstr;

const std::string pool = "pools/p%2Fw";

void configure(Fixture& host, json::object schema) {
  auto spec = std::make_shared<fleet::PoolSpec>();
  spec->worker_pool_id = WorkerPoolId("p/w");
  spec->settings.max_capacity = 5;
  spec->payload_schema = std::move(schema);
  auto configuration = std::make_shared<fleet::Configuration>();
  configuration->pools[spec->worker_pool_id] = spec;
  ASSERT_TRUE(host.fleet->change<int>([configuration](fleet::Fleet& fleet, fleet::Now now) {
    fleet.configure(configuration, now);
    return Result<int>(0);
  }));
}

json::object with_command() {
  return {{"type", "object"},
          {"required", json::array{"command"}},
          {"additionalProperties", false},
          {"properties", json::object{{"command", json::object{{"type", "string"}}},
                                      {"maxRunTime", json::object{{"minimum", 1}}}}}};
}

TEST(Payloads, of_a_pool_that_is_not_there_are_refused) {
  Fixture host;
  EXPECT_EQ(host.ask("GET", pool + "/payload-schema").status, 404);
  EXPECT_EQ(host.ask("POST", pool + "/validate-payload", "{}").status, 404);
  const Reply asked = host.ask("POST", "teams/ios/requests",
                               R"({"workerPoolId": "p/w", "payload": {"command": "make"}})");
  EXPECT_EQ(asked.status, 404);
}

TEST(Payloads, that_are_no_objects_are_refused) {
  Fixture host;
  configure(host, with_command());
  for (const char* payload : {"", "[]", "3", "{", "null"})
    EXPECT_EQ(host.ask("POST", pool + "/validate-payload", payload).status, 400) << payload;
  EXPECT_EQ(
      host.ask("POST", "teams/ios/requests", R"({"workerPoolId": "p/w", "payload": 3})").status,
      400);
}

TEST(Payloads, are_judged_with_the_place_of_each_mistake) {
  Fixture host;
  configure(host, with_command());
  const Reply bad =
      host.ask("POST", pool + "/validate-payload", R"({"comand": "make", "maxRunTime": 0})");
  ASSERT_EQ(bad.status, 200);
  const json::object& told = bad.body.get_object();
  EXPECT_EQ(told.at("valid"), json::value(false));
  const std::string text = json::write(told.at("violations"));
  EXPECT_THAT(text, HasSubstr("\"path\":\"/maxRunTime\""));
  EXPECT_THAT(text, HasSubstr("#/properties/maxRunTime/minimum"));
  EXPECT_THAT(text, HasSubstr("command"));
  const Reply good = host.ask("POST", pool + "/validate-payload", R"({"command": "make"})");
  EXPECT_EQ(json::write(good.body), R"({"valid":true,"violations":[]})");
  EXPECT_EQ(host.ask("GET", pool + "/payload-schema").body,
            json::value(json::object{{"payloadSchema", with_command()}}));
}

TEST(Payloads, of_a_pool_without_a_schema_all_fit) {
  Fixture host;
  configure(host, {});
  EXPECT_EQ(json::write(host.ask("GET", pool + "/payload-schema").body), R"({"payloadSchema":{}})");
  EXPECT_EQ(json::write(host.ask("POST", pool + "/validate-payload", R"({"x": 1})").body),
            R"({"valid":true,"violations":[]})");
}

TEST(Payloads, of_requests_are_checked_before_the_request_waits) {
  Fixture host;
  configure(host, with_command());
  const auto ask = [&](const std::string& body) {
    return host.ask("POST", "teams/ios/requests", body);
  };
  const Reply bad = ask(R"({"workerPoolId": "p/w", "payload": {"command": 3}})");
  EXPECT_EQ(bad.status, 400);
  EXPECT_THAT(bad.message(), HasSubstr("does not fit the payloadSchema of pool p/w: /command"));
  EXPECT_THAT(ask(R"({"payload": {"command": "make"}})").message(), HasSubstr("workerPoolId"));
  EXPECT_EQ(json::write(host.ask("GET", "teams/ios/requests").body), R"({"requests":[]})");
  EXPECT_EQ(ask(R"({"workerPoolId": "p/w", "payload": {"command": "make"}})").status, 200);
  EXPECT_THAT(json::write(host.ask("GET", "teams/ios/requests").body), HasSubstr("p/w"));
}

TEST(Payloads, need_the_scope_for_the_pool) {
  Fixture host;
  configure(host, with_command());
  const std::string other = host.client({"muster:get:pool:p/x"});
  EXPECT_EQ(host.ask("GET", pool + "/payload-schema", "", other).status, 403);
  EXPECT_EQ(host.ask("POST", pool + "/validate-payload", "{}", other).status, 403);
  const std::string fitting = host.client({"muster:get:pool:p/w"});
  EXPECT_EQ(host.ask("POST", pool + "/validate-payload", "{}", fitting).status, 200);
}

}  // namespace
}  // namespace muster::api
