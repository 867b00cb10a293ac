// Before a large body is read, this API asks who sends it, and answers in its own form.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/hawk/hawk.hpp"
#include "tests/unit/host/taskcluster_api/fixture.hpp"

namespace muster::taskcluster_api {
namespace {

using ::testing::HasSubstr;

constexpr std::uint64_t large = 1 << 20, small = 1000;

class LargeBodies : public ::testing::Test {
 protected:
  http::Router::Admission admit(const std::string& method, const std::string& path,
                                const std::string& token, std::optional<std::uint64_t> length) {
    request = {};
    request.method = method;
    request.path = std::string(base_path) + path;
    request.peer = "192.0.2.1:4711";
    request.headers.push_back({"Host", "muster.example.com"});
    if (!token.empty()) request.headers.push_back({"Authorization", "Bearer " + token});
    const auto found = fixture.router->find(request);
    return fixture.router->admit(found, request, length, {});
  }
  std::string code_of(const http::Response& response) const {
    return std::string(json::parse(response.body)->at("code").as_string());
  }
  Fixture fixture;
  http::Request request;
};

TEST_F(LargeBodies, strangers_and_callers_without_the_scope_are_refused_unread) {
  for (const auto length : {std::optional(large), std::optional<std::uint64_t>()}) {
    const auto wrong = admit("PUT", "/workers/a%2Fb/g/w", "wrong", length);
    ASSERT_TRUE(wrong.refusal);
    EXPECT_EQ(wrong.refusal->status, 401);
    EXPECT_EQ(code_of(*wrong.refusal), "AuthenticationFailed");
    EXPECT_THAT(wrong.refusal->body, HasSubstr("* errorCode:  AuthenticationFailed"));
    const auto nobody = admit("PUT", "/workers/a%2Fb/g/w", "", length);
    ASSERT_TRUE(nobody.refusal);
    EXPECT_EQ(nobody.refusal->status, 403);
    const auto other = admit("PUT", "/workers/a%2Fb/g/w", fixture.client({"x"}), length);
    ASSERT_TRUE(other.refusal);
    EXPECT_EQ(code_of(*other.refusal), "InsufficientScopes");
  }
}

TEST_F(LargeBodies, who_may_send_them_is_known_from_then_on) {
  const auto root = admit("PUT", "/workers/a%2Fb/g/w", "root", large);
  EXPECT_FALSE(root.refusal);
  EXPECT_TRUE(root.known_caller);
  EXPECT_EQ(root.max_body_bytes, http::RequestLimits().max_body_bytes);
  EXPECT_TRUE(request.caller);
}

TEST_F(LargeBodies, small_ones_are_read_first_because_errors_show_them) {
  const auto wrong = admit("PUT", "/workers/a%2Fb/g/w", "wrong", small);
  EXPECT_FALSE(wrong.refusal);
  EXPECT_EQ(wrong.max_body_bytes, http::RequestLimits().max_open_body_bytes);
}

TEST_F(LargeBodies, a_registration_is_small) {
  const auto registration = admit("POST", "/worker/register", "", large);
  EXPECT_FALSE(registration.refusal);
  EXPECT_EQ(registration.max_body_bytes, 64u * 1024);
}

TEST_F(LargeBodies, a_body_that_was_not_signed_is_refused_when_it_has_come) {
  fixture.authority.put({.client_id = "signer", .keys = {{Secret("a-key")}}, .scopes = {"*"}});
  http::Request sent;
  sent.method = "PUT";
  sent.path = std::string(base_path) + "/workers/a%2Fb/g/w";
  sent.headers = {{"Host", "muster.example.com"}, {"Content-Type", "application/json"}};
  hawk::Attributes attributes;
  attributes.id = "signer";
  attributes.ts = std::to_string(
      std::chrono::floor<std::chrono::seconds>(fixture.clock->now()).time_since_epoch().count());
  attributes.nonce = "n";
  attributes.hash = hawk::payload_hash("application/json", "{}");
  attributes.mac = hawk::mac_of(
      Secret("a-key"),
      hawk::normalized("header", attributes, {"PUT", sent.path, "muster.example.com", 80}));
  sent.headers.push_back({"Authorization", hawk::format_header(attributes)});
  const auto found = fixture.router->find(sent);
  ASSERT_FALSE(fixture.router->admit(found, sent, large, {}).refusal);
  ASSERT_TRUE(sent.verify_body);
  sent.body = "{}";
  EXPECT_FALSE(sent.verify_body(sent));
  sent.body = "{\"evil\": 1}";
  const auto refusal = sent.verify_body(sent);
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->status, 401);
  EXPECT_THAT(refusal->body, HasSubstr("Invalid payload hash"));
}

}  // namespace
}  // namespace muster::taskcluster_api
