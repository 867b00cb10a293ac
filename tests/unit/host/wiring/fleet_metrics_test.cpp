#include "host/wiring/fleet_metrics.hpp"

#include <gmock/gmock.h>

#include "host/queue/queue.hpp"

namespace muster {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

const fleet::Now now{Time(std::chrono::hours(1'000'000)), {}};

std::size_t lines_with(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

TEST(FleetMetrics, names_that_clients_make_up_do_not_become_series) {
  fleet::Fleet fleet({}, "host", 1, now);
  ASSERT_TRUE(fleet.change_queue(now).set_team(queue::TeamId("known"), {}, now.wall));
  constexpr int invented = 500;
  for (int i = 0; i < invented; ++i)
    ASSERT_TRUE(fleet.request_worker({.team = queue::TeamId("team" + std::to_string(i)),
                                      .pool = WorkerPoolId("p/invented" + std::to_string(i)),
                                      .heartbeat = std::chrono::hours(1)},
                                     now));
  ASSERT_TRUE(fleet.request_worker({.team = queue::TeamId("known")}, now));
  metrics::Page page;
  write_queue_load(fleet, now, page);
  const std::string text = page.text();
  EXPECT_THAT(text, Not(HasSubstr("p/invented")));
  EXPECT_THAT(text, HasSubstr("muster_queue_pool_waiting_requests{pool=\"(other)\"} 500\n"));
  EXPECT_THAT(text, HasSubstr("muster_queue_waiting_requests{team=\"known\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("muster_queue_waiting_requests{team=\"(other)\"} 400\n"));
  EXPECT_EQ(lines_with(text, "muster_queue_waiting_requests{team="), 102u);
}

}  // namespace
}  // namespace muster
