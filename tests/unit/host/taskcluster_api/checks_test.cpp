// What happens before a handler runs, in its order, and what errors look like.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixture.hpp"
#include "tests/support/eventually.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const std::string pools = std::string(base_path) + "/worker-pool/";

TEST(Checks, an_unknown_path_is_not_found) {
  Fixture fixture;
  const Reply reply = fixture.send("GET", std::string(base_path) + "/no/such/thing");
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.body, json::value(json::object{{"error", "Not found"}}));
}

TEST(Checks, a_body_that_is_no_json_is_refused_before_credentials_are_looked_at) {
  Fixture fixture;
  for (const char* body : {"{", "7", "\"text\"", "{\"a\":1,\"a\":2}"}) {
    const Reply reply = fixture.send("PUT", pools + "p%2Fw", {.token = "wrong"}, body);
    EXPECT_EQ(reply.status, 400) << body;
    EXPECT_EQ(reply.code(), "MalformedPayload");
    EXPECT_THAT(reply.message(), StartsWith("Failed to parse JSON: "));
    EXPECT_EQ(reply.at("requestInfo").at("payload"), json::value(body));
  }
}

TEST(Checks, wrong_credentials_are_refused_with_a_challenge) {
  Fixture fixture;
  const Reply reply = fixture.call("workerPool", {"p/w"}, {.token = "wrong"});
  EXPECT_EQ(reply.status, 401);
  EXPECT_EQ(reply.code(), "AuthenticationFailed");
  EXPECT_NE(reply.header("www-authenticate"), "");
}

TEST(Checks, a_missing_scope_is_named) {
  Fixture fixture;
  const std::string token = fixture.client({"worker-manager:get-worker-pool:other/*"});
  const Reply reply = fixture.call("workerPool", {"p/w"}, {.token = token});
  EXPECT_EQ(reply.status, 403);
  EXPECT_EQ(reply.code(), "InsufficientScopes");
  EXPECT_THAT(reply.message(), HasSubstr("worker-manager:get-worker-pool:p/w"));
  EXPECT_THAT(reply.message(), HasSubstr("client-1"));
  const Reply nobody = fixture.call("workerPool", {"p/w"}, {.token = ""});
  EXPECT_EQ(nobody.status, 403);
  EXPECT_THAT(nobody.message(), StartsWith("This request requires Taskcluster credentials"));
}

TEST(Checks, a_missing_scope_comes_before_a_bad_parameter) {
  Fixture fixture;
  EXPECT_EQ(fixture.call("workerPool", {"p/NOT_"}, {.token = ""}).status, 403);
  const Reply reply = fixture.call("workerPool", {"p/NOT_"});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InvalidRequestArguments");
  EXPECT_THAT(reply.message(),
              HasSubstr("URL parameter 'workerPoolId' given as 'p/NOT_' must match regular "
                        "expression: '/^[a-zA-Z0-9-_]{1,38}\\/[a-z]([-a-z0-9]{0,36}[a-z0-9])?$/'"));
}

TEST(Checks, scopes_that_name_what_the_body_says_come_after_the_schema) {
  Fixture fixture;
  const Reply reply =
      fixture.call("createWorkerPool", {"p/w"}, {.body = json::object{}, .token = ""});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "InputValidationError");
  const Reply allowed =
      fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body(), .token = ""});
  EXPECT_EQ(allowed.status, 403);
  EXPECT_THAT(allowed.message(), HasSubstr("worker-manager:provider:rack"));
}

TEST(Checks, query_keys_are_known_single_and_of_the_right_form) {
  Fixture fixture;
  const auto mistake = [&](const std::string& query) {
    const Reply reply = fixture.call("listWorkersForWorkerPool", {"p/w"}, {.query = query});
    EXPECT_EQ(reply.status, 400) << query;
    EXPECT_EQ(reply.code(), "InvalidRequestArguments") << query;
    return reply.message();
  };
  EXPECT_THAT(mistake("colour=red"),
              StartsWith("Query-string parameter: colour is not supported!"));
  EXPECT_THAT(mistake("limit=x"), StartsWith("Query-string parameter: limit=\"x\" does not match "
                                             "expression: /^[0-9]+$/"));
  EXPECT_THAT(mistake("limit=1&limit=2"),
              StartsWith("Query-string parameter: limit must be a string!"));
  EXPECT_THAT(mistake("state=asleep"), HasSubstr("state=\"asleep\""));
  EXPECT_THAT(mistake("continuationToken="), HasSubstr("continuationToken=\"\""));
  const Reply bewit = fixture.call("listWorkersForWorkerPool", {"p/w"}, {.query = "bewit=abc"});
  EXPECT_EQ(bewit.code(), "AuthenticationFailed");  // known, but not beside other credentials
}

TEST(Checks, a_token_that_we_never_gave_is_refused) {
  Fixture fixture;
  for (const char* token :
       {"x", "m1", "m177", "m1zz", "m177393939393939393939393939393939393939393939", "m170312f77",
        "m1772d31"}) {
    const Reply reply = fixture.call("listWorkersForWorkerPool", {"p/w"},
                                     {.query = std::string("continuationToken=") + token});
    EXPECT_EQ(reply.status, 400) << token;
    EXPECT_EQ(reply.code(), "InputError") << token;
    EXPECT_THAT(reply.message(), StartsWith("Invalid continuation token"));
  }
}

TEST(Checks, an_input_must_be_declared_as_json) {
  Fixture fixture;
  const std::string body = json::write(fixture.pool_body());
  const Reply reply = fixture.send("PUT", pools + "p%2Fw", {}, body, "text/plain");
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.code(), "MalformedPayload");
  EXPECT_THAT(reply.message(),
              StartsWith("Payload must be JSON with content-type: application/json got "
                         "content-type: text/plain"));
  EXPECT_EQ(fixture.send("PUT", pools + "p%2Fw", {}, body, "").code(), "MalformedPayload");
  EXPECT_EQ(
      fixture.send("PUT", pools + "p%2Fw", {}, body, "Application/JSON; charset=utf-8").status,
      200);
}

TEST(Checks, mistakes_in_a_body_are_told_in_the_words_that_clients_know) {
  Fixture fixture;
  json::object body = fixture.pool_body();
  body.erase("owner");
  body["description"] = 7;
  body["providerId"] = "no spaces";
  body["emailOnError"] = true;
  body["extra"] = 1;
  const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.code(), "InputValidationError");
  EXPECT_THAT(reply.message(), StartsWith("\nSchema Validation Failed!\nRejecting Schema: "
                                          "https://muster.example.com/schemas/worker-manager/v1/"
                                          "create-worker-pool-request.json#\nErrors:\n  * data"));
  EXPECT_THAT(reply.message(), HasSubstr("\n  * data must have required property 'owner'"));
  EXPECT_THAT(reply.message(),
              HasSubstr("\n  * data must NOT have additional properties: \"extra\""));
  EXPECT_THAT(reply.message(), HasSubstr("\n  * data/description must be string"));
  EXPECT_THAT(reply.message(),
              HasSubstr("\n  * data/providerId must match pattern \"^([a-zA-Z0-9-_]*)$\""));
}

TEST(Checks, an_error_says_what_was_asked_and_when) {
  Fixture fixture;
  const Reply reply = fixture.call("updateWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(reply.header("content-type"), "application/json; charset=utf-8");
  EXPECT_EQ(reply.message(),
            "Worker pool does not exist\n\n---\n\n"
            "* method:     updateWorkerPool\n"
            "* errorCode:  ResourceNotFound\n"
            "* statusCode: 404\n"
            "* time:       2001-09-09T01:46:40.000Z");
  EXPECT_EQ(reply.at("requestInfo"), json::value({{"method", "updateWorkerPool"},
                                                  {"params", {{"workerPoolId", "p/w"}}},
                                                  {"payload", fixture.pool_body()},
                                                  {"time", "2001-09-09T01:46:40.000Z"}}));
}

TEST(Checks, secrets_of_a_request_are_not_repeated) {
  Fixture fixture;
  const Reply create =
      fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()});
  EXPECT_EQ(create.status, 404);
  EXPECT_EQ(create.at("requestInfo").at("payload").at("providerInfo"),
            json::value({{"staticSecret", "(OMITTED)"}}));
  const Reply register_it = fixture.call("registerWorker", {}, {.body = json::object{{"a", 1}}});
  EXPECT_EQ(register_it.status, 400);
  EXPECT_EQ(register_it.at("requestInfo").at("payload"), json::value("(OMITTED)"));
  const Reply broken = fixture.send("PUT", std::string(base_path) + "/workers/p%2Fw/g/m", {},
                                    "{\"staticSecret\": \"abc");
  EXPECT_EQ(broken.at("requestInfo").at("payload"), json::value("(OMITTED)"));
}

TEST(Checks, a_large_body_is_not_sent_back) {
  Fixture fixture;
  const json::object body{{"description", std::string(100'000, 'x')}};
  const Reply reply = fixture.call("createWorkerPool", {"p/w"}, {.body = body});
  EXPECT_EQ(reply.status, 400);
  EXPECT_EQ(reply.at("requestInfo").at("payload"), json::value("(OMITTED)"));
}

TEST(Checks, a_pool_may_be_named_with_its_slash_as_it_is) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  EXPECT_EQ(fixture.send("GET", pools + "p/w").status, 200);
  EXPECT_EQ(fixture.send("GET", pools + "p/w/stats").status, 200);
  EXPECT_EQ(fixture.send("GET", pools + "p%2fw/launch-configs").status, 200);
  const Reply parsed = fixture.send("GET", std::string(base_path) + "/workers/p/w");
  EXPECT_EQ(parsed.at("requestInfo").at("params"),
            json::value({{"workerPoolId", "p"}, {"workerGroup", "w"}}));
}

TEST(Checks, old_clients_may_write_a_colon_behind_the_pool) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  EXPECT_EQ(fixture
                .send("PUT", std::string(base_path) + "/workers/p%2Fw:/g/m", {},
                      json::write(fixture.machine_body()))
                .status,
            200);
  EXPECT_EQ(fixture.send("GET", std::string(base_path) + "/workers/p%2Fw:/g/m").status, 200);
  EXPECT_EQ(fixture.send("GET", std::string(base_path) + "/workers/p%2Fw:/g").status, 200);
  EXPECT_EQ(fixture.send("DELETE", std::string(base_path) + "/workers/p%2Fw:/g/m").status, 400);
}

TEST(Checks, a_host_that_cannot_store_refuses_changes_and_goes_on_reading) {
  Fixture fixture;
  fixture.call("createWorkerPool", {"p/w"}, {.body = fixture.pool_body()});
  fixture.call("createWorker", {"p/w", "g", "m"}, {.body = fixture.machine_body()});
  fixture.store.broken = true;
  fixture.fleet->post([](fleet::Fleet& fleet, fleet::Now now) {
    events::Event event;
    event.kind = "plugin-activated";
    fleet.emit_event(std::move(event), now);
  });
  ASSERT_TRUE(muster::testing::eventually([&] { return !fixture.fleet->store_health().ok; }));
  const Reply reply = fixture.call("removeWorker", {"p/w", "g", "m"});
  EXPECT_EQ(reply.status, 503);
  EXPECT_EQ(reply.code(), "ReadOnly");
  EXPECT_THAT(reply.message(), HasSubstr("the disk is full"));
  EXPECT_EQ(fixture.call("heartbeat").status, 503);
  EXPECT_EQ(fixture.call("worker", {"p/w", "g", "m"}).status, 200);
  EXPECT_EQ(fixture.call("shouldWorkerTerminate", {"p/w", "g", "m"}).status, 200);
  EXPECT_EQ(fixture.call("createWorkerPool", {"p/x"}, {.body = fixture.pool_body()}).status, 503);
}

TEST(Checks, everybody_may_ask_whether_it_lives) {
  Fixture fixture;
  const Reply ping = fixture.call("ping", {}, {.token = ""});
  EXPECT_EQ(ping.status, 200);
  EXPECT_EQ(ping.at("alive"), json::value(true));
  EXPECT_EQ(fixture.call("lbheartbeat", {}, {.token = ""}).text, "{}");
  EXPECT_EQ(fixture.call("heartbeat", {}, {.token = ""}).text, "{}");
  EXPECT_EQ(fixture.call("version", {}, {.token = "wrong"}).at("version"), json::value("1.2.3"));
}

}  // namespace
}  // namespace muster::taskcluster_api
