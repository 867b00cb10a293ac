#include "host/outcome_health/pool_outcomes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::outcome_health {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

struct Outcomes : testing::Test {
  Settings settings;
  PoolOutcomes pool;
  Time now{1h * 24 * 365 * 50};
  std::vector<Finding> findings;
  bool others_work = false;  // while one fails

  TaskOutcome outcome(const std::string& worker, Resolution resolution,
                      const std::string& launch_config = "lc", const std::string& image = "img") {
    return {.worker_pool_id = WorkerPoolId("p/w"),
            .worker_group = WorkerGroup("g"),
            .worker_id = WorkerId(worker),
            .launch_config_id = LaunchConfigId(launch_config),
            .image = image,
            .resolution = resolution,
            .started = now - 1min,
            .resolved = now};
  }
  void add(const TaskOutcome& one) {
    for (Finding& finding : pool.add(one, now, settings)) findings.push_back(std::move(finding));
  }
  void fails(const std::string& worker) { add(outcome(worker, Resolution::failed)); }
  void completes(const std::string& worker) { add(outcome(worker, Resolution::completed)); }
  // Ten workers, of which each completes tasks.
  void healthy_hour(int rounds = 6) {
    for (int round = 0; round < rounds; ++round) {
      for (int i = 0; i < 10; ++i) completes("w" + std::to_string(i));
      now += 10min;
    }
  }
  std::vector<Finding> of_kind(FindingKind kind) const {
    std::vector<Finding> some;
    for (const Finding& finding : findings)
      if (finding.kind == kind) some.push_back(finding);
    return some;
  }
  int fails_until_quarantine(const std::string& worker, int most = 100) {
    for (int i = 1; i <= most; ++i) {
      now += 20s;
      if (others_work) completes("w" + std::to_string(i % 3));
      fails(worker);
      if (!of_kind(FindingKind::quarantined).empty()) return i;
    }
    return most + 1;
  }
  static SubjectKey key(const std::string& worker) {
    return worker_key(WorkerGroup("g"), WorkerId(worker));
  }
};

TEST_F(Outcomes, what_does_not_count_leaves_no_trace) {
  TaskOutcome one = outcome("w0", Resolution::exception);
  one.reason = "worker-shutdown";
  add(one);
  settings.enabled = false;
  fails("w0");
  EXPECT_TRUE(pool.subjects().empty());
  EXPECT_FALSE(pool.has_changed());
}

TEST_F(Outcomes, a_worker_alone_is_compared_with_nobody) {
  EXPECT_EQ(fails_until_quarantine("w0", 2000), 2001);
  EXPECT_TRUE(findings.empty());
}

TEST_F(Outcomes, a_black_hole_is_quarantined_within_a_few_failures_with_its_evidence) {
  healthy_hour();
  others_work = true;
  EXPECT_LE(fails_until_quarantine("w3"), 8);
  const Finding& finding = findings.front();
  EXPECT_EQ(finding.subject, key("w3"));
  EXPECT_EQ(finding.until, now + 30min);
  EXPECT_THAT(finding.text, HasSubstr("tasks since "));
  EXPECT_THAT(finding.text, HasSubstr("the others of the pool fail"));
  EXPECT_EQ(pool.weight_factor(key("w3"), now, settings).value, 0);
}

TEST_F(Outcomes, without_witnesses_three_times_the_evidence_is_needed) {
  healthy_hour();
  PoolOutcomes copy = pool;
  others_work = true;
  const int with = fails_until_quarantine("w3");
  pool = copy;
  findings.clear();
  others_work = false;
  const int without = fails_until_quarantine("w3");
  EXPECT_GT(without, with + 3);
  EXPECT_LT(without, 3 * with + 5);
}

TEST_F(Outcomes, one_bad_worker_does_not_accuse_its_launch_configuration) {
  healthy_hour();
  settings.quarantine = false;
  for (int i = 0; i < 100; ++i) {
    now += 20s;
    add(outcome("n1", Resolution::failed, "lc-2"));
    if (i % 2) add(outcome("n2", Resolution::completed, "lc-2"));
    completes("w" + std::to_string(i % 3));
  }
  ASSERT_FALSE(of_kind(FindingKind::withheld).empty());
  EXPECT_EQ(of_kind(FindingKind::withheld)[0].subject, key("n1"));
  EXPECT_LT(pool.find({SubjectKind::launch_config, "lc-2"})->failed, 3);
}

TEST_F(Outcomes, a_worker_that_was_good_for_long_is_found_as_fast) {
  healthy_hour(300);
  others_work = true;
  EXPECT_LE(fails_until_quarantine("w3"), 8);
}

TEST_F(Outcomes, two_black_holes_do_not_hide_each_other) {
  settings.largest_share = 0.5;
  healthy_hour();
  for (int i = 0; i < 12; ++i) {
    now += 20s;
    for (const char* worker : {"w0", "w1", "w2", "w4"}) completes(worker);
    fails("w3");
    fails("w7");
  }
  EXPECT_EQ(of_kind(FindingKind::quarantined).size(), 2u);
  EXPECT_TRUE(of_kind(FindingKind::everywhere_began).empty());
}

TEST_F(Outcomes, a_failure_everywhere_at_once_quarantines_nobody_and_is_told_once) {
  healthy_hour();
  for (int round = 0; round < 60; ++round) {
    now += 1min;
    for (int i = 0; i < 10; ++i) fails("w" + std::to_string(i));
  }
  EXPECT_TRUE(of_kind(FindingKind::quarantined).empty());
  ASSERT_EQ(of_kind(FindingKind::everywhere_began).size(), 1u);
  EXPECT_THAT(findings.front().text, HasSubstr("no worker's fault"));
  EXPECT_EQ(pool.weight_factor({SubjectKind::launch_config, "lc"}, now, settings).words, "");
  healthy_hour(8);
  EXPECT_EQ(of_kind(FindingKind::everywhere_ended).size(), 1u);
  EXPECT_EQ(pool.everywhere_since(), Time{});
  findings.clear();
  others_work = true;
  EXPECT_LE(fails_until_quarantine("w3"), 25) << "it is watched again";
}

TEST_F(Outcomes, a_flaky_test_raises_the_baseline_only) {
  for (int i = 0; i < 5000; ++i) {
    now += 30s;
    const std::string worker = "w" + std::to_string(i * 7 % 10);
    if (i * 37 % 100 < 20)
      fails(worker);
    else
      completes(worker);
  }
  EXPECT_TRUE(findings.empty());
}

TEST_F(Outcomes, a_bad_image_is_found_and_not_taken_for_bad_code) {
  healthy_hour();
  for (int i = 0; i < 20; ++i) {
    now += 1min;
    for (int w = 0; w < 6; ++w)
      add(outcome("new" + std::to_string(w), Resolution::failed, "lc-2", "img-2"));
    for (int w = 0; w < 4; ++w) completes("w" + std::to_string(w));
  }
  EXPECT_TRUE(of_kind(FindingKind::everywhere_began).empty());
  std::set<SubjectKey> found;
  for (const Finding& finding : of_kind(FindingKind::quarantined)) found.insert(finding.subject);
  EXPECT_TRUE(found.contains({SubjectKind::image, "img-2"}));
  EXPECT_TRUE(found.contains({SubjectKind::launch_config, "lc-2"}));
}

TEST_F(Outcomes, a_weight_falls_before_the_quarantine_comes) {
  healthy_hour();
  const SubjectKey launch_config{SubjectKind::launch_config, "lc-2"};
  EXPECT_EQ(pool.weight_factor(launch_config, now, settings).words, "");
  double before = 1;
  int lowered = 0;
  for (int i = 0; i < 20 && of_kind(FindingKind::quarantined).empty(); ++i) {
    add(outcome("n" + std::to_string(i), Resolution::failed, "lc-2"));
    const WeightFactor factor = pool.weight_factor(launch_config, now, settings);
    EXPECT_LE(factor.value, before);
    lowered += factor.value > 0 && factor.value < before ? 1 : 0;
    if (factor.value > 0) EXPECT_THAT(factor.words, HasSubstr("by outcomes: "));
    before = factor.value;
  }
  EXPECT_EQ(before, 0);
  EXPECT_GE(lowered, 3);
}

TEST_F(Outcomes, no_more_than_the_share_is_in_quarantine_and_the_rest_is_told) {
  healthy_hour();
  for (const char* worker : {"w1", "w2", "w3"})
    for (int i = 0; i < 12; ++i) {
      now += 5s;
      fails(worker);
      for (int w = 4; w < 10; ++w) completes("w" + std::to_string(w));
    }
  EXPECT_EQ(of_kind(FindingKind::quarantined).size(), 2u);
  ASSERT_EQ(of_kind(FindingKind::withheld).size(), 1u) << "once an hour";
  EXPECT_THAT(of_kind(FindingKind::withheld)[0].text, HasSubstr("worker g/w3 stays in service"));
}

TEST_F(Outcomes, quarantine_that_is_switched_off_is_only_told) {
  settings.quarantine = false;
  healthy_hour();
  EXPECT_EQ(fails_until_quarantine("w3", 50), 51);
  ASSERT_EQ(of_kind(FindingKind::withheld).size(), 1u);
  EXPECT_THAT(findings[0].text, HasSubstr("switched off"));
}

TEST_F(Outcomes, a_canary_that_completes_releases) {
  healthy_hour();
  fails_until_quarantine("w3");
  fails("w3");  // a task that it had before
  EXPECT_EQ(findings.size(), 1u);
  now += 31min;
  EXPECT_EQ(pool.weight_factor(key("w3"), now, settings).value, canary_weight);
  completes("w3");
  ASSERT_EQ(findings.size(), 2u);
  EXPECT_EQ(findings[1].kind, FindingKind::released);
  EXPECT_EQ(pool.weight_factor(key("w3"), now, settings).words, "");
}

TEST_F(Outcomes, a_canary_that_fails_prolongs_twice_as_long_each_time) {
  healthy_hour();
  fails_until_quarantine("w3");
  for (const auto length : {1h, 2h, 4h, 8h, 16h, 24h, 24h}) {
    now = findings.back().until + 2min;
    const auto before = findings.size();
    fails("w3");
    ASSERT_EQ(findings.size(), before + 1);
    EXPECT_EQ(findings.back().until, now + length);
  }
}

TEST_F(Outcomes, a_task_that_began_before_the_end_of_the_quarantine_is_no_canary) {
  healthy_hour();
  fails_until_quarantine("w3");
  now = findings[0].until + 10s;
  fails("w3");
  EXPECT_EQ(findings.size(), 1u);
}

TEST_F(Outcomes, an_operator_releases_and_nothing_is_left_against_it) {
  EXPECT_FALSE(pool.release(key("nobody")));
  healthy_hour();
  fails_until_quarantine("w3");
  EXPECT_TRUE(pool.release(key("w3")));
  EXPECT_FALSE(pool.release(key("w3")));
  findings.clear();
  EXPECT_GE(fails_until_quarantine("w3"), 3);
  EXPECT_EQ(findings.back().until, now + 30min) << "as for the first time";
}

TEST_F(Outcomes, what_is_written_and_read_again_finds_the_same) {
  healthy_hour();
  for (int i = 0; i < 3; ++i) fails("w3");
  PoolOutcomes copy;
  copy.restore(pool.to_json());
  for (const auto& [key, subject] : pool.subjects())
    copy.restore(key, PoolOutcomes::to_json(subject));
  const int needed = fails_until_quarantine("w3");
  const std::string text = findings[0].text;
  pool = copy;
  findings.clear();
  now -= needed * 20s;
  EXPECT_EQ(fails_until_quarantine("w3"), needed);
  EXPECT_EQ(findings[0].text, text);
}

TEST_F(Outcomes, spoilt_rows_are_worth_nothing_and_do_no_harm) {
  pool.restore({{"slow", json::array{1, 2}}, {"fast", "x"}, {"everywhereBefore", 1e300}});
  pool.restore(
      key("w0"),
      {{"slow", json::array{5, -3, 0}}, {"score", "high"}, {"strikes", -7}, {"failed", 1e99}});
  healthy_hour();
  EXPECT_TRUE(findings.empty());
}

TEST_F(Outcomes, many_workers_take_bounded_room) {
  for (int i = 0; i < 50'000; ++i) {
    completes("w" + std::to_string(i));
    now += 10ms;
  }
  EXPECT_LE(pool.subjects().size(), most_subjects);
  EXPECT_NE(pool.find(key("w49999")), nullptr);
  now += 48h;
  pool.forget_stale(now);
  EXPECT_TRUE(pool.subjects().empty());
}

TEST_F(Outcomes, a_clock_that_is_set_back_breaks_nothing) {
  healthy_hour();
  now -= 24h;
  healthy_hour(2);
  others_work = true;
  EXPECT_LE(fails_until_quarantine("w3"), 10);
}

}  // namespace
}  // namespace muster::outcome_health
