// A deployment that is asked over HTTP, and one that lies.
#include "cli/import/source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/auth/guard.hpp"
#include "lib/base/fake_clock.hpp"
#include "lib/http/answer.hpp"
#include "lib/http/server.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::importing {
namespace {

using ::testing::HasSubstr;

class Deployment : public ::testing::Test {
 protected:
  Deployment() {
    auth::Client client;
    client.client_id = "me";
    client.keys = {{Secret("the-secret-of-me")}};
    client.scopes = {"muster:get"};
    authority.put(client);
    router.add("GET", "/api/worker-manager/v1/worker-pools",
               http::now([this](const http::Request& request) { return answer(request.query); }));
    auto made = http::Server::listen({}, router, system, log);
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
    server->start();
    source.name = "http://127.0.0.1:" + std::to_string(server->port()) + "/";
    source.credentials = hawk::Credentials{"me", Secret("the-secret-of-me")};
  }

  http::Response answer(const std::string& query) {
    if (!lie.body.empty()) return lie;
    if (query.find("continuationToken=x%2Fy") == query.npos)
      return http::json_answer(
          json::parse_object(
              R"({"workerPools": [{"workerPoolId": "a/b"}], "continuationToken": "x/y"})")
              .value());
    return http::json_answer(
        json::parse_object(R"({"workerPools": [{"workerPoolId": "a/c"}]})").value());
  }
  std::string failure() {
    const auto pools = read_pools(source, report);
    return pools ? "" : pools.error().message;
  }

  Log log{std::make_shared<testing::RecordedLog>(), LogLevel::info, LogFormat::text};
  SystemClock system;
  FakeClock host_clock{system.now()};
  auth::Authority authority{host_clock};
  http::Router router{log, auth::Guard(authority, {})};
  std::unique_ptr<http::Server> server;
  Source source;
  Report report;
  http::Response lie;
};

TEST_F(Deployment, one_that_refuses_or_lies_is_told) {
  source.credentials = hawk::Credentials{"me", Secret("wrong")};
  EXPECT_THAT(failure(), HasSubstr("worker-manager:list-worker-pools"));
  source.credentials = hawk::Credentials{"me", Secret("the-secret-of-me")};
  lie = {200, {}, "<html>"};
  EXPECT_THAT(failure(), HasSubstr("root URL"));
  lie = {302, {{"Location", "http://elsewhere"}}, "x"};
  EXPECT_THAT(failure(), HasSubstr("leads elsewhere"));
  lie = {404, {}, "<html>"};
  EXPECT_THAT(failure(), HasSubstr("status 404"));
  lie = {200, {}, R"({"workerPools": [], "continuationToken": "again"})"};
  EXPECT_THAT(failure(), HasSubstr("again and again"));
  lie = {200, {}, std::string(100'000, '[')};
  EXPECT_THAT(failure(), HasSubstr("no JSON"));
  source.name = "http://user:password@127.0.0.1";
  EXPECT_EQ(failure().find("password@"), std::string::npos);
}

TEST_F(Deployment, all_pages_are_read) {
  const auto pools = read_pools(source, report);
  ASSERT_TRUE(pools) << pools.error().message;
  ASSERT_EQ(pools->size(), 2u);
  EXPECT_EQ(pools->at(1).worker_pool_id, "a/c");
}

}  // namespace
}  // namespace muster::importing
