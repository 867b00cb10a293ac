// Time in which the host could not hear is nobody's silence: not the clients', not the workers'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using queue::RequestState;

FleetDriver fleet_of(std::int64_t workers, Lifecycle lifecycle = {}) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}, .lifecycle = std::move(lifecycle)});
  driver.demand("p/w", workers);
  driver.demand("p/w", 0);
  driver.register_all();
  return driver;
}

// -------------------------------------------------------------------------------------------------
// Leases

class Leases : public ::testing::Test {
 protected:
  void lease(std::optional<std::chrono::milliseconds> duration = {}) {
    queue::NewRequest ask;
    ask.team = queue::TeamId("team");
    ask.heartbeat = 60s;
    ask.duration = duration;
    const auto number = driver.fleet().request_worker(ask, driver.now());
    ASSERT_TRUE(number) << number.error().message;
    driver.settle();
    requests.push_back(*number);
    ASSERT_TRUE(beat(*number));
  }
  Result<void> beat(std::int64_t number) {
    auto heard = driver.fleet().change_queue(driver.now()).heartbeat(number, driver.wall());
    driver.fleet().input_ended();
    return heard;
  }
  void beat_all() {
    for (const std::int64_t number : requests) EXPECT_TRUE(beat(number));
  }
  std::size_t held() {
    std::size_t held = 0;
    for (const std::int64_t number : requests) {
      const queue::Request* request = driver.fleet().queue().find(number);
      held += request && request->state == RequestState::held;
    }
    return held;
  }

  FleetDriver driver = fleet_of(4, {.idle_timeout = 2h});
  std::vector<std::int64_t> requests;
};

TEST_F(Leases, of_clients_that_are_silent_end) {
  lease();
  driver.advance(59s);
  EXPECT_EQ(held(), 1u);
  driver.advance(1s);
  EXPECT_EQ(held(), 0u);
}

TEST_F(Leases, do_not_end_because_the_host_heard_nobody) {
  for (int i = 0; i < 4; ++i) lease();
  for (const auto frozen : {62s, 75s, 3600s}) {
    driver.advance(50s);
    driver.freeze(frozen);
    EXPECT_EQ(held(), 4u);
    driver.advance(60s);
    EXPECT_EQ(held(), 4u) << "clients that wait between two attempts come back";
    beat_all();
  }
}

TEST_F(Leases, of_clients_that_do_not_come_back_end) {
  lease();
  driver.advance(50s);
  driver.freeze(75s);
  driver.advance(69s);
  EXPECT_EQ(held(), 1u);
  driver.advance(2s);
  EXPECT_EQ(held(), 0u);
}

TEST_F(Leases, of_dead_clients_end_although_the_host_is_deaf_now_and_then) {
  lease();
  for (int i = 0; i < 8 && held() > 0; ++i) {
    driver.advance(20s);
    driver.freeze(4s);
  }
  EXPECT_EQ(held(), 0u);
}

TEST_F(Leases, do_not_end_because_the_clock_was_set) {
  lease();
  for (const auto jump : {24h * 400, -24h * 900}) {
    driver.advance(50s);
    driver.jump_clock(jump);
    driver.advance(9s);
    EXPECT_EQ(held(), 1u);
    beat_all();
  }
}

TEST_F(Leases, do_not_end_because_the_clock_was_set_while_the_host_heard_nobody) {
  for (int i = 0; i < 4; ++i) lease();
  for (const auto jump : {-120min, -15min, 15min, 120min})
    for (const auto frozen : {75s, 1800s}) {
      driver.advance(50s);
      driver.jump_clock(jump);
      driver.freeze(frozen);
      driver.advance(59s);
      EXPECT_EQ(held(), 4u) << jump.count() << " minutes, frozen for " << frozen.count() << " s";
      beat_all();
    }
  driver.advance(2min);
  driver.jump_clock(-2h);
  driver.freeze(75s);
  driver.advance(1h);
  EXPECT_EQ(held(), 0u) << "of dead clients they end all the same";
}

TEST_F(Leases, do_not_end_because_the_clock_was_set_by_little) {
  lease();
  for (int i = 0; i < 5; ++i) {
    driver.advance(40s);
    driver.jump_clock(30s);
    driver.advance(15s);
    EXPECT_EQ(held(), 1u);
    beat_all();
    driver.advance(40s);
    driver.jump_clock(-30s);
    driver.advance(15s);
    EXPECT_EQ(held(), 1u);
    beat_all();
  }
}

TEST_F(Leases, last_as_long_as_they_were_asked_for_whatever_the_clock_is_set_to) {
  for (const auto jump : {1h, -1h}) {
    lease(5min);
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(held(), 1u) << i;
      beat_all();
      if (i == 2) driver.jump_clock(jump);
      driver.advance(59s);
    }
    driver.advance(6s);
    EXPECT_EQ(held(), 0u);
    requests.clear();
  }
}

TEST_F(Leases, that_a_client_waits_for_in_a_long_poll_stay_when_the_clock_is_set_back) {
  queue::NewRequest ask;
  ask.team = queue::TeamId("team");
  ask.tags = {"nobody"};
  ask.heartbeat = 5s;
  const auto waits = driver.fleet().request_worker(ask, driver.now());
  ASSERT_TRUE(waits);
  driver.fleet().change_queue(driver.now()).note_client_alive(*waits, driver.wall() + 55s);
  driver.fleet().input_ended();
  driver.advance(1s);
  driver.jump_clock(-1h);
  driver.advance(50s);
  EXPECT_EQ(driver.fleet().queue().find(*waits)->state, RequestState::waiting);
  driver.advance(20s);
  EXPECT_EQ(driver.fleet().queue().find(*waits)->state, RequestState::ended);
}

// -------------------------------------------------------------------------------------------------
// Workers

TEST(WorkersOfADeafHost, keep_their_credentials_time) {
  FleetDriver driver = fleet_of(2, {.reregistration_timeout = 60s});
  driver.freeze(62s);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
  driver.advance(60s);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u) << "they have time to come back";
  driver.advance(30s);
  ASSERT_TRUE(driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret, driver.secret,
                                               driver.now()));
  driver.advance(32s);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1u);
}

TEST(WorkersOfADeafHost, renew_their_credentials_while_nothing_can_be_made_durable) {
  FleetDriver driver = fleet_of(2, {.reregistration_timeout = 60s});
  const WorkerName name = driver.name("cloud-1");
  const auto secret = [](const char* text) { return sha256(text); };
  EXPECT_EQ(driver.fleet().renewal_without_store(name, secret("x"), driver.now()).error().code,
            "wrongSecret");
  EXPECT_EQ(driver.fleet().renewal_without_store(name, {}, driver.now()).error().code,
            "wrongSecret");
  ASSERT_TRUE(driver.fleet().reregister_worker(name, driver.secret, secret("next"), driver.now()));
  driver.advance(40s);
  const Time expires = driver.wall() + 60s;
  for (const Sha256& good : {secret("next"), driver.secret}) {
    const auto renewed = driver.fleet().renewal_without_store(name, good, driver.now());
    ASSERT_TRUE(renewed) << renewed.error().message;
    EXPECT_EQ(renewed->credentials_expire, expires);
  }
  driver.freeze(4s);
  driver.fleet().renewed_without_store(name, expires, driver.now());
  driver.advance(50s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
  EXPECT_NE(driver.worker("cloud-2")->state, WorkerState::running);
  EXPECT_TRUE(driver.fleet().reregister_worker(name, secret("next"), secret("3"), driver.now()));
  EXPECT_EQ(driver.fleet()
                .renewal_without_store(driver.name("cloud-2"), driver.secret, driver.now())
                .error()
                .code,
            "gone");
}

TEST(WorkersOfADeafHost, are_not_stopped_because_they_could_not_register) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{"lc-1"}}, .lifecycle = {.registration_timeout = 5min}});
  driver.demand("p/w", 1);
  driver.advance(4min);
  driver.freeze(1h);
  driver.advance(9min + 59s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
  driver.advance(2s);
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::stopping);
}

TEST(WorkersOfADeafHost, are_not_stopped_because_they_could_not_report_activity) {
  FleetDriver driver = fleet_of(1, {.queue_inactivity_timeout = 1h});
  driver.advance(50min);
  driver.freeze(30min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1u);
  driver.advance(19min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1u);
  driver.advance(2min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 0u);
}

TEST(WorkersOfADeafHost, are_not_drained_for_time_in_which_no_work_could_reach_them) {
  FleetDriver driver = fleet_of(1, {.idle_timeout = 5min});
  ASSERT_TRUE(driver.active("cloud-1", 0));
  driver.advance(1min);
  driver.freeze(30min);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
  driver.advance(9min);
  EXPECT_EQ(driver.worker("cloud-1")->drain, Drain::none);
}

TEST(WorkersOfADeafHost, teach_it_nothing_about_the_time_they_need) {
  FleetDriver driver = simple_fleet();
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  driver.freeze(10min);
  driver.register_all();
  EXPECT_EQ(driver.pool("p/w").times, nullptr) << "ten minutes are not its boot time";
}

TEST(WorkersOfADeafHost, outlive_an_hour_that_its_clock_leaps_and_one_that_it_repeats) {
  for (const auto jump : {1h, -1h}) {
    FleetDriver driver = fleet_of(2, {.reregistration_timeout = 60s});
    driver.advance(30s);
    driver.jump_clock(jump);
    driver.advance(25s);
    EXPECT_EQ(driver.workers(WorkerState::running).size(), 2u);
    ASSERT_TRUE(driver.fleet().reregister_worker(driver.name("cloud-1"), driver.secret,
                                                 driver.secret, driver.now()));
    driver.advance(11min);
    EXPECT_EQ(driver.workers(WorkerState::running).size(), 0u) << "and are not kept for ever";
  }
}

}  // namespace
}  // namespace muster::fleet
