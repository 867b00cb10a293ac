// Each row of both tables that changes something leaves an event of who did it.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/api/api.hpp"
#include "host/endpoints/dispatch.hpp"
#include "tests/support/eventually.hpp"
#include "tests/unit/host/both_apis/example_requests.hpp"

namespace muster::testing {
namespace {

using endpoints::Audit;
using endpoints::Endpoint;
using taskcluster_api::Fixture;
using taskcluster_api::Reply;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// An event is durable before its answer, and is shown a moment later: so many are awaited.
json::array audit_events(Fixture& host, std::size_t awaited = 0) {
  json::array events;
  EXPECT_TRUE(eventually([&] {
    const Reply page =
        host.send("GET", "/api/muster/v1/events", {.query = "kind=audit&limit=1000"});
    if (page.status == 200) events = page.at("events").as_array();
    return page.status == 200 && events.size() >= awaited;
  }));
  return events;
}

json::object newest_audit_event(Fixture& host) {
  const json::array all = audit_events(host, 1);
  return all.empty() ? json::object{{"text", "(none)"}} : all.back().as_object();
}

void make_pool(Fixture& host) {
  EXPECT_EQ(host.call("createWorkerPool", {"p/w"}, {.body = host.cloud_pool_body()}).status, 200);
}

TEST(Audit, is_decided_by_each_row_that_is_no_get) {
  for (const auto rows : {api::endpoints(), taskcluster_api::endpoints()})
    for (const Endpoint& row : rows) {
      if (row.method == "GET") continue;
      EXPECT_NE(row.audit.kind(), Audit::Kind::undecided) << row.name;
      const bool is_exempt = row.audit.kind() == Audit::Kind::exempt;
      EXPECT_EQ(is_exempt, !row.audit.reason().empty()) << row.name;
    }
}

TEST(Audit, a_table_with_an_undecided_row_is_refused) {
  http::Router router{Log(), [](http::Request&) { return std::nullopt; }};
  Fixture host;
  const Endpoint row{.name = "change",
                     .method = "POST",
                     .path = "/change",
                     .scopes = endpoints::open_to_all("a test"),
                     .handler = +[](const endpoints::Call&) { return endpoints::Answer(""); }};
  EXPECT_THROW(endpoints::add_routes(router, host.api, {&row, 1}), std::logic_error);
}

// Whatever a row does, a good answer of one that is audited comes after its event.
TEST(Audit, each_good_answer_of_an_audited_row_has_one_event) {
  Fixture host;
  make_pool(host);
  EXPECT_EQ(audit_events(host, 1).size(), 1U);
  std::size_t good = 0;
  for (const ExampleRequest& request : example_requests(host)) {
    const Audit::Kind kind = request.row->audit.kind();
    if (request.row->method == "GET") continue;
    const std::size_t before = audit_events(host).size();
    const Reply reply = host.send(std::string(request.row->method), request.path, {}, request.body,
                                  request.body.empty() ? "" : "application/json");
    const bool is_expected = reply.status / 100 == 2 && kind != Audit::Kind::exempt;
    const json::array after = audit_events(host, before + (is_expected ? 1 : 0));
    ASSERT_EQ(after.size(), before + (is_expected ? 1 : 0))
        << request.row->name << " answered " << reply.status << " " << reply.text;
    if (!is_expected) continue;
    ++good;
    const json::object& details = after.back().at("details").as_object();
    EXPECT_EQ(details.at("action").as_string(), request.row->name);
    EXPECT_EQ(details.at("by").as_string(), "root");
    EXPECT_EQ(details.at("address").as_string(), "192.0.2.1");
    EXPECT_EQ(details.at("request").as_string(), "request-1");
  }
  EXPECT_GE(good, 9U) << "the examples no longer succeed, so that this test shows little";
}

TEST(Audit, tells_what_changed_and_why) {
  Fixture host;
  ASSERT_EQ(host.send("PUT", "/api/muster/v1/teams/ios", {}, R"({"weight": 2})").status, 200);
  const json::object event = newest_audit_event(host);
  EXPECT_EQ(event.at("text").as_string(), "root: setTeam team=ios");
  EXPECT_EQ(event.at("details").at("changed").at("weight").to_number<double>(), 2);
  EXPECT_EQ(event.at("details").at("about").at("team").as_string(), "ios");
}

TEST(Audit, shows_no_secret_of_a_client_or_a_machine) {
  Fixture host;
  const Reply made = host.send("PUT", "/api/muster/v1/clients/ci%2Fbot", {}, R"({"scopes":[]})");
  ASSERT_EQ(made.status, 200) << made.text;
  const std::string secret = made.field("accessToken");
  ASSERT_FALSE(secret.empty());
  EXPECT_EQ(host.call("createWorkerPool", {"p/rack"}, {.body = host.pool_body()}).status, 200);
  const std::string machine(44, 'q');
  EXPECT_EQ(
      host.call("createWorker", {"p/rack", "g", "w"}, {.body = host.machine_body(machine)}).status,
      200);
  const std::string all = json::write(audit_events(host, 3));
  EXPECT_THAT(all, HasSubstr("createClient clientId=ci/bot"));
  EXPECT_THAT(all, HasSubstr("createWorker workerPoolId=p/rack"));
  EXPECT_THAT(all, Not(HasSubstr(secret)));
  EXPECT_THAT(all, Not(HasSubstr(machine)));
}

TEST(Audit, a_refused_change_leaves_no_event_and_is_counted) {
  Fixture host;
  const std::string stranger = host.client({"muster:get:*"});
  EXPECT_EQ(
      host.send("PUT", "/api/muster/v1/teams/ios", {.token = stranger}, R"({"weight": 2})").status,
      403);
  EXPECT_EQ(host.send("PUT", "/api/muster/v1/teams/ios", {}, R"({"weight": -2})").status, 400);
  EXPECT_TRUE(audit_events(host).empty());
  EXPECT_EQ(host.authority.refusals().of(auth::Refusals::Reason::scopes), 1U);
  EXPECT_EQ(host.send("DELETE", "/api/muster/v1/pools/p%2Fw", {.token = "wrong"}).status, 401);
  EXPECT_EQ(host.authority.refusals().of(auth::Refusals::Reason::credentials), 1U);
}

TEST(Audit, a_worker_that_signs_off_is_no_operator) {
  Fixture host;
  EXPECT_EQ(host.call("createWorkerPool", {"p/rack"}, {.body = host.pool_body()}).status, 200);
  EXPECT_EQ(host.call("createWorker", {"p/rack", "g", "w"}, {.body = host.machine_body()}).status,
            200);
  const Sha256 digest = sha256("of the worker");
  host.authority.put({.client_id = "worker/rack/p/rack/g/w",
                      .kind = auth::ClientKind::token,
                      .keys = {{Secret(std::string(digest.begin(), digest.end()))}},
                      .scopes = {"worker-manager:remove-worker:p/rack/g/w"}});
  const std::size_t before = audit_events(host, 2).size();
  EXPECT_EQ(host.call("removeWorker", {"p/rack", "g", "w"}, {.token = "of the worker"}).status,
            200);
  EXPECT_EQ(audit_events(host).size(), before);
}

TEST(Audit, who_ends_the_request_of_another_client_is_known) {
  Fixture host;
  make_pool(host);
  const std::string team = host.client({"muster:request-worker:ios"});
  const auto ask = [&](const std::string& token) {
    const Reply made =
        host.send("POST", "/api/muster/v1/teams/ios/requests", {.token = team},
                  R"({"workerPoolId": "p/w", "token": ")" + token + R"("})", "application/json");
    EXPECT_EQ(made.status, 200) << made.text;
    return "/api/muster/v1/teams/ios/requests/" + made.field("requestId");
  };
  const std::string first = ask("one"), second = ask("two");
  const std::size_t before = audit_events(host, 1).size();
  EXPECT_EQ(host.send("DELETE", first, {.token = team}).status, 200);
  EXPECT_EQ(audit_events(host).size(), before);
  EXPECT_EQ(host.send("DELETE", second).status, 200);
  EXPECT_EQ(audit_events(host, before + 1).size(), before + 1);
  EXPECT_THAT(std::string(newest_audit_event(host).at("text").as_string()),
              AllOf(HasSubstr("root: releaseWorker"), HasSubstr("team=ios")));
}

// The row of a client and its event are one transaction: a store that takes neither has neither.
TEST(Audit, a_client_and_its_event_become_durable_together) {
  Fixture host;
  ASSERT_EQ(host.send("PUT", "/api/muster/v1/clients/one", {}, R"({"scopes":[]})").status, 200);
  const json::object event = newest_audit_event(host);
  EXPECT_EQ(event.at("text").as_string(), "root: createClient clientId=one");
  host.store.broken = true;
  EXPECT_NE(host.send("PUT", "/api/muster/v1/clients/two", {}, R"({"scopes":[]})").status, 200);
  EXPECT_EQ(newest_audit_event(host).at("text").as_string(), "root: createClient clientId=one");
}

}  // namespace
}  // namespace muster::testing
