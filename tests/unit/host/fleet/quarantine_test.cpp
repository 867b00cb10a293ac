// Machines that nobody launches are there while they register, work while they are as their pool
// wants them, and wait otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

PoolSketch rack_pool(const std::string& launch_config = "lc-1", const std::string& os = "14") {
  return {.id = "p/w",
          .launch_configs = {{.id = launch_config, .document = {{"os", os}}}},
          .lifecycle = {.reregistration_timeout = 1h, .finish_tasks = 0s}};
}

struct Standing : testing::Test {
  FleetDriver driver = simple_fleet(rack_pool());

  void announce_by_owner(const std::string& id) {
    ASSERT_TRUE(driver.fleet().declare_worker(
        {.name = {WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId(id)},
         .provider_id = ProviderId("cloud"),
         .expires = driver.wall() + 1000h},
        driver.now()));
    driver.settle();
  }
  void announce_by_listing(const std::string& id) {
    driver.cloud().announced.push_back({.worker_pool_id = WorkerPoolId("p/w"),
                                        .worker_group = WorkerGroup("r"),
                                        .worker_id = WorkerId(id)});
    driver.advance(2min);
  }
  Result<Registered> enter(const std::string& id) {
    auto in = driver.register_worker(id);
    driver.advance(1s);
    return in;
  }
  Result<Registered> admit(const std::string& id) {
    auto in = driver.fleet().register_worker({WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId(id)},
                                             ProviderId("cloud"), driver.secret, driver.now(),
                                             {.admission = Admission{}});
    driver.settle();
    return in;
  }
  Result<Registered> renew(const std::string& id) {
    auto in = driver.fleet().reregister_worker(driver.name(id), driver.secret, driver.secret,
                                               driver.now());
    driver.settle();
    return in;
  }
  void wrong_state(const std::string& id, const std::string& why = "os is 13") {
    driver.fleet().not_conformant(driver.name(id), ProviderId("cloud"), why, driver.now());
    driver.settle();
  }
  void quarantine(const std::string& id, Time until, const std::string& why) {
    ASSERT_TRUE(driver.fleet().quarantine(driver.name(id), until, why, driver.now()));
    driver.settle();
  }
  std::vector<std::string> told(const std::string& kind) const {
    std::vector<std::string> texts;
    for (const events::Event& event : driver.events)
      if (event.kind == kind) texts.push_back(event.text);
    return texts;
  }
  Drain drain(const std::string& id) const { return driver.worker(id)->drain; }
  const Totals& totals() const { return driver.pool("p/w").totals; }
};

// -------------------------------------------------------------------------------------------------
// Liveness

TEST_F(Standing, a_machine_whose_credentials_lapse_is_absent_and_the_pool_is_told_once) {
  announce_by_owner("cloud-7");
  announce_by_listing("cloud-8");
  for (const char* id : {"cloud-7", "cloud-8"}) ASSERT_TRUE(enter(id));
  EXPECT_EQ(totals().running, 2);
  driver.advance(10h);
  for (const char* id : {"cloud-7", "cloud-8"}) {
    EXPECT_EQ(driver.worker(id)->state, WorkerState::running) << id << ", for clients of the API";
    EXPECT_EQ(drain(id), Drain::absent);
    EXPECT_THAT(driver.worker(id)->reason, HasSubstr("its credentials expired"));
  }
  EXPECT_EQ(totals().running, 0);
  EXPECT_EQ(totals().used(), 0) << "it is in nobody's way";
  EXPECT_EQ(totals().absent, 2);
  ASSERT_EQ(driver.errors().size(), 2u);
  EXPECT_EQ(driver.errors()[0].kind, "reregistration-timeout");
  EXPECT_EQ(driver.errors()[0].extra.at("workerId"), "cloud-7");
}

TEST_F(Standing, a_lease_ends_with_a_machine_whose_credentials_lapse) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  queue::NewRequest ask;
  ask.team = queue::TeamId("a");
  ask.heartbeat = 24h;
  const auto request = driver.fleet().request_worker(std::move(ask), driver.now());
  ASSERT_TRUE(request) << request.error().message;
  driver.settle();
  const auto held = [&] {
    const queue::Request* found = driver.fleet().queue().find(*request);
    return found && found->state == queue::RequestState::held;
  };
  ASSERT_TRUE(held());
  driver.advance(2h);
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
  EXPECT_FALSE(held()) << "nobody works on a machine that is not there";
}

TEST_F(Standing, an_absent_machine_is_replaced_and_comes_back_by_registering) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.advance(2h);
  driver.demand("p/w", 1);
  EXPECT_EQ(driver.cloud().launched(), 1u);
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::none);
  EXPECT_EQ(totals().running, 1);
  EXPECT_THAT(told("worker-running").back(), HasSubstr("again"));
  driver.advance(2h);
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
  EXPECT_EQ(std::ranges::count(driver.errors(), "reregistration-timeout", &PoolErrorRow::kind), 2)
      << "it was there in between";
}

TEST_F(Standing, an_absent_machine_that_renews_is_there_again_and_is_not_told_to_end) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.advance(2h);
  EXPECT_FALSE(driver.fleet().should_terminate(driver.name("cloud-7"), driver.now())->terminate);
  ASSERT_TRUE(renew("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::none);
}

TEST_F(Standing, a_machine_that_had_come_by_itself_ends_with_its_credentials) {
  ASSERT_TRUE(admit("cloud-7"));
  driver.advance(59min);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  driver.advance(2min);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
  ASSERT_EQ(driver.errors().size(), 1u);
  EXPECT_EQ(driver.errors()[0].kind, "reregistration-timeout");
  EXPECT_TRUE(driver.cloud().terminate_requests.empty());
}

TEST_F(Standing, a_restart_neither_forgets_an_absence_nor_tells_it_again) {
  announce_by_owner("cloud-7");
  announce_by_owner("cloud-8");
  for (const char* id : {"cloud-7", "cloud-8"}) ASSERT_TRUE(enter(id));
  driver.advance(50min);
  ASSERT_TRUE(renew("cloud-8"));
  driver.advance(20min);
  ASSERT_EQ(totals().absent, 1);
  driver.crash();
  driver.start_again();
  EXPECT_EQ(totals().absent, 1);
  EXPECT_EQ(totals().running, 1);
  driver.advance(30min);
  EXPECT_EQ(driver.errors().size(), 1u);
}

TEST_F(Standing, after_a_start_machines_have_the_grace_to_renew) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.advance(55min);
  driver.crash();
  driver.start_again();
  driver.advance(8min);
  EXPECT_EQ(drain("cloud-7"), Drain::none);
  driver.advance(8min);
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
}

TEST_F(Standing, a_machine_that_signs_off_is_absent_without_an_error_and_may_come_again) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  ASSERT_TRUE(driver.fleet().sign_off(driver.name("cloud-7"), "it goes to sleep", driver.now()));
  driver.settle();
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
  EXPECT_EQ(driver.worker("cloud-7")->reason, "it goes to sleep");
  EXPECT_EQ(renew("cloud-7").error().code, "wrongSecret") << "it must show who it is";
  driver.advance(2h);
  EXPECT_TRUE(driver.errors().empty());
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(totals().running, 1);
}

TEST_F(Standing, others_that_sign_off_end) {
  ASSERT_TRUE(admit("cloud-7"));
  ASSERT_TRUE(driver.fleet().sign_off(driver.name("cloud-7"), "it goes to sleep", driver.now()));
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
}

TEST_F(Standing, a_machine_that_was_to_be_taken_away_and_registers_again_serves) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  ASSERT_TRUE(driver.fleet().interrupt(driver.name("cloud-7"), {driver.wall() + 1min, "power"},
                                       driver.now()));
  ASSERT_EQ(drain("cloud-7"), Drain::interrupted);
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::none);
}

// -------------------------------------------------------------------------------------------------
// The wrong state

TEST_F(Standing, nobody_knows_a_stranger_in_the_wrong_state) {
  driver.fleet().not_conformant({WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId("nobody")},
                                ProviderId("cloud"), "os is 13", driver.now());
  driver.settle();
  EXPECT_EQ(driver.rows("workers"), 0u);
}

TEST_F(Standing, another_providers_word_counts_for_nothing) {
  announce_by_owner("cloud-7");
  driver.fleet().not_conformant(driver.name("cloud-7"), ProviderId("other"), "os is 13",
                                driver.now());
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
}

TEST_F(Standing, a_launched_worker_that_comes_up_in_the_wrong_state_ends_with_an_error) {
  driver.demand("p/w", 1);
  driver.demand("p/w", 0);
  wrong_state("cloud-1");
  EXPECT_NE(driver.worker("cloud-1")->state, WorkerState::requested);
  ASSERT_EQ(driver.errors().size(), 1u);
  EXPECT_EQ(driver.errors()[0].kind, "not-conformant");
  EXPECT_EQ(driver.errors()[0].description, "os is 13");
}

TEST_F(Standing, a_machine_in_the_wrong_state_waits_in_quarantine_and_this_is_told_once) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  for (int i = 0; i < 3; ++i) wrong_state("cloud-7");
  EXPECT_EQ(drain("cloud-7"), Drain::nonconformant);
  EXPECT_EQ(driver.worker("cloud-7")->reason, "os is 13");
  EXPECT_GT(driver.worker("cloud-7")->in_quarantine_until(), driver.wall() + 24h * 365);
  EXPECT_THAT(told("worker-quarantined"), testing::ElementsAre("os is 13"));
  EXPECT_EQ(totals().running, 0);
  EXPECT_EQ(renew("cloud-7").error().code, "gone");
  driver.advance(10h);
  EXPECT_EQ(drain("cloud-7"), Drain::nonconformant) << "it has no end";
  wrong_state("cloud-7", "os is 12");
  EXPECT_EQ(told("worker-quarantined").size(), 2u);
}

TEST_F(Standing, a_machine_that_registers_in_the_right_state_serves) {
  announce_by_owner("cloud-7");
  wrong_state("cloud-7");
  ASSERT_EQ(drain("cloud-7"), Drain::nonconformant);
  driver.crash();
  driver.start_again();
  ASSERT_EQ(drain("cloud-7"), Drain::nonconformant);
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::none);
  EXPECT_EQ(driver.worker("cloud-7")->in_quarantine_until(), Time{});
  EXPECT_EQ(totals().running, 1);
}

TEST_F(Standing, an_operator_releases_a_machine_whatever_its_state) {
  announce_by_owner("cloud-7");
  announce_by_owner("cloud-8");
  ASSERT_TRUE(enter("cloud-7"));
  for (const char* id : {"cloud-7", "cloud-8"}) {
    wrong_state(id);
    quarantine(id, driver.wall(), "it is only a test");
  }
  EXPECT_EQ(drain("cloud-7"), Drain::none) << "its credentials are good";
  EXPECT_EQ(drain("cloud-8"), Drain::absent) << "it has none";
  ASSERT_EQ(told("worker-released").size(), 2u);
  EXPECT_THAT(told("worker-released").front(), HasSubstr("only a test"));
}

TEST_F(Standing, an_operators_quarantine_outlasts_a_registration) {
  announce_by_owner("cloud-7");
  quarantine("cloud-7", driver.wall() + 5h, "bad disk");
  EXPECT_THAT(told("worker-quarantined").front(), HasSubstr("bad disk"));
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::quarantined);
  EXPECT_FALSE(driver.fleet().should_terminate(driver.name("cloud-7"), driver.now())->terminate);
  wrong_state("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  EXPECT_EQ(drain("cloud-7"), Drain::quarantined) << "now by the operator's word again";
  driver.advance(4h);
  ASSERT_TRUE(renew("cloud-7"));
  driver.advance(61min);
  EXPECT_EQ(told("worker-released").size(), 1u);
  EXPECT_EQ(drain("cloud-7"), Drain::absent) << "it has not renewed in time";
}

// -------------------------------------------------------------------------------------------------
// A new state

TEST_F(Standing, an_outdated_machine_is_told_when_it_renews_and_not_before) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.configure({rack_pool("lc-2", "15")});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  EXPECT_EQ(driver.worker("cloud-7")->in_quarantine_until(), Time{});
  const auto told_gone = renew("cloud-7");
  ASSERT_FALSE(told_gone);
  EXPECT_EQ(told_gone.error().code, "gone");
  EXPECT_THAT(told_gone.error().message, HasSubstr("is outdated"));
  EXPECT_EQ(drain("cloud-7"), Drain::nonconformant);
  EXPECT_THAT(told("worker-quarantined").front(), HasSubstr("outdated"));
}

TEST_F(Standing, an_outdated_machine_that_registers_stands_under_the_newest_launch_configuration) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.configure({rack_pool("lc-2", "15")});
  ASSERT_FALSE(renew("cloud-7"));
  const auto in = enter("cloud-7");
  ASSERT_TRUE(in) << in.error().message;
  EXPECT_EQ(in->launch_config_id.str(), "lc-2");
  EXPECT_EQ(drain("cloud-7"), Drain::none);
  EXPECT_EQ(driver.launch_config("lc-2")->totals.running, 1);
  ASSERT_TRUE(renew("cloud-7"));
  driver.advance(3h);
  EXPECT_EQ(driver.launch_config("lc-1"), nullptr) << "nobody stands under it any more";
  driver.crash();
  driver.start_again();
  EXPECT_EQ(driver.launch_config("lc-2")->rows, 1);
}

TEST_F(Standing, a_machine_that_was_told_to_go_and_had_not_heard_of_it_serves_on_if_it_fits) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.configure({rack_pool("lc-2", "15")});
  ASSERT_EQ(drain("cloud-7"), Drain::outdated);
  ASSERT_TRUE(enter("cloud-7")) << "it started anew before it renewed";
  EXPECT_EQ(drain("cloud-7"), Drain::none);
}

TEST_F(Standing, an_outdated_machine_that_never_asks_is_set_aside_when_others_would_be_ended) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  driver.configure({rack_pool("lc-2", "15")});
  driver.advance(74min);
  EXPECT_EQ(drain("cloud-7"), Drain::outdated);
  driver.advance(2min);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  EXPECT_EQ(drain("cloud-7"), Drain::nonconformant);
  ASSERT_TRUE(enter("cloud-7"));
}

TEST_F(Standing, an_absent_machine_is_not_told_and_comes_back_under_the_newest) {
  announce_by_owner("cloud-7");
  driver.configure({rack_pool("lc-2", "15")});
  EXPECT_EQ(drain("cloud-7"), Drain::absent);
  const auto in = enter("cloud-7");
  ASSERT_TRUE(in);
  EXPECT_EQ(in->launch_config_id.str(), "lc-2");
}

TEST_F(Standing, machines_that_wait_to_be_put_right_hold_the_budget_of_their_pool) {
  PoolSketch careful = rack_pool();
  careful.lifecycle.cycling_budget.workers = 1;
  driver.configure({careful});
  for (const char* id : {"cloud-6", "cloud-7", "cloud-8"}) {
    announce_by_owner(id);
    ASSERT_TRUE(enter(id));
  }
  PoolSketch newer = rack_pool("lc-2", "15");
  newer.lifecycle.cycling_budget.workers = 1;
  driver.configure({newer});
  int told_to_go = 0;
  for (const char* id : {"cloud-6", "cloud-7", "cloud-8"}) told_to_go += !renew(id);
  EXPECT_EQ(told_to_go, 1);
  driver.advance(30min);
  EXPECT_EQ(totals().running, 2) << "until the first is put right";
  ASSERT_TRUE(enter("cloud-6"));
  driver.advance(2min);
  EXPECT_EQ(totals().draining, 1) << "the next";
}

TEST_F(Standing, a_pool_that_is_gone_loses_its_machines_when_their_credentials_end) {
  announce_by_owner("cloud-7");
  ASSERT_TRUE(enter("cloud-7"));
  ASSERT_TRUE(driver.active("cloud-7", 0));
  driver.configure({});
  EXPECT_EQ(renew("cloud-7").error().code, "gone");
  EXPECT_EQ(enter("cloud-7").error().code, "gone");
  driver.advance(80min);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
}

}  // namespace
}  // namespace muster::fleet
