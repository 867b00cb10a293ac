// Machines that a provider announces: in its listings, or when they register.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

AnnouncedMachine rack_machine(const std::string& id = "cloud-7", const std::string& pool = "p/w") {
  return {.worker_pool_id = WorkerPoolId(pool),
          .worker_group = WorkerGroup("r"),
          .worker_id = WorkerId(id),
          .capacity = 2,
          .provider_data = {{"hostName", id + ".example.com"}}};
}

struct Machines : testing::Test {
  FleetDriver driver = simple_fleet();

  void announce(std::vector<AnnouncedMachine> machines) {
    driver.cloud().announced = std::move(machines);
    driver.advance(2min);
  }
  std::vector<std::string> refusals() const {
    std::vector<std::string> texts;
    for (const events::Event& event : driver.events)
      if (event.kind == "machine-refused") texts.push_back(event.text);
    return texts;
  }
  // One machine, which is refused with these words, once, and disturbs nobody.
  void refused(const AnnouncedMachine& machine, const std::string& why) {
    const std::size_t before = driver.rows("workers");
    announce({machine});
    driver.advance(10min);
    EXPECT_EQ(driver.rows("workers"), before);
    ASSERT_EQ(refusals().size(), 1u) << "told once";
    EXPECT_THAT(refusals().front(), HasSubstr(why));
  }
};

// -------------------------------------------------------------------------------------------------
// Nonsense

TEST_F(Machines, of_a_pool_that_is_not_there_are_refused) {
  refused(rack_machine("cloud-7", "p/other"), "there is no worker pool p/other");
}

TEST_F(Machines, of_a_pool_that_does_not_use_the_provider_are_refused) {
  driver.configure(
      {{.id = "p/w", .launch_configs = {{"lc-1"}}},
       {.id = "p/other", .launch_configs = {{.id = "lc-2", .provider = "elsewhere"}}}});
  refused(rack_machine("cloud-7", "p/other"), "has no launch configuration of cloud");
}

TEST_F(Machines, of_a_provider_that_does_not_announce_are_refused) {
  driver.providers_announce = false;
  driver.provider_up();
  refused(rack_machine(), "capability announced-workers/1");
}

TEST_F(Machines, with_names_that_are_none_are_refused) {
  AnnouncedMachine nameless = rack_machine();
  nameless.worker_id = WorkerId("");
  AnnouncedMachine odd = rack_machine();
  odd.worker_group = WorkerGroup("a\nb");
  AnnouncedMachine endless = rack_machine();
  endless.worker_id = WorkerId(std::string(1'000'000, 'x'));
  announce({nameless, odd, endless});
  EXPECT_EQ(driver.rows("workers"), 0u);
  ASSERT_EQ(refusals().size(), 3u);
  for (const std::string& text : refusals()) EXPECT_LT(text.size(), 5000u);
}

TEST_F(Machines, with_a_capacity_that_is_none_are_refused) {
  for (const std::int64_t capacity :
       {std::int64_t{0}, std::int64_t{-5}, std::numeric_limits<std::int64_t>::max()}) {
    AnnouncedMachine machine = rack_machine("cloud-" + std::to_string(capacity));
    machine.capacity = capacity;
    announce({machine});
  }
  EXPECT_EQ(driver.rows("workers"), 0u);
  EXPECT_EQ(refusals().size(), 3u);
}

TEST_F(Machines, of_the_same_name_are_taken_once) {
  announce({rack_machine(), rack_machine(), rack_machine()});
  driver.advance(5min);
  EXPECT_EQ(driver.rows("workers"), 1u);
  ASSERT_EQ(refusals().size(), 1u);
  EXPECT_THAT(refusals().front(), HasSubstr("twice"));
}

TEST_F(Machines, do_not_take_the_name_of_an_instance) {
  driver.demand("p/w", 1);
  ASSERT_TRUE(driver.register_worker("cloud-1"));
  driver.demand("p/w", 0);
  refused(rack_machine("cloud-1"), "twice");
  EXPECT_EQ(driver.worker("cloud-1")->origin, Origin::launched);
}

TEST_F(Machines, do_not_take_the_name_of_a_launched_worker_that_is_not_listed) {
  driver.demand("p/w", 1);
  ASSERT_TRUE(driver.register_worker("cloud-1"));
  driver.cloud().announced = {rack_machine("cloud-1")};
  driver.cloud().spoil_listing = [](Listing& listing) { listing.instances.clear(); };
  driver.advance(61s);
  EXPECT_EQ(driver.worker("cloud-1")->origin, Origin::launched);
  ASSERT_FALSE(refusals().empty());
  EXPECT_THAT(refusals().front(), HasSubstr("was launched"));
}

TEST_F(Machines, leave_a_machine_of_its_owner_alone) {
  ASSERT_TRUE(driver.fleet().declare_worker(
      {.name = {WorkerPoolId("p/w"), WorkerGroup("r"), WorkerId("cloud-7")},
       .provider_id = ProviderId("cloud"),
       .capacity = 5,
       .expires = driver.wall() + 30h,
       .provider_data = {{"secret", "s"}}},
      driver.now()));
  driver.settle();
  refused(rack_machine(), "its owner has declared it");
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::owner);
  EXPECT_EQ(driver.worker("cloud-7")->capacity, 5);
  announce({});
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1u) << "and it is not the listing's";
}

TEST_F(Machines, that_are_all_nonsense_are_told_up_to_a_limit) {
  std::vector<AnnouncedMachine> many;
  for (int i = 0; i < 5000; ++i)
    many.push_back(rack_machine("m-" + std::to_string(i), "p/nowhere"));
  announce(many);
  EXPECT_EQ(refusals().size(), 100u);
}

TEST_F(Machines, an_owner_cannot_change_one_of_the_configuration) {
  announce({rack_machine()});
  const auto done = driver.fleet().update_declared_worker({.name = driver.name("cloud-7"),
                                                           .provider_id = ProviderId("cloud"),
                                                           .expires = driver.wall()},
                                                          driver.now());
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("change it in the configuration of cloud"));
}

// -------------------------------------------------------------------------------------------------
// Their lives

TEST_F(Machines, are_workers_as_soon_as_they_are_listed) {
  announce({rack_machine(), rack_machine("cloud-8")});
  ASSERT_EQ(driver.workers(WorkerState::running).size(), 2u);
  EXPECT_EQ(driver.rows("workers"), 2u);
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::listing);
  EXPECT_EQ(driver.worker("cloud-7")->provider_data, R"({"hostName":"cloud-7.example.com"})");
  EXPECT_EQ(driver.pool("p/w").totals.absent, 4);
  EXPECT_EQ(driver.pool("p/w").totals.running, 0) << "they have not registered";
  EXPECT_EQ(std::ranges::count(driver.events, "worker-launched", &events::Event::kind), 2);
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  EXPECT_EQ(driver.pool("p/w").totals.running, 2);
  EXPECT_TRUE(refusals().empty());
}

TEST_F(Machines, appear_with_their_pool) {
  announce({rack_machine("cloud-7", "p/later")});
  ASSERT_EQ(driver.rows("workers"), 0u);
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}},
                    {.id = "p/later", .launch_configs = {{"lc-2"}}}});
  EXPECT_EQ(driver.rows("workers"), 1u);
  EXPECT_EQ(driver.pool("p/later").totals.absent, 2);
}

TEST_F(Machines, follow_what_is_said_of_them) {
  announce({rack_machine()});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  AnnouncedMachine larger = rack_machine();
  larger.capacity = 5;
  larger.provider_data = {{"hostName", "other.example.com"}};
  announce({larger});
  EXPECT_EQ(driver.pool("p/w").totals.running, 5);
  EXPECT_EQ(driver.worker("cloud-7")->provider_data, R"({"hostName":"other.example.com"})");
  larger.capacity = -1;
  announce({larger});
  EXPECT_EQ(driver.pool("p/w").totals.running, 5) << "nonsense changes nothing";
  EXPECT_EQ(refusals().size(), 1u);
}

TEST_F(Machines, stop_when_they_are_no_longer_listed) {
  announce({rack_machine(), rack_machine("cloud-8")});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  announce({rack_machine("cloud-8")});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
  EXPECT_THAT(driver.worker("cloud-7")->reason, HasSubstr("no longer names it"));
  EXPECT_EQ(driver.worker("cloud-8")->state, WorkerState::running);
  EXPECT_TRUE(driver.cloud().terminate_requests.empty()) << "nobody launched it";
  announce({rack_machine(), rack_machine("cloud-8")});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running) << "its next life";
  EXPECT_EQ(driver.rows("workers"), 2u);
}

TEST_F(Machines, that_one_list_forgot_serve_on) {
  announce({rack_machine(), rack_machine("cloud-8")});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  int lists = 0;
  driver.cloud().spoil_listing = [&](Listing& listing) {
    if (++lists % 2 == 1)
      std::erase_if(listing.announced, [](const AnnouncedMachine& machine) {
        return machine.worker_id.str() == "cloud-7";
      });
  };
  driver.advance(30min);
  EXPECT_GE(lists, 30);
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  EXPECT_THAT(driver.worker("cloud-7")->reason, HasSubstr("it has registered"));
}

TEST_F(Machines, that_are_all_missing_at_once_are_waited_for) {
  announce({rack_machine(), rack_machine("cloud-8"), rack_machine("cloud-9")});
  driver.cloud().announced.clear();
  driver.advance(14min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 3u);
  EXPECT_THAT(driver.fleet().providers()[0].doubts.at(""), HasSubstr("lacks 3 of 3 workers"));
  driver.advance(5min);
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 0u);
  EXPECT_THAT(driver.worker("cloud-9")->reason, HasSubstr("waited for longer"));
}

TEST_F(Machines, that_are_no_longer_listed_stop_though_they_report) {
  announce({rack_machine(), rack_machine("cloud-8")});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  driver.cloud().announced = {rack_machine("cloud-8")};
  for (int i = 0; i < 12; ++i) {
    (void)driver.active("cloud-7", 1);
    driver.advance(10s);
  }
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
}

TEST_F(Machines, do_not_stop_because_of_a_listing_with_problems) {
  announce({rack_machine()});
  driver.cloud().spoil_listing = [](Listing& listing) {
    listing.problems.push_back(Error::transient("half of it could not be read"));
  };
  announce({});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  driver.cloud().spoil_listing = [](Listing& listing) {
    Error elsewhere = Error::transient("another region");
    elsewhere.scope.region = "elsewhere";
    listing.problems.push_back(elsewhere);
  };
  announce({});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
}

TEST_F(Machines, do_not_stop_because_no_listing_comes) {
  announce({rack_machine()});
  driver.cloud().down = Error::transient("asleep");
  announce({});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
}

TEST_F(Machines, that_change_their_pool_begin_anew_there) {
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}},
                    {.id = "p/other", .launch_configs = {{"lc-2"}}}});
  announce({rack_machine()});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  announce({rack_machine("cloud-7", "p/other")});
  EXPECT_EQ(driver.pool("p/w").totals.workers, 0);
  EXPECT_EQ(driver.pool("p/other").totals.absent, 2);
  EXPECT_EQ(driver.rows("workers"), 1u);
}

TEST_F(Machines, survive_a_restart) {
  announce({rack_machine(), rack_machine("cloud-8")});
  ASSERT_TRUE(driver.register_worker("cloud-7"));
  driver.crash();
  driver.start_again();
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::listing);
  EXPECT_EQ(driver.pool("p/w").totals.running, 2);
  EXPECT_EQ(driver.pool("p/w").totals.absent, 2);
  announce({rack_machine("cloud-8")});
  EXPECT_EQ(driver.workers(WorkerState::running).size(), 1u);
}

// -------------------------------------------------------------------------------------------------
// Those that come by themselves

struct Admitted : Machines {
  Result<Registered> enter(const std::string& id = "cloud-7", const std::string& pool = "p/w",
                           std::int64_t capacity = 1, json::object data = {{"key", "k"}}) {
    auto done = driver.fleet().register_worker(
        {WorkerPoolId(pool), WorkerGroup("r"), WorkerId(id)}, ProviderId("cloud"), driver.secret,
        driver.now(),
        {.admission = Admission{capacity, std::move(data)}, .claims = {{"provenBy", "poolKey"}}});
    driver.settle();
    return done;
  }
};

TEST_F(Admitted, nobody_to_a_pool_that_is_not_there) {
  EXPECT_EQ(enter("cloud-7", "p/other").error().error_class, ErrorClass::not_found);
  EXPECT_EQ(driver.rows("workers"), 0u);
}

TEST_F(Admitted, nobody_under_a_name_of_another_pool) {
  driver.configure({{.id = "p/w", .launch_configs = {{"lc-1"}}},
                    {.id = "p/other", .launch_configs = {{"lc-2"}}}});
  ASSERT_TRUE(enter());
  const auto second = enter("cloud-7", "p/other");
  ASSERT_FALSE(second);
  EXPECT_THAT(second.error().message, HasSubstr("already, in worker pool p/w"));
}

TEST_F(Admitted, with_a_capacity_that_makes_sense) {
  ASSERT_TRUE(enter("cloud-7", "p/w", -3));
  EXPECT_EQ(driver.worker("cloud-7")->capacity, 1);
  ASSERT_TRUE(enter("cloud-8", "p/w", std::numeric_limits<std::int64_t>::max()));
  EXPECT_LE(driver.worker("cloud-8")->capacity, 1'000'000'000);
}

TEST_F(Admitted, is_known_and_registered_in_one_step) {
  const auto in = enter();
  ASSERT_TRUE(in);
  EXPECT_EQ(in->launch_config_id.str(), "lc-1");
  EXPECT_EQ(driver.rows("workers"), 1u);
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::admission);
  EXPECT_EQ(driver.worker("cloud-7")->provider_data, R"({"key":"k"})");
  EXPECT_EQ(driver.pool("p/w").totals.running, 1);
  EXPECT_EQ(driver.pool("p/w").totals.absent, 0);
  const auto running = std::ranges::find(driver.events, "worker-running", &events::Event::kind);
  ASSERT_NE(running, driver.events.end());
  EXPECT_EQ(running->details.at("claims").at("provenBy"), "poolKey");
}

TEST_F(Admitted, again_is_the_same_worker) {
  ASSERT_TRUE(enter());
  const std::int64_t number = driver.worker("cloud-7")->number;
  ASSERT_TRUE(enter("cloud-7", "p/w", 3, {{"key", "another"}}));
  EXPECT_EQ(driver.worker("cloud-7")->number, number);
  EXPECT_EQ(driver.pool("p/w").totals.running, 3);
  EXPECT_EQ(driver.worker("cloud-7")->provider_data, R"({"key":"another"})");
}

TEST_F(Admitted, changes_nothing_of_a_machine_that_others_have_announced) {
  announce({rack_machine()});
  ASSERT_TRUE(enter("cloud-7", "p/w", 9));
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::listing);
  EXPECT_EQ(driver.worker("cloud-7")->capacity, 2);
}

TEST_F(Admitted, after_it_ended_it_begins_anew) {
  ASSERT_TRUE(enter());
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-7"), "", driver.now()));
  driver.settle();
  ASSERT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
  ASSERT_TRUE(enter());
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  EXPECT_EQ(driver.rows("workers"), 1u);
}

TEST_F(Admitted, lives_on_without_being_listed_and_belongs_to_the_listing_once_it_is) {
  ASSERT_TRUE(enter());
  driver.advance(1h);
  ASSERT_EQ(driver.worker("cloud-7")->state, WorkerState::running);
  announce({rack_machine()});
  EXPECT_EQ(driver.worker("cloud-7")->origin, Origin::listing);
  EXPECT_EQ(driver.pool("p/w").totals.running, 2);
  announce({});
  EXPECT_EQ(driver.worker("cloud-7")->state, WorkerState::stopped);
}

}  // namespace
}  // namespace muster::fleet
