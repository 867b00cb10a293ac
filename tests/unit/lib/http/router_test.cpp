#include "lib/http/router.hpp"

#include <gtest/gtest.h>

#include "lib/http/answer.hpp"
#include "tests/support/recorded_log.hpp"

namespace muster::http {
namespace {

class RouterTest : public ::testing::Test {
 protected:
  Response ask(const std::string& method, const std::string& target) {
    Request request;
    request.method = method;
    request.path = target.substr(0, target.find('?'));
    request.query = target.substr(std::min(request.path.size() + 1, target.size()));
    request.id = "r-1";
    std::optional<Response> answer;
    {
      const Reply reply([&](Response&& response) { answer = std::move(response); }, request);
      router.route(std::move(request), reply);
    }
    return answer.value_or(Response{0, {}, ""});
  }
  static Handler says(std::string text) {
    return now([text](const Request&) { return Response{200, {}, text}; });
  }

  std::shared_ptr<testing::RecordedLog> lines = std::make_shared<testing::RecordedLog>();
  bool admitted = true;
  Router router{Log(lines, LogLevel::info, LogFormat::text),
                [this](const Request& request) -> std::optional<Response> {
                  if (admitted) return std::nullopt;
                  return error_answer(request, 401, "AuthenticationFailed", "no");
                }};
};

TEST_F(RouterTest, unknown_paths_and_methods_are_told_apart) {
  router.add("GET", "/a", says("a"));
  router.add("POST", "/a", says("b"));
  EXPECT_EQ(ask("GET", "/b").status, 404);
  EXPECT_EQ(ask("GET", "/a/").status, 404);
  EXPECT_EQ(ask("GET", "//a").status, 404);
  EXPECT_EQ(ask("GET", "/a%").status, 400);
  const Response answer = ask("DELETE", "/a");
  EXPECT_EQ(answer.status, 405);
  EXPECT_EQ(find_header(answer.headers, "Allow"), "GET, POST");
}

TEST_F(RouterTest, what_is_not_text_after_decoding_is_refused_before_anybody_is_asked) {
  int reached = 0;
  router.add("GET", "/api/{id}", now([&](const Request&) {
               ++reached;
               return Response{200, {}, ""};
             }));
  router.fallback("/api/other/", says("fallback"));
  admitted = false;
  for (const char* target :
       {"/api/%", "/api/%ff", "/api/a%00", "/api/%0a", "/api/%7f", "/api/%c2%85", "/api/%ed%a0%80",
        "/api/\xff", "/api/other/%ff", "/%ff", "/api/a?x=%ff", "/api/a?%01=1", "/api/a?x=\xc3"}) {
    const Response answer = ask("GET", target);
    EXPECT_EQ(answer.status, 400) << target;
    EXPECT_TRUE(json::parse(answer.body)) << target;
  }
  admitted = true;
  for (const char* target : {"/api/%c3%a4", "/api/\xc3\xa4", "/api/a?x=%zz", "/api/a%20b?x=%c3%a4"})
    EXPECT_EQ(ask("GET", target).status, 200) << target;
  EXPECT_EQ(reached, 4);
}

TEST_F(RouterTest, nobody_unknown_learns_what_is_under_api) {
  router.add("GET", "/api/a", says("a"));
  router.add("GET", "/api/open", says("open"), Access::open);
  router.add("GET", "/b", says("b"), Access::open);
  admitted = false;
  EXPECT_EQ(ask("GET", "/api/a").status, 401);
  EXPECT_EQ(ask("GET", "/api/none").status, 401);
  EXPECT_EQ(ask("POST", "/api/a").status, 401);
  EXPECT_EQ(ask("GET", "/%61pi/a").status, 401);
  EXPECT_EQ(ask("GET", "/api/open").body, "open");
  EXPECT_EQ(ask("GET", "/b").body, "b");
}

TEST_F(RouterTest, parameters_are_whole_segments_and_decoded) {
  router.add("POST", "/plugins/{name}/rollback", now([](const Request& request) {
               return Response{200, {}, request.path_parameter("name")};
             }));
  EXPECT_EQ(ask("POST", "/plugins/provider%2Fec2/rollback").body, "provider/ec2");
  EXPECT_EQ(ask("POST", "/plugins//rollback").status, 404);
  EXPECT_EQ(ask("POST", "/plugins/a/b/rollback").status, 404);
}

TEST_F(RouterTest, two_wildcards_in_one_pattern_are_a_bug) {
  EXPECT_THROW(router.add("GET", "/{*a}/{*b}", says("x")), std::logic_error);
}

TEST_F(RouterTest, a_wildcard_takes_one_or_more_segments_each_decoded) {
  const auto says_id = [](const std::string& name) {
    return now([name](const Request& request) {
      return Response{200, {}, name + " " + request.path_parameter("id")};
    });
  };
  router.add("GET", "/pool/{*id}/stats", says_id("stats"));
  router.add("GET", "/pool/{*id}", says_id("pool"));
  router.add("GET", "/workers/{*id}", says_id("workers"));
  EXPECT_EQ(ask("GET", "/pool").status, 404);
  EXPECT_EQ(ask("GET", "/pool/").status, 404);
  EXPECT_EQ(ask("GET", "/pool/pp%2Fww%").status, 400);
  EXPECT_EQ(ask("GET", "/pool/stats").body, "pool stats");
  EXPECT_EQ(ask("GET", "/pool/pp%2Fww").body, "pool pp/ww");
  EXPECT_EQ(ask("GET", "/pool/pp/ww").body, "pool pp/ww");
  EXPECT_EQ(ask("GET", "/pool/pp/ww/").body, "pool pp/ww/");
  EXPECT_EQ(ask("GET", "/pool/pp/ww/stats").body, "stats pp/ww");
  EXPECT_EQ(ask("GET", "/pool/pp%2Fww/st%61ts").body, "stats pp/ww");
  EXPECT_EQ(ask("GET", "/workers/a/b/c/d").body, "workers a/b/c/d");
  EXPECT_EQ(ask("GET", "/" + std::string(8000, '/')).status, 404);
}

TEST_F(RouterTest, the_route_that_was_added_first_wins) {
  router.add("GET", "/errors/stats", says("literal"));
  router.add("GET", "/errors/{id}", says("parameter"));
  router.add("GET", "/errors/{*id}", says("wildcard"));
  router.add("GET", "/late/{id}", says("parameter"));
  router.add("GET", "/late/stats", says("literal"));
  router.add("POST", "/late/stats", says("posted"));
  EXPECT_EQ(ask("GET", "/errors/stats").body, "literal");
  EXPECT_EQ(ask("GET", "/errors/a").body, "parameter");
  EXPECT_EQ(ask("GET", "/errors/a/b").body, "wildcard");
  EXPECT_EQ(ask("GET", "/late/stats").body, "parameter");
  EXPECT_EQ(ask("POST", "/late/stats").body, "posted");
}

TEST_F(RouterTest, a_fallback_answers_all_that_is_unknown_below_its_prefix) {
  router.add("GET", "/api/wm/v1/ping", says("pong"));
  router.fallback("/api/wm/", says("outer"));
  router.fallback("/api/wm/v1/", says("inner"));
  admitted = false;
  EXPECT_EQ(ask("GET", "/api/wm/v1/ping").status, 401);
  EXPECT_EQ(ask("PUT", "/api/wm/v1/ping").body, "inner");
  EXPECT_EQ(ask("GET", "/api/wm/v1/none").body, "inner");
  EXPECT_EQ(ask("GET", "/api/wm/v1/%").status, 400);
  EXPECT_EQ(ask("GET", "/api/wm/v2").body, "outer");
  EXPECT_EQ(ask("GET", "/api/other").status, 401);
}

TEST_F(RouterTest, options_needs_no_credentials_and_tells_nothing_of_the_api) {
  router.add("GET", "/a", says("a"));
  router.add("GET", "/api/a", says("a"));
  admitted = false;
  EXPECT_EQ(find_header(ask("OPTIONS", "/a").headers, "Allow"), "GET");
  EXPECT_EQ(ask("OPTIONS", "/api/a").status, 204);
  EXPECT_FALSE(find_header(ask("OPTIONS", "/api/a").headers, "Allow"));
}

TEST_F(RouterTest, head_is_answered_like_get) {
  router.add("GET", "/a", says("a"));
  EXPECT_EQ(ask("HEAD", "/a").status, 200);
}

TEST_F(RouterTest, a_handler_that_throws_is_a_500_and_a_log_line) {
  router.add("GET", "/a",
             now([](const Request&) -> Response { throw std::runtime_error("disk on fire"); }));
  const Response answer = ask("GET", "/a");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(answer.body.find("disk on fire"), std::string::npos);
  EXPECT_TRUE(lines->contains("request=r-1 route=/a what=\"disk on fire\""));
}

TEST_F(RouterTest, a_handler_that_forgets_to_answer_is_a_500) {
  router.add("GET", "/a", [](Request&&, const Reply&) {});
  EXPECT_EQ(ask("GET", "/a").status, 500);
}

TEST_F(RouterTest, only_the_first_answer_counts) {
  router.add("GET", "/a", [](Request&&, const Reply& reply) {
    reply(Response{200, {}, "first"});
    reply(Response{200, {}, "second"});
  });
  EXPECT_EQ(ask("GET", "/a").body, "first");
}

TEST_F(RouterTest, two_handlers_for_one_path_are_a_bug) {
  router.add("GET", "/a", says("a"));
  EXPECT_THROW(router.add("GET", "/a", says("b")), std::logic_error);
}

}  // namespace
}  // namespace muster::http
