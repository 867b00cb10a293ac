#include "host/auth/guard.hpp"

#include <array>

#include <gtest/gtest.h>

#include "tests/unit/host/auth/signed_request.hpp"

namespace muster::auth {
namespace {

class GuardTest : public ::testing::Test {
 protected:
  GuardTest() {
    authority.configure(
        {token_client("reader", "r", {"muster:get"}),
         token_client("teamA", "a", {"muster:pause:a/*"}), token_client("admin", "x", {"*"})},
        {}, {});
  }
  static constexpr std::array table{
      RouteScope{"POST", "/pools/{pool}/pause", "muster:pause:<pool>"},
      RouteScope{"GET", "/whoami", ""}};
  // The status that it is turned away with; 0 if it passes.
  int asked(const char* method, const char* route, const std::string& token,
            const std::string& pool = "a/b") {
    request = plain_request("/x", method);
    if (!token.empty()) request = with_header("Bearer " + token, request);
    request.route = route;
    request.path_parameters = {{"pool", pool}};
    const auto refused = guard(request);
    if (refused) answer = *refused;
    return refused ? refused->status : 0;
  }
  FakeClock clock;
  Authority authority{clock};
  Guard guard{authority, table};
  http::Request request;
  http::Response answer;
};

TEST_F(GuardTest, nobody_is_asked_who_he_is) {
  EXPECT_EQ(asked("GET", "/pools", ""), 401);
  EXPECT_EQ(http::find_header(answer.headers, "WWW-Authenticate"), "Bearer realm=\"muster\"");
  EXPECT_EQ(asked("GET", "", ""), 401);
  EXPECT_EQ(asked("GET", "/pools", "wrong"), 401);
}

TEST_F(GuardTest, each_route_wants_its_scope) {
  EXPECT_EQ(asked("GET", "/pools", "r"), 0);
  EXPECT_EQ(request.client_id, "reader");
  ASSERT_TRUE(request.caller);
  EXPECT_EQ(asked("HEAD", "/pools", "r"), 0);
  EXPECT_EQ(asked("POST", "/pools/{pool}/pause", "r"), 403);
  EXPECT_NE(answer.body.find("muster:pause:a/b"), std::string::npos);
  EXPECT_EQ(asked("POST", "/pools/{pool}/pause", "a"), 0);
  EXPECT_EQ(asked("POST", "/pools/{pool}/pause", "a", "b/b"), 403);
  EXPECT_EQ(asked("POST", "/pools/{pool}/pause", "x", "b/b"), 0);
  EXPECT_EQ(asked("GET", "/pools", "a"), 403);
}

TEST_F(GuardTest, a_route_that_the_table_forgot_is_closed) {
  EXPECT_EQ(asked("DELETE", "/everything", "r"), 403);
  EXPECT_EQ(asked("DELETE", "/everything", "x"), 0);
  EXPECT_EQ(asked("GET", "/whoami", "a"), 0);
}

TEST_F(GuardTest, guessers_are_told_when_to_come_back) {
  for (int i = 0; i < 20; ++i) EXPECT_EQ(asked("GET", "/pools", "wrong"), 401);
  EXPECT_EQ(asked("GET", "/pools", "wrong"), 429);
  EXPECT_EQ(http::find_header(answer.headers, "Retry-After"), "60");
}

TEST_F(GuardTest, a_hawk_client_with_a_wrong_clock_is_told_the_time) {
  authority.put(hawk_client("me", "my-key", {"*"}));
  Signing how;
  how.ts = 1;
  request = signed_request(how);
  request.route = "/pools";
  const auto refused = guard(request);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->status, 401);
  const auto challenge = http::find_header(refused->headers, "WWW-Authenticate");
  EXPECT_EQ(hawk::server_time(*challenge, Secret("my-key")).value(), seconds_of(clock));
}

}  // namespace
}  // namespace muster::auth
