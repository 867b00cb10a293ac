#include "agent/interruptions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/scripted_server.hpp"

namespace muster::agent {
namespace {

using namespace std::chrono_literals;
using muster::testing::ScriptedServer;
using ::testing::HasSubstr;

TEST(Notices, of_aws_have_an_action_and_a_time) {
  for (const char* none : {"", "null", "[]", "{}", R"({"action": 1})"})
    EXPECT_FALSE(read_aws_action(none)) << none;
  const auto notice = read_aws_action(R"({"action": "terminate", "time": "2001-09-09T01:46:40Z"})");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->at, Time(1'000'000'000s));
  EXPECT_EQ(notice->reason, "spot instance: terminate");
  EXPECT_FALSE(read_aws_rebalance("{}"));
  EXPECT_TRUE(read_aws_rebalance(R"({"noticeTime": "2020-10-27T08:22:00Z"})")->only_a_warning);
}

TEST(Notices, of_azure_count_if_they_are_about_this_machine_and_more_than_a_pause) {
  const auto read = [](const std::string& event) {
    return read_azure_events(R"({"DocumentIncarnation": 1, "Events": [)" + event + "]}", "vm-1");
  };
  EXPECT_FALSE(read_azure_events("", "vm-1"));
  EXPECT_FALSE(read(""));
  EXPECT_FALSE(read("1"));
  EXPECT_FALSE(read(R"({"EventType": "Freeze", "Resources": ["vm-1"]})"));
  EXPECT_FALSE(read(R"({"EventType": "Preempt", "Resources": ["vm-2"]})"));
  EXPECT_FALSE(
      read(R"({"EventType": "Reboot", "EventStatus": "Completed", "Resources": ["vm-1"]})"));
  const auto notice = read(R"({"EventType": "Freeze", "Resources": ["vm-1"]},
      {"EventType": "Preempt", "Resources": ["vm-2", "vm-1"], "EventStatus": "Scheduled",
       "NotBefore": "Sun, 09 Sep 2001 01:46:40 GMT"})");
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->at, Time(1'000'000'000s));
  EXPECT_EQ(notice->reason, "scheduled event: Preempt");
}

// What the watch hears of a metadata service until its first real notice.
std::vector<InterruptionNotice> hear(IdentityKind cloud, const ScriptedServer& server) {
  EventLoop loop;
  HttpClient http(loop, "");
  std::vector<InterruptionNotice> heard;
  const InterruptionWatch watch(cloud, server.url(), "vm-1", 1ms, loop, http,
                                [&](const InterruptionNotice& notice) {
                                  heard.push_back(notice);
                                  if (!notice.only_a_warning) loop.stop();
                                });
  loop.run();
  return heard;
}

TEST(InterruptionWatch, of_aws_survives_failures_and_old_tokens) {
  int tokens = 0, asked = 0;
  const ScriptedServer server([&](const std::string& request) -> std::string {
    if (request.starts_with("PUT /latest/api/token")) {
      if (++tokens == 1) return ScriptedServer::with_status("500 X", "");
      return ScriptedServer::ok("token-" + std::to_string(tokens));
    }
    if (request.find("/rebalance") != std::string::npos)
      return ScriptedServer::ok(R"({"noticeTime": "2020-10-27T08:22:00Z"})");
    switch (++asked) {
      case 1:
        return ScriptedServer::with_status("404 Not Found", "");
      case 2:
        return ScriptedServer::with_status("401 Unauthorized", "");
      case 3:
        return "";  // the connection breaks
      default:
        return ScriptedServer::ok(R"({"action": "stop", "time": "2001-09-09T01:46:40Z"})");
    }
  });
  const auto heard = hear(IdentityKind::aws, server);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_TRUE(heard[0].only_a_warning);
  EXPECT_EQ(heard[1].reason, "spot instance: stop");
  EXPECT_EQ(tokens, 3);
  EXPECT_THAT(server.requests().back(), HasSubstr("X-aws-ec2-metadata-token: token-3\r\n"));
  EXPECT_THAT(server.requests().front(), HasSubstr("X-aws-ec2-metadata-token-ttl-seconds"));
}

TEST(InterruptionWatch, of_google_waits_for_changes) {
  int asked = 0;
  const ScriptedServer server([&](const std::string& request) -> std::string {
    if (request.find("Metadata-Flavor: Google") == std::string::npos)
      return ScriptedServer::with_status("403 Forbidden", "");
    switch (++asked) {
      case 1:
        return ScriptedServer::ok("FALSE", "ETag: e1\r\n");
      case 2:
        return ScriptedServer::with_status("503 X", "");
      default:
        return ScriptedServer::ok("TRUE", "ETag: e2\r\n");
    }
  });
  const auto heard = hear(IdentityKind::google, server);
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(heard[0].otherwise, 30s);
  EXPECT_THAT(server.requests().at(0), HasSubstr("preempted?wait_for_change=true&last_etag=0"));
  EXPECT_THAT(server.requests().at(2), HasSubstr("last_etag=e1"));
}

TEST(InterruptionWatch, of_azure_asks_for_scheduled_events) {
  int asked = 0;
  const ScriptedServer server([&](const std::string&) {
    return ++asked < 3 ? ScriptedServer::ok(R"({"Events": []})")
                       : ScriptedServer::ok(
                             R"({"Events": [{"EventType": "Terminate", "Resources": ["vm-1"]}]})");
  });
  EXPECT_EQ(hear(IdentityKind::azure, server).at(0).reason, "scheduled event: Terminate");
  EXPECT_THAT(server.requests().at(0), HasSubstr("GET /metadata/scheduledevents?api-version="));
  EXPECT_THAT(server.requests().at(0), HasSubstr("Metadata: true\r\n"));
}

}  // namespace
}  // namespace muster::agent
