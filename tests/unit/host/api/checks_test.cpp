// What is checked before a handler runs, and what callers are told.
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/api/fixture.hpp"

namespace muster::api {
namespace {

using ::testing::HasSubstr;

TEST(Checks, a_parameter_that_is_not_known_is_refused_with_those_that_are) {
  Fixture host;
  const Reply reply = host.ask("GET", "pools?colour=red");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InputError");
  EXPECT_EQ(reply.message(),
            "the parameter `colour` is not known; this path knows `limit`, `after`, `verdict`, "
            "`search`, `providerId`, `sort`, `offset`");
  EXPECT_THAT(host.ask("GET", "teams?x=1").message(), HasSubstr("this path has no parameters"));
}

TEST(Checks, a_parameter_is_given_once_unless_it_may_be_repeated) {
  Fixture host;
  EXPECT_THAT(host.ask("GET", "pools?limit=1&limit=2").message(), HasSubstr("occurs twice"));
  EXPECT_EQ(host.ask("GET", "pools/a%2Fb/workers?state=running&state=stopped").status, 404);
}

TEST(Checks, a_broken_escape_in_the_query_is_refused) {
  Fixture host;
  EXPECT_THAT(host.ask("GET", "pools?after=%zz").message(), HasSubstr("broken escape"));
}

TEST(Checks, an_identifier_in_a_path_or_a_query_has_its_form) {
  Fixture host;
  const auto refused = [&](const char* method, const std::string& target) {
    const Reply reply = host.ask(method, target, "{}");
    EXPECT_EQ(reply.status, 400) << target;
    return reply.message();
  };
  EXPECT_THAT(refused("PUT", "worker-pools/x%2F%ff"), HasSubstr("no UTF-8"));
  EXPECT_THAT(refused("PUT", "worker-pools/x%2FW"),
              HasSubstr("`workerPoolId` in the path must be"));
  refused("PUT", "worker-pools/x");
  refused("PUT", "teams/a%20b");
  refused("GET", "teams/a/requests/x");
  refused("GET", "pools/a%2Fb/workers/g/" + std::string(39, 'w'));
  refused("DELETE", "holds/ec2%2F");
  EXPECT_THAT(refused("GET", "launch-configs?workerPoolId=x"),
              HasSubstr("the parameter `workerPoolId` must be"));
  EXPECT_THAT(refused("GET", "pools?after=%01"), HasSubstr("control characters"));
}

TEST(Checks, a_body_must_have_the_form_of_its_schema) {
  Fixture host;
  const auto pause = [&](const std::string& body) {
    const Reply reply = host.ask("POST", "pools/a%2Fb/launch-configs/lc-1/pause", body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(reply.code(), "InputError");
    return reply.message();
  };
  EXPECT_THAT(pause(""), HasSubstr("the request's body"));
  EXPECT_THAT(pause("[]"), HasSubstr("the request's body"));
  EXPECT_EQ(pause("{}"), "`until` is missing");
  EXPECT_EQ(pause(R"({"until": 7})"), "`until` must be a string");
  EXPECT_THAT(pause(R"({"until": "soon"})"), HasSubstr("`until` must be a time such as"));
  EXPECT_THAT(pause(R"({"until": "2030-01-01T00:00:00Z", "colour": "red"})"),
              HasSubstr("`colour` is not known here"));
}

// A long one leaves the other thread to all other endpoints.
TEST(Checks, worker_configurations_are_checked_one_request_at_a_time) {
  Fixture host;
  std::promise<void> begun, may_end;
  host.provider_context = [&] {
    begun.set_value();
    may_end.get_future().wait();
    return pools::ProviderContext();
  };
  const auto check = [&] {
    return host.ask("POST", "worker-configurations/check", R"({"files": []})");
  };
  auto first = std::async(std::launch::async, check);
  begun.get_future().wait();
  const Reply second = check();
  EXPECT_EQ(second.status, 503);
  EXPECT_THAT(second.message(), HasSubstr("one request at a time; ask again"));
  EXPECT_EQ(host.ask("GET", "worker-configurations").status, 200);
  may_end.set_value();
  EXPECT_EQ(first.get().status, 200);
  host.provider_context = [] { return pools::ProviderContext(); };
  EXPECT_EQ(check().status, 200);
}

TEST(Checks, a_body_that_is_optional_may_be_missing) {
  Fixture host;
  EXPECT_EQ(host.ask("PUT", "worker-pools/worker-manager%2Fmac").status, 200);
  EXPECT_EQ(host.ask("PUT", "worker-pools/worker-manager%2Fmac", R"({"publicKeys": 1})").status,
            400);
}

TEST(Checks, the_scope_of_the_row_is_needed) {
  Fixture host;
  EXPECT_EQ(host.ask("GET", "pools", "", "").status, 401);
  const Reply refused = host.ask("GET", "pools", "", host.client({"muster:get:teams"}));
  EXPECT_EQ(refused.status, 403);
  EXPECT_THAT(refused.message(), HasSubstr("muster:get:pools"));
  EXPECT_EQ(host.ask("GET", "pools", "", host.client({"muster:get:pools"})).status, 200);
  const std::string of_one = host.client({"muster:get:pool:a/b"});
  EXPECT_EQ(host.ask("GET", "pools/a%2Fb", "", of_one).status, 404);
  EXPECT_EQ(host.ask("GET", "pools/a%2Fc", "", of_one).status, 403);
}

TEST(Checks, open_rows_need_no_credentials) {
  Fixture host;
  for (const char* path : {"/", "/healthz", "/readyz", "/api/muster/v1"})
    EXPECT_EQ(host.ask("GET", path, "", "").status, 200) << path;
  EXPECT_EQ(host.ask("GET", "whoami", "", "").status, 200);
  EXPECT_EQ(host.ask("GET", "whoami", "", "wrong").status, 401);
}

TEST(Checks, without_a_fleet_its_endpoints_say_why) {
  Fixture host(false);
  for (const char* path : {"pools", "errors", "why?subject=1", "teams/a/requests/1"}) {
    const Reply reply = host.ask("GET", path);
    EXPECT_EQ(reply.status, 503) << path;
    EXPECT_EQ(reply.code(), "NoFleet") << path;
    EXPECT_EQ(reply.message(), "the store is damaged");
  }
  EXPECT_EQ(host.ask("DELETE", "holds/ec2").code(), "NoFleet");
  EXPECT_EQ(host.ask("PUT", "clients/a", "{}").code(), "NoClients");
  EXPECT_EQ(host.ask("GET", "/readyz").code(), "NotReady");
  EXPECT_EQ(host.ask("GET", "status").status, 200);
}

TEST(Checks, a_change_is_answered_with_what_came_of_it) {
  Fixture host;
  const Reply made = host.ask("PUT", "teams/ios", R"({"weight": 2})");
  EXPECT_EQ(made.status, 200);
  EXPECT_EQ(made.text("team"), "ios");
  EXPECT_EQ(host.ask("DELETE", "pools/a%2Fb/workers/g/w").code(), "ResourceNotFound");
}

}  // namespace
}  // namespace muster::api
