#include "plugins/provider/bridge/http_answers.hpp"

#include <gtest/gtest.h>

namespace muster::bridge {
namespace {

using namespace std::chrono_literals;

Result<std::string> result(long status, std::string body = "", const std::string& method = "list",
                           std::optional<std::chrono::seconds> retry_after = {}) {
  return result_of("https://x", method, {status, std::move(body), retry_after});
}

ErrorClass class_of(long status, const std::string& method = "list") {
  return result(status, "<html>", method).error().error_class;
}

TEST(BridgeAnswers, the_status_decides_where_the_service_says_nothing) {
  for (const long status : {500, 502, 503, 504, 599, 408, 301, 302, 307})
    EXPECT_EQ(class_of(status), ErrorClass::transient) << status;
  for (const long status : {401, 403}) EXPECT_EQ(class_of(status), ErrorClass::auth) << status;
  for (const long status : {400, 404, 405, 409, 413, 422})
    EXPECT_EQ(class_of(status), ErrorClass::invalid) << status;
  EXPECT_EQ(class_of(429), ErrorClass::throttle);
  for (const long status : {201, 202, 204}) EXPECT_EQ(class_of(status), ErrorClass::internal);
}

TEST(BridgeAnswers, a_missing_method_is_unsupported_if_it_is_optional) {
  for (const long status : {404, 405, 501})
    EXPECT_EQ(class_of(status, "notices"), ErrorClass::unsupported) << status;
  for (const char* method : {"placements", "bid", "allocate", "terminate", "identify"})
    EXPECT_EQ(class_of(404, method), ErrorClass::invalid) << method;
  EXPECT_EQ(class_of(500, "notices"), ErrorClass::transient);
}

TEST(BridgeAnswers, messages_name_service_method_and_status) {
  EXPECT_EQ(result(503).error().message,
            "the service at https://x answered list with HTTP status 503");
  EXPECT_EQ(result(302).error().message,
            "the service at https://x answered list with HTTP status 302: a redirect, which is not "
            "followed; correct the bridge's url");
}

TEST(BridgeAnswers, retry_after_becomes_the_hold_unless_the_error_has_one) {
  EXPECT_EQ(result(429, "", "list", 7s).error().hold, 7s);
  EXPECT_EQ(result(503, "", "list", 9s).error().hold, 9s);
  EXPECT_EQ(result(429).error().hold, std::nullopt);
  EXPECT_EQ(
      result(429, R"({"error":{"class":"throttle","message":"m","holdSeconds":3}})", "bid", 7s)
          .error()
          .hold,
      3s);
}

TEST(BridgeAnswers, the_services_own_error_is_passed_on_with_any_status) {
  const std::string body =
      R"({"error":{"class":"capacity","message":"full","scope":{"region":"lab","zone":"a",)"
      R"("instanceType":"big","launchConfigId":"lc-1"},"holdSeconds":180,"code":"Full"}})";
  const Error expected = Error::capacity("full")
                             .in_region("lab")
                             .in_zone("a")
                             .of_instance_type("big")
                             .of_launch_config("lc-1")
                             .hold_for(180s)
                             .with_code("Full");
  for (const long status : {200, 400, 404, 409, 500, 503})
    EXPECT_EQ(result(status, body).error(), expected) << status;
}

TEST(BridgeAnswers, an_error_of_the_wrong_shape_is_a_bug_or_what_the_status_says) {
  for (const char* error : {R"("text")", R"({"class":"odd","message":"m"})", R"({"message":"m"})",
                            R"({"class":"capacity"})", R"({"class":"capacity","message":7})"}) {
    const std::string body = std::string(R"({"error":)") + error + "}";
    EXPECT_EQ(result(200, body).error().error_class, ErrorClass::internal) << error;
    EXPECT_EQ(result(503, body).error().error_class, ErrorClass::transient) << error;
  }
}

TEST(BridgeAnswers, holds_are_bounded) {
  const auto hold = [](const char* seconds) {
    return result(400, std::string(R"({"error":{"class":"quota","message":"m","holdSeconds":)") +
                           seconds + "}}")
        .error()
        .hold;
  };
  EXPECT_EQ(hold("-5"), 0s);
  EXPECT_EQ(hold("9000000000000000"), 720h);
}

TEST(BridgeAnswers, status_200_is_the_result) {
  EXPECT_EQ(*result(200, R"({"instances":[]})"), R"({"instances":[]})");
}

}  // namespace
}  // namespace muster::bridge
