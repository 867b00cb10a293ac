#include "lib/http/message.hpp"

#include <gtest/gtest.h>

#include "lib/http/answer.hpp"

namespace muster::http {
namespace {

TEST(Message, broken_escapes_are_refused) {
  for (const char* bad : {"%", "%1", "a%zz", "%00", "%-1", "%+1", "% 1"})
    EXPECT_FALSE(percent_decode(bad)) << bad;
  EXPECT_EQ(percent_decode("a%2Fb%c3%bc+c"), "a/b\xc3\xbc+c");
}

TEST(Message, an_unknown_path_parameter_is_a_bug) {
  Request request;
  request.path_parameters = {{"name", "x"}};
  EXPECT_EQ(request.path_parameter("name"), "x");
  EXPECT_THROW(request.path_parameter("other"), std::logic_error);
}

TEST(Message, an_error_says_code_message_and_request) {
  Request request;
  request.method = "GET";
  request.path = "/\xff";
  request.id = "r-1";
  const Response answer = error_answer(request, Error::not_found("no plugin \"x\""));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.body,
            "{\"code\":\"ResourceNotFound\",\"message\":\"no plugin \\\"x\\\"\",\"requestInfo\":{"
            "\"method\":\"GET\",\"path\":\"/\xef\xbf\xbd\",\"requestId\":\"r-1\"}}\n");
  EXPECT_EQ(error_answer(request, Error::internal("x")).status, 500);
  EXPECT_EQ(error_answer(request, Error::invalid("x")).status, 400);
  EXPECT_EQ(error_answer(request, Error::transient("x")).status, 503);
}

TEST(Message, a_body_that_is_no_object_is_a_400) {
  Request request;
  request.body = "[1]";
  ASSERT_FALSE(json_body(request));
  EXPECT_EQ(json_body(request).error().status, 400);
  request.body = "{\"a\":1}";
  EXPECT_EQ(json_body(request)->at("a"), 1);
}

TEST(AnswerTest, a_body_has_a_number_of_values_that_fits_into_memory) {
  const auto list = [](std::size_t values) {  // with the list itself
    std::string text = "[\"a,[{\\\",\"";
    for (std::size_t i = 2; i < values; ++i) text += ",1";
    return text + "]";
  };
  EXPECT_FALSE(parse_body(list(most_values + 1)));
  EXPECT_TRUE(parse_body(list(most_values - 1)));
  EXPECT_FALSE(parse_object_body("{\"a\":" + list(most_values + 1) + "}"));
  EXPECT_TRUE(parse_object_body("{\"a\":{}}"));
}

}  // namespace
}  // namespace muster::http
