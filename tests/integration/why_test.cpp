// What the command line tells of something that waits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/queue_host.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t pool_size = 20;

// A pool that is full, with leases that were measured: who waits is told why, until when, and by
// which line of which file.
TEST(WhyAndEta, tell_the_story_with_the_rule_behind_it) {
  const QueueHost host(pool_size);
  EXPECT_THAT(host.muster({"eta"}).output, HasSubstr("No ETA predictions have been scored yet."));
  const std::string requests = queue_api + "teams/a/requests";
  const auto ask = [&] { return *host.client().post(requests, {}); };
  const auto id_of = [](const json::value& request) {
    return std::string(request.at("requestId").as_string());
  };
  const std::string measured = id_of(ask());
  ASSERT_TRUE(host.client().remove(requests + "/" + measured));
  std::vector<std::string> held;
  for (std::size_t i = 0; i < pool_size; ++i) held.push_back(id_of(ask()));
  const std::string waiting = id_of(ask());
  ASSERT_TRUE(eventually([&] {
    return host.muster({"why", waiting}).output.find("build.toml:10:1: rule") != std::string::npos;
  }));
  const std::string told = host.muster({"why", waiting}).output;
  EXPECT_THAT(told, HasSubstr("Request " + waiting + " of team a asked for 1 active-task"));
  EXPECT_THAT(told, HasSubstr("Waiting: first in the queue of team a; no other queue competes"));
  EXPECT_THAT(told, HasSubstr("maxCapacity"));
  EXPECT_THAT(told, HasSubstr("build.toml:10:1: rule \"all\" sets maxCapacity = 20"));
  EXPECT_THAT(told, HasSubstr("team@example.com"));
  EXPECT_THAT(told, HasSubstr("ETA: p50 in "));
  EXPECT_THAT(host.muster({"eta", waiting}).output, HasSubstr(", p90 "));
  EXPECT_THAT(host.muster({"eta", held[0]}).output, HasSubstr("now"));
  const json::object worker = host.workers()[0].as_object();
  const std::string name = std::string(worker.at("workerGroup").as_string()) + "/" +
                           std::string(worker.at("workerId").as_string());
  EXPECT_THAT(host.muster({"why", name}).output,
              HasSubstr("of team a holds 1 active-task of it for"));
  EXPECT_THAT(host.muster({"why", std::string(worker.at("launchConfigId").as_string())}).output,
              HasSubstr("In the last hour: "));
  ASSERT_TRUE(host.client().remove(requests + "/" + held[0]));
  EXPECT_THAT(host.muster({"eta"}).output, HasSubstr("ETA accuracy: of the last 1 prediction, "));
  EXPECT_EQ(host.muster({"eta", "0"}).exit_code, 1);
}

}  // namespace
}  // namespace muster::testing
