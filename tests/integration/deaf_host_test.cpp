// A host that hears nobody for a while: it is frozen, its disk is full, or its clock is set. Nobody
// loses a worker because of that.
#include <csignal>
#include <future>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/preloads.hpp"
#include "tests/integration/queue_host.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t workers = 4;
constexpr std::int64_t heartbeat = 10;  // seconds
constexpr auto longer_than_the_heartbeat = std::chrono::seconds(heartbeat + 2);

// A fault has to last: this is no wait for something that another does.
void let_pass(std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  eventually([&] { return std::chrono::steady_clock::now() >= end; }, time + 1s);
}

std::string request(const QueueHost& host, std::int64_t heartbeat_seconds = heartbeat) {
  const std::string requests = queue_api + "teams/deaf/requests";
  const auto made = host.client().post(requests, {{"heartbeatSeconds", heartbeat_seconds}});
  if (!made) throw std::runtime_error(made.error().message);
  return requests + "/" + std::string(made->at("requestId").as_string());
}

std::vector<std::string> lease_all(const QueueHost& host) {
  std::vector<std::string> leases;
  for (std::size_t i = 0; i < workers; ++i) {
    leases.push_back(request(host));
    const auto held = host.client().get(leases.back() + "?wait=30");
    if (!held || held->at("state") != "held") throw std::runtime_error("there is no worker");
  }
  for (const std::string& lease : leases)
    if (!host.client().post(lease + "/heartbeat", {})) throw std::runtime_error("no heartbeat");
  return leases;
}

std::string state_of(const QueueHost& host, const std::string& request) {
  const auto answer = host.client().get(request);
  return answer ? std::string(answer->at("state").as_string()) : answer.error().message;
}

void expect_nothing_lost(const QueueHost& host, const std::vector<std::string>& leases) {
  for (const std::string& lease : leases) EXPECT_EQ(state_of(host, lease), "held");
  for (const std::string& lease : leases)
    EXPECT_TRUE(host.client().post(lease + "/heartbeat", {}).has_value());
  for (const json::value& worker : host.workers()) EXPECT_EQ(worker.at("state"), "running");
}

TEST(DeafHost, that_was_frozen_for_longer_than_the_heartbeat_ends_no_lease) {
  const QueueHost host(workers);
  const auto leases = lease_all(host);
  host.host().process().signal(SIGSTOP);
  let_pass(longer_than_the_heartbeat);
  host.host().process().signal(SIGCONT);
  expect_nothing_lost(host, leases);
}

TEST(DeafHost, whose_disk_was_full_for_longer_than_the_heartbeat_ends_no_lease) {
  const TemporaryFolder folder;
  const std::filesystem::path full = folder / "full";
  const QueueHost host(workers, {},
                       with_preload(MUSTER_FULL_DISK, "MUSTER_TEST_FULL_DISK", full.string()));
  const auto leases = lease_all(host);
  std::ofstream(full) << "";
  const auto refused = [&] {
    const auto made = host.client().post(queue_api + "teams/deaf/requests", {});
    return !made && made.error().message.find("read-only") != std::string::npos;
  };
  ASSERT_TRUE(eventually(refused));
  EXPECT_EQ(host.host().status().at("state"), "notReady") << "as /readyz says it";
  for (const std::string& lease : leases)
    EXPECT_TRUE(host.client().post(lease + "/heartbeat", {}).has_value()) << "it is held";
  let_pass(longer_than_the_heartbeat);
  std::filesystem::remove(full);
  ASSERT_TRUE(eventually([&] { return state_of(host, leases.front()) == "held"; }));
  expect_nothing_lost(host, leases);
}

// A start writes one file after the other: it may fail at each of them.
TEST(DeafHost, that_starts_on_a_full_disk_exits_6_and_starts_when_there_is_room) {
  const TemporaryFolder folder;
  const std::filesystem::path full = folder / "full", data = folder / "data";
  const Variables disk = with_preload(MUSTER_FULL_DISK, "MUSTER_TEST_FULL_DISK", full.string());
  const std::vector<std::string> arguments{"--listen", "127.0.0.1:0", "--data-directory",
                                           data.string()};
  const auto expect_refusal = [&](const char* when) {
    std::ofstream(full) << "";
    const Finished refused = run("musterd", arguments, disk);
    std::filesystem::remove(full);
    EXPECT_EQ(refused.exit_code, 6) << when << ": " << refused.output;
    EXPECT_THAT(refused.output, ::testing::HasSubstr("the host cannot start now: ")) << when;
    EXPECT_THAT(refused.output, ::testing::HasSubstr("No space left on device")) << when;
    EXPECT_THAT(refused.output, ::testing::HasSubstr("Make room on the disk")) << when;
  };
  const auto expect_start = [&] {
    Process host("musterd", arguments, disk);
    host.wait_for("musterd serves http://");
    host.signal(SIGTERM);
    EXPECT_EQ(host.exit_code(), 0) << host.output();
  };
  expect_refusal("for the first time");
  expect_start();
  const std::string token = content_of(data / "admin-token");
  EXPECT_FALSE(token.empty());
  for (const char* gone : {"breadcrumbs", "admin.env", "muster.db"}) {
    std::filesystem::remove(data / gone);
    expect_refusal(gone);
    expect_start();
    EXPECT_EQ(content_of(data / "admin-token"), token);
  }
}

TEST(DeafHost, whose_clock_is_set_ends_no_lease_and_no_long_poll) {
  const ClockFile clock;
  const QueueHost host(workers, {}, clock.variables());
  const auto leases = lease_all(host);
  const std::string waits = request(host, 5);
  for (const int ahead : {3600, 0}) {
    auto poll =
        std::async(std::launch::async, [&] { return host.client().get(waits + "?wait=8"); });
    let_pass(1s);
    clock.set_clock(ahead);
    ASSERT_EQ(poll.wait_for(30s), std::future_status::ready) << "it waits for the clock";
    const auto answer = poll.get();
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_EQ(answer->at("state"), "waiting");
    expect_nothing_lost(host, leases);
  }
  ASSERT_TRUE(host.client().remove(leases.front()));
  const auto held = host.client().get(waits + "?wait=8");
  ASSERT_TRUE(held);
  EXPECT_EQ(held->at("state"), "held");
}

}  // namespace
}  // namespace muster::testing
