// Task outcomes lead to quarantine, lower weights and words, and survive a restart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/fleet/outcomes/image.hpp"
#include "host/outcome_health/pool_outcomes.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using outcome_health::Resolution;
using testing::HasSubstr;

struct OutcomesOfFleet : testing::Test {
  FleetDriver driver = simple_fleet(
      {.id = "p/w",
       .launch_configs = {{.id = "lc-1", .max_capacity = 6},
                          {.id = "lc-2", .max_capacity = 6, .document = {{"image", "two"}}}}});
  std::vector<std::string> workers;

  void SetUp() override {
    driver.demand("p/w", 12);
    driver.demand("p/w", 0);
    for (const Worker& worker : driver.fleet().workers())
      if (worker.state == WorkerState::requested) workers.push_back(worker.worker_id);
    ASSERT_EQ(workers.size(), 12u);
    for (const std::string& id : workers) {
      ASSERT_TRUE(driver.register_worker(id));
      ASSERT_TRUE(driver.active(id, 1));
    }
    for (int round = 0; round < 6; ++round) {
      for (const std::string& id : workers) task(id, Resolution::completed);
      driver.advance(10min);
    }
  }
  void task(const std::string& id, Resolution resolution, const std::string& reason = {}) {
    driver.fleet().task_outcome({.worker_pool_id = WorkerPoolId("p/w"),
                                 .worker_group = WorkerGroup("r"),
                                 .worker_id = WorkerId(id),
                                 .resolution = resolution,
                                 .reason = reason,
                                 .started = driver.wall() - 10s,
                                 .resolved = driver.wall()},
                                driver.now());
    driver.settle();
  }
  bool in_quarantine(const std::string& id) const {
    return driver.worker(id)->drain == Drain::quarantined;
  }
  // Returns how many failures it took; others complete theirs meanwhile.
  int break_worker(const std::string& id, int most = 40) {
    for (int i = 1; i <= most; ++i) {
      driver.advance(20s);
      task(workers[static_cast<std::size_t>(i) % 3], Resolution::completed);
      task(id, Resolution::failed);
      if (in_quarantine(id)) return i;
    }
    return most + 1;
  }
  std::vector<std::string> told(const std::string& kind) const {
    std::vector<std::string> texts;
    for (const events::Event& event : driver.events)
      if (event.kind == kind) texts.push_back(event.text);
    return texts;
  }
  bidding::Weight weight(const std::string& id) {
    for (const auto& [at, weight] : driver.fleet().weights_of(driver.pool("p/w"), driver.wall()))
      if (driver.fleet().launch_configs()[at].spec->launch_config.launch_config_id.str() == id)
        return weight;
    return {};
  }
  std::string launch_config_of(const std::string& worker) {
    return driver.fleet()
        .launch_configs()[driver.worker(worker)->launch_config]
        .spec->launch_config.launch_config_id.str();
  }
};

TEST_F(OutcomesOfFleet, outcomes_of_strangers_and_of_nobodys_fault_change_nothing) {
  driver.fleet().task_outcome({.worker_pool_id = WorkerPoolId("no/pool"),
                               .worker_group = WorkerGroup("r"),
                               .worker_id = WorkerId("x"),
                               .resolution = Resolution::failed},
                              driver.now());
  EXPECT_EQ(driver.fleet().outcomes_of(WorkerPoolId("no/pool")), nullptr);
  for (int i = 0; i < 50; ++i) {
    task(workers[5], Resolution::exception, "worker-shutdown");
    task(workers[0], Resolution::completed);
  }
  EXPECT_FALSE(in_quarantine(workers[5]));
}

TEST_F(OutcomesOfFleet, a_black_hole_is_quarantined_with_its_evidence_and_an_operator_releases_it) {
  EXPECT_LE(break_worker(workers[5]), 8);
  ASSERT_EQ(told("worker-quarantined").size(), 1u);
  EXPECT_THAT(told("worker-quarantined")[0], HasSubstr("by task outcomes: failed"));
  EXPECT_EQ(driver.worker(workers[5])->quarantined_until, driver.wall() + 30min);
  ASSERT_TRUE(
      driver.fleet().quarantine(driver.name(workers[5]), driver.wall(), "repaired", driver.now()));
  driver.settle();
  EXPECT_FALSE(in_quarantine(workers[5]));
  task(workers[5], Resolution::failed);
  EXPECT_FALSE(in_quarantine(workers[5])) << "its past is forgotten";
}

TEST_F(OutcomesOfFleet, evidence_and_quarantine_survive_a_restart) {
  break_worker(workers[5]);
  for (int i = 0; i < 3; ++i) task(workers[6], Resolution::failed);
  driver.advance(2min);
  const auto key = outcome_health::worker_key(WorkerGroup("r"), WorkerId(workers[6]));
  const double score = driver.fleet().outcomes_of(WorkerPoolId("p/w"))->find(key)->score;
  EXPECT_GT(score, 1);
  driver.crash();
  driver.start_again();
  EXPECT_TRUE(in_quarantine(workers[5]));
  EXPECT_DOUBLE_EQ(driver.fleet().outcomes_of(WorkerPoolId("p/w"))->find(key)->score, score);
  driver.advance(31min);
  EXPECT_FALSE(in_quarantine(workers[5]));
  task(workers[5], Resolution::failed);
  EXPECT_TRUE(in_quarantine(workers[5])) << "its canary failed";
  EXPECT_EQ(driver.worker(workers[5])->quarantined_until, driver.wall() + 1h);
}

TEST_F(OutcomesOfFleet, a_failure_everywhere_is_told_and_quarantines_nobody) {
  for (int round = 0; round < 20; ++round) {
    driver.advance(30s);
    for (const std::string& id : workers) task(id, Resolution::failed);
  }
  EXPECT_EQ(told("failures-everywhere-began").size(), 1u);
  EXPECT_TRUE(told("worker-quarantined").empty());
  EXPECT_TRUE(told("outcomes-quarantined").empty());
}

TEST_F(OutcomesOfFleet, a_bad_launch_configuration_loses_weight_and_is_resumed_by_an_operator) {
  std::vector<std::string> good, bad;
  for (const std::string& id : workers) (launch_config_of(id) == "lc-2" ? bad : good).push_back(id);
  ASSERT_EQ(bad.size(), 6u);
  ASSERT_EQ(good.size(), 6u);
  double least_before = 1;
  for (int i = 0; i < 60 && told("outcomes-quarantined").empty(); ++i) {
    driver.advance(20s);
    task(good[static_cast<std::size_t>(i) % good.size()], Resolution::completed);
    task(bad[static_cast<std::size_t>(i) % bad.size()], Resolution::failed);
    if (told("outcomes-quarantined").empty()) least_before = weight("lc-2").value;
  }
  EXPECT_LT(least_before, 0.3) << "before the quarantine";
  ASSERT_FALSE(told("outcomes-quarantined").empty());
  EXPECT_EQ(weight("lc-2").value, 0);
  EXPECT_THAT(weight("lc-2").arithmetic, HasSubstr("fail where others' do not"));
  EXPECT_GT(weight("lc-1").value, 0);
  ASSERT_TRUE(driver.fleet().resume(WorkerPoolId("p/w"), LaunchConfigId("lc-2"), driver.now()));
  driver.settle();
  EXPECT_GT(weight("lc-2").value, 0);
}

TEST_F(OutcomesOfFleet, a_pool_that_is_gone_leaves_no_rows) {
  EXPECT_GT(driver.rows("outcome_health"), 12u);
  driver.configure({});
  driver.advance(200h);
  EXPECT_EQ(driver.rows("outcome_health"), 0u);
}

TEST(Image, is_found_in_the_documents_of_all_clouds) {
  EXPECT_EQ(image_of({}), "");
  EXPECT_EQ(image_of({{"image", ""}, {"a", 1}}), "");
  EXPECT_EQ(image_of({{"ImageId", "ami-1"}, {"InstanceType", "m5"}}), "ami-1");
  EXPECT_EQ(
      image_of({{"disks",
                 json::array{json::object{
                     {"initializeParams", json::object{{"sourceImage", "projects/d/debian"}}}}}}}),
      "projects/d/debian");
  EXPECT_EQ(
      image_of({{"storageProfile", json::object{{"imageReference", json::object{{"sku", "12"}}}}}}),
      R"({"sku":"12"})");
}

}  // namespace
}  // namespace muster::fleet
