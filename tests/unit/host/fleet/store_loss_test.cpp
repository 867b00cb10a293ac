// A store that lost changes: it is new, or an older copy was put in its place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(Restart, from_an_older_copy_adopts_what_it_does_not_remember) {
  FleetDriver driver = simple_fleet();
  const auto old = std::make_shared<store::MemoryStore>(driver.store().contents());
  driver.demand("p/w", 3);
  driver.register_all();
  driver.demand("p/w", 0);
  driver.advance(1min);
  driver.crash_into(old);
  driver.start_again();
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().instances.size(), 3u);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 3);
}

// A pool of three, of which none is left that the older copy knows: others took their places.
struct OlderCopy : testing::Test {
  FleetDriver driver = simple_fleet({.id = "p/w",
                                     .launch_configs = {{"lc-1"}},
                                     .max_capacity = 3,
                                     .min_capacity = 3,
                                     .lifecycle = {.idle_timeout = 5min}},
                                    {.list_before_launches = true});
  std::shared_ptr<store::MemoryStore> old;

  OlderCopy() {
    driver.provider_up("cloud", {.max_capacity = 3});
    driver.advance(2min);
    driver.register_all();
    old = std::make_shared<store::MemoryStore>(driver.store().contents());
  }
  void replace_all() {
    for (const std::string& id : driver.cloud().ids())
      EXPECT_TRUE(driver.fleet().remove_worker(driver.name(id), "test", driver.now()));
    driver.advance(2min);
    driver.register_all();
    ASSERT_EQ(driver.cloud().ids(), (std::vector<std::string>{"cloud-4", "cloud-5", "cloud-6"}));
  }
  void go_back() {
    driver.crash_into(old);
    driver.start_again();
  }
};

TEST_F(OlderCopy, whose_workers_are_all_dead_ends_none_of_those_that_live) {
  replace_all();
  go_back();
  driver.advance(2min);
  for (const char* id : {"cloud-4", "cloud-5", "cloud-6"})
    ASSERT_NE(driver.worker(id), nullptr) << id << " is adopted";
  driver.register_all();
  for (int i = 0; i < 90; ++i) {
    for (const char* id : {"cloud-4", "cloud-5", "cloud-6"}) (void)driver.active(id, 1);
    driver.advance(1min);
  }
  EXPECT_EQ(driver.cloud().ids(), (std::vector<std::string>{"cloud-4", "cloud-5", "cloud-6"}));
  EXPECT_EQ(driver.cloud().launched(), 6u) << "the dead counted until it was known that they are";
  EXPECT_TRUE(driver.cloud().terminate_requests.back().workers.size() == 3)
      << "only the dead were ended";
  EXPECT_EQ(driver.pool("p/w").totals.running, 3);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 3);
}

TEST_F(OlderCopy, whose_workers_live_takes_in_no_more_than_the_limits_allow) {
  go_back();
  driver.cloud().add("cloud-77", "p/w", "lc-1");
  driver.advance(3min);
  EXPECT_EQ(driver.cloud().ids(), (std::vector<std::string>{"cloud-1", "cloud-2", "cloud-3"}));
}

TEST(Restart, from_an_older_copy_ends_nothing_before_the_lists_of_all_clouds_are_there) {
  const LaunchSketch near{.id = "lc-1"}, far{.id = "lc-2", .provider = "far"};
  FleetDriver two = simple_fleet({.id = "p/w", .launch_configs = {far}, .max_capacity = 2},
                                 {.list_before_launches = true});
  two.provider_up("far");
  two.demand("p/w", 2);
  two.register_all();
  ASSERT_EQ(two.cloud("far").instances.size(), 2u);
  two.configure({{.id = "p/w", .launch_configs = {near, far}, .max_capacity = 2}});
  two.cloud().add("cloud-77", "p/w", "lc-1");
  two.cloud("far").instances.clear();  // dead, and its list is late
  two.withhold = [](const Question& question) {
    const auto* ask = std::get_if<AskListing>(&question.ask);
    return ask && ask->provider_id.str() == "far";
  };
  two.crash();
  two.start_again();
  two.advance(2min);
  EXPECT_EQ(two.cloud().instances.size(), 1u) << "nobody knows whether those of the other live";
}

TEST_F(OlderCopy, does_not_end_idle_workers_because_of_dead_ones) {
  replace_all();
  go_back();
  driver.advance(61s);
  driver.register_all();
  for (const char* id : {"cloud-4", "cloud-5", "cloud-6"}) ASSERT_TRUE(driver.active(id, 0));
  driver.advance(50min);
  for (const char* id : {"cloud-4", "cloud-5", "cloud-6"})
    EXPECT_EQ(driver.worker(id)->drain, Drain::none) << id;
}

// What it had registered since, the store does not know.
TEST(Restart, from_an_older_copy_takes_a_worker_that_uses_its_credentials_for_registered) {
  FleetDriver driver =
      simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}}, {.list_before_launches = true});
  driver.demand("p/w", 1);
  const auto old = std::make_shared<store::MemoryStore>(driver.store().contents());
  driver.register_all();
  driver.crash_into(old);
  driver.start_again();
  driver.advance(1min);
  ASSERT_EQ(driver.worker("cloud-1")->state, WorkerState::requested);
  EXPECT_TRUE(driver.active("cloud-1", 1).has_value());
  EXPECT_EQ(driver.worker("cloud-1")->state, WorkerState::running);
}

// As the host does it when it knows that the store lost changes.
TEST(Restart, with_a_new_store_takes_in_what_runs_before_it_launches_anything) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 12, .min_capacity = 12},
      {.list_before_launches = true});
  driver.advance(2min);
  driver.register_all();
  ASSERT_EQ(driver.cloud().launched(), 12u);
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  driver.crash_into(std::make_shared<store::MemoryStore>());
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 12u) << "what runs is not known yet";
  EXPECT_THAT(driver.pool("p/w").verdict.text, HasSubstr("its list is awaited"));
  driver.withhold = {};
  for (const Question& question : driver.take_withheld()) driver.answer(question);
  driver.advance(2min);
  // "cloud-10" is listed before "cloud-2", whose key must not be taken for its own.
  EXPECT_EQ(driver.cloud().launched(), 12u) << "all of them were adopted";
  EXPECT_EQ(driver.cloud().instances.size(), 12u);
  EXPECT_EQ(driver.pool("p/w").totals.used(), 12);
  driver.register_all();
  EXPECT_EQ(driver.pool("p/w").totals.running, 12);
}

TEST(Restart, after_a_loss_and_before_the_lists_came_knows_of_the_loss) {
  FleetDriver driver = simple_fleet(
      {.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 4, .min_capacity = 4});
  driver.advance(2min);
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  auto fleet =
      Fleet::load(store::MemoryStore(), {.list_before_launches = true}, "host", driver.now());
  ASSERT_TRUE(fleet.has_value());
  const auto lost = std::make_shared<store::MemoryStore>();
  ASSERT_TRUE(lost->commit((*fleet)->settle(driver.now()).changes));
  driver.crash_into(lost);  // as an ordinary start does it: the store is whole now
  driver.start_again();
  driver.advance(5min);
  EXPECT_EQ(driver.cloud().launched(), 4u) << "what runs is not known yet";
  driver.withhold = {};
  for (const Question& question : driver.take_withheld()) driver.answer(question);
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().launched(), 4u) << "all of them were adopted";
  driver.withhold = [](const Question& question) { return asks<AskListing>(question); };
  driver.crash();
  driver.start_again();
  ASSERT_TRUE(driver.fleet().remove_worker(driver.name("cloud-1"), "test", driver.now()));
  driver.advance(2min);
  EXPECT_EQ(driver.cloud().launched(), 5u) << "and from then on it waits for no list";
}

}  // namespace
}  // namespace muster::fleet
