// The trace of a call, as it crosses the boundary of a plugin.
#include <gtest/gtest.h>

#include <muster/trace.hpp>

namespace muster {
namespace {

const std::string trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

TEST(Trace, only_the_form_of_the_header_is_one) {
  EXPECT_TRUE(is_trace_parent(trace));
  for (const std::string& bad :
       {std::string(), trace + "0", trace.substr(1), "01" + trace.substr(2),
        "00-" + std::string(32, '0') + trace.substr(35),
        trace.substr(0, 36) + "0000000000000000-01",
        "00-" + std::string(32, 'G') + trace.substr(35), "00-4bf9\"" + trace.substr(8)})
    EXPECT_FALSE(is_trace_parent(bad)) << bad;
}

TEST(Trace, is_the_first_member_of_a_request) {
  EXPECT_EQ(with_trace("{}", trace), R"({"traceparent":")" + trace + R"("})");
  EXPECT_EQ(with_trace(R"({"a":1})", trace), R"({"traceparent":")" + trace + R"(","a":1})");
  EXPECT_EQ(with_trace(R"({"a":1})", ""), R"({"a":1})");
  EXPECT_EQ(trace_in(with_trace(R"({"a":1})", trace)), trace);
}

TEST(Trace, is_not_taken_from_a_request_that_only_looks_like_it) {
  for (const char* request : {"", "{", "{}", R"({"traceparent":"})", R"({"traceparent":"00-x"})",
                              R"({"a":{"traceparent":"00-x"}})"})
    EXPECT_EQ(trace_in(request), "") << request;
}

}  // namespace
}  // namespace muster
