// Task runs: whatever order and repetition reports come in, the same state, and the store has it.
#include "host/worker_state/run_table.hpp"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "host/store/memory_store.hpp"
#include "host/store/row.hpp"

namespace muster::worker_state {
namespace {

using namespace std::chrono_literals;

const Time noon = Time(1'800'000'000'000ms);
const WorkerPoolId pool("proj/build");
const WorkerOrigin origin{"lc-1", "build.toml"};

std::string task_id(int number) {
  const std::string digits = std::to_string(number);
  return std::string(22 - digits.size(), 'A') + digits;
}

RunReport running(int task, Time started, const std::string& worker = "i-1") {
  return {.task_id = task_id(task),
          .worker = {pool, WorkerGroup("us-1"), WorkerId(worker)},
          .started = started};
}

RunReport ended(RunReport report, Outcome outcome, Time resolved, Reason reason = Reason::none) {
  report.outcome = outcome;
  report.resolved = resolved;
  report.reason = reason;
  return report;
}

// A table with the store that it writes to.
struct Kept {
  explicit Kept(Retention retention = {}) : table(retention) {}

  Result<Applied> apply(const RunReport& report, const WorkerOrigin& of = origin) {
    store::Batch changes;
    auto applied = table.apply(report, of, noon, changes);
    EXPECT_TRUE(store.commit(changes));
    return applied;
  }
  const RunTable* view() const { return &table; }
  RunTable reloaded() const {
    RunTable again;
    EXPECT_TRUE(store::read_rows<TaskRunRow>(
        store, [&](const TaskRunRow& row) { return again.load(row); }));
    EXPECT_TRUE(store::read_rows<ForgottenRunsRow>(
        store, [&](const ForgottenRunsRow& row) { return again.load(row); }));
    EXPECT_TRUE(store.set_aside().list().empty());
    return again;
  }

  RunTable table;
  store::MemoryStore store;
};

std::string all_runs(const RunTable& table) {
  std::string text;
  const auto page = table.page({}, "", 1'000'000);
  for (const TaskRunRow& row : page->runs)
    text += row.task_id + "/" + std::to_string(row.run_id) + " " + row.worker_id.str() + " " +
            row.launch_config_id + " " + std::string(name_of(row.outcome)) + " " +
            std::string(name_of(row.reason)) + " " +
            std::to_string(row.started.time_since_epoch().count()) + " " +
            std::to_string(row.resolved.value_or(Time{}).time_since_epoch().count()) + "\n";
  return text;
}

TEST(RunTableTest, a_report_that_makes_no_sense_is_refused_and_changes_nothing) {
  Kept kept;
  ASSERT_TRUE(kept.apply(running(1, noon)));
  const std::string before = all_runs(kept.table);
  RunReport wrong = running(2, noon);
  wrong.task_id = "has a space";
  EXPECT_FALSE(kept.apply(wrong));
  wrong = running(2, noon);
  wrong.task_id = std::string(39, 'a');
  EXPECT_FALSE(kept.apply(wrong));
  wrong = running(2, noon);
  wrong.run_id = 1001;
  EXPECT_FALSE(kept.apply(wrong));
  wrong.run_id = -1;
  EXPECT_FALSE(kept.apply(wrong));
  EXPECT_FALSE(kept.apply(running(2, Time{}))) << "without a time";
  EXPECT_FALSE(kept.apply(running(2, noon, "")));
  EXPECT_FALSE(kept.apply(running(2, noon + 25h))) << "the future";
  EXPECT_FALSE(kept.apply(ended(running(2, noon), Outcome::completed, Time{})));
  EXPECT_FALSE(kept.apply(ended(running(2, noon), Outcome::running, noon)));
  const auto other = kept.apply(running(1, noon, "i-2"));
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().message.find("i-1 has it"), std::string::npos) << other.error().message;
  EXPECT_EQ(all_runs(kept.table), before);
  EXPECT_EQ(kept.table.size(), 1u);
}

TEST(RunTableTest, a_run_that_has_ended_runs_no_more_and_is_told_once) {
  Kept kept;
  const auto end = ended(running(1, noon), Outcome::exception, noon + 5s, Reason::worker_shutdown);
  const auto first = kept.apply(end);
  ASSERT_TRUE(first);
  ASSERT_TRUE(first->resolved);
  EXPECT_EQ(first->resolved->launch_config_id, "lc-1");
  EXPECT_EQ(first->resolved->reason, Reason::worker_shutdown);
  EXPECT_EQ(first->resolved->resolved, noon + 5s);
  for (const RunReport& again : {end, running(1, noon)}) {
    const auto applied = kept.apply(again);
    ASSERT_TRUE(applied);
    EXPECT_FALSE(applied->changed);
    EXPECT_FALSE(applied->resolved);
  }
  EXPECT_EQ(kept.table.counts(Scope::pool, pool, ""), (Counts{0, 0, 0, 1}));
}

TEST(RunTableTest, any_order_and_repetition_gives_the_same_state_also_from_the_store) {
  std::vector<RunReport> reports;
  Counts wanted;
  for (int task = 0; task < 300; ++task) {
    const std::string worker = "i-" + std::to_string(task % 7);
    const RunReport begins = running(task, noon - 1h + task * 1s, worker);
    reports.push_back(begins);
    const auto outcome = static_cast<Outcome>(task % 4);
    ++wanted.of(outcome);
    if (outcome != Outcome::running)
      reports.push_back(
          ended(begins, outcome, noon - 30min + task * 1s,
                outcome == Outcome::exception ? Reason::claim_expired : Reason::none));
  }
  Kept in_order;
  for (const RunReport& report : reports) ASSERT_TRUE(in_order.apply(report));
  EXPECT_EQ(in_order.table.counts(Scope::pool, pool, ""), wanted);
  std::mt19937 random(7);
  for (int times = 0; times < 20; ++times) {
    std::vector<RunReport> shuffled = reports;
    for (int i = 0; i < 300; ++i) shuffled.push_back(reports[random() % reports.size()]);
    std::ranges::shuffle(shuffled, random);
    Kept kept;
    std::size_t told = 0;
    for (const RunReport& report : shuffled) {
      // The fleet may know the worker only later.
      const auto applied = kept.apply(report, random() % 4 == 0 ? WorkerOrigin() : origin);
      ASSERT_TRUE(applied);
      told += applied->resolved.has_value();
    }
    EXPECT_EQ(told, 225u);
    const RunTable again = kept.reloaded();
    for (const RunTable* each : {kept.view(), &again}) {
      const RunTable& table = *each;
      EXPECT_EQ(all_runs(table), all_runs(in_order.table));
      EXPECT_EQ(table.counts(Scope::pool, pool, ""), wanted);
      EXPECT_EQ(table.counts(Scope::launchConfig, pool, "lc-1"), wanted);
      EXPECT_EQ(table.counts(Scope::workerConfiguration, {}, "build.toml"), wanted);
      EXPECT_EQ(table.all_counts(), wanted);
    }
  }
}

TEST(RunTableTest, the_newest_twenty_of_a_worker_the_oldest_of_them_first) {
  Kept kept;
  for (int task = 29; task >= 0; --task) ASSERT_TRUE(kept.apply(running(task, noon + task * 1s)));
  const auto activity = kept.table.activity({pool, WorkerGroup("us-1"), WorkerId("i-1")});
  ASSERT_TRUE(activity);
  ASSERT_EQ(activity->recent.size(), 20u);
  EXPECT_EQ(activity->recent.front().task_id, task_id(10));
  EXPECT_EQ(activity->recent.back().task_id, task_id(29));
  EXPECT_EQ(activity->first_claim, noon);
  EXPECT_EQ(activity->last_active, noon + 29s);
  EXPECT_EQ(activity->running, 30);
  EXPECT_FALSE(kept.table.activity({pool, WorkerGroup("us-1"), WorkerId("i-2")}));
}

TEST(RunTableTest, of_too_many_the_oldest_are_only_counted_and_never_twice) {
  Kept kept({.most_of_worker = 8});
  std::vector<RunReport> reports;
  for (int task = 0; task < 100; ++task)
    reports.push_back(ended(running(task, noon + task * 1s), Outcome::completed, noon + task * 1s));
  for (int times = 0; times < 3; ++times)
    for (const RunReport& report : reports) ASSERT_TRUE(kept.apply(report));
  const RunTable again = kept.reloaded();
  for (const RunTable* each : {kept.view(), &again}) {
    const RunTable& table = *each;
    EXPECT_GE(table.size(), 8u);
    EXPECT_LE(table.size(), 9u);
    EXPECT_EQ(table.counts(Scope::pool, pool, ""), (Counts{0, 100, 0, 0}));
    EXPECT_EQ(table.counts(Scope::worker, pool, "us-1/i-1"), (Counts{0, 100, 0, 0}));
    EXPECT_EQ(table.counts(Scope::launchConfig, pool, "lc-1"), (Counts{0, 100, 0, 0}));
    EXPECT_EQ(table.activity({pool, WorkerGroup("us-1"), WorkerId("i-1")})->first_claim, noon);
  }
}

TEST(RunTableTest, a_pool_and_a_configuration_have_their_limits_too) {
  for (const Retention& retention :
       {Retention{.most_of_pool = 16}, Retention{.most_of_configuration = 16}}) {
    Kept kept(retention);
    for (int task = 0; task < 200; ++task)
      ASSERT_TRUE(kept.apply(ended(running(task, noon + task * 1s, "i-" + std::to_string(task)),
                                   Outcome::failed, noon + task * 1s)));
    ASSERT_TRUE(kept.apply(running(999, noon + 1h, "i-1"))) << "a worker that was forgotten";
    const RunTable again = kept.reloaded();
    for (const RunTable* each : {kept.view(), &again}) {
      const RunTable& table = *each;
      EXPECT_GE(table.size(), 17u);
      EXPECT_LE(table.size(), 19u);
      EXPECT_EQ(table.counts(Scope::pool, pool, ""), (Counts{1, 0, 200, 0}));
      EXPECT_EQ(table.counts(Scope::workerConfiguration, {}, "build.toml"), (Counts{1, 0, 200, 0}));
    }
  }
}

TEST(RunTableTest, what_is_too_old_goes_with_its_worker_and_does_not_come_back) {
  Kept kept({.kept = 1h});
  const auto old = ended(running(1, noon - 30min), Outcome::completed, noon - 20min);
  ASSERT_TRUE(kept.apply(old));
  ASSERT_TRUE(kept.apply(running(2, noon, "i-2")));
  store::Batch changes;
  kept.table.forget_old(noon + 40min, changes);
  ASSERT_TRUE(kept.store.commit(changes));
  EXPECT_EQ(kept.table.size(), 1u);
  EXPECT_EQ(kept.table.workers(), 1u);
  EXPECT_EQ(kept.reloaded().size(), 1u);
  changes.clear();
  ASSERT_TRUE(kept.table.apply(old, origin, noon + 40min, changes));
  EXPECT_TRUE(changes.empty());
  EXPECT_EQ(kept.table.counts(Scope::pool, pool, ""), (Counts{1, 1, 0, 0}));
  changes.clear();
  kept.table.forget_old(noon + 10h, changes);
  ASSERT_TRUE(kept.store.commit(changes));
  EXPECT_EQ(kept.table.size(), 0u);
  EXPECT_TRUE(kept.store.contents()["task_runs"].empty());
  EXPECT_TRUE(kept.store.contents()["forgotten_runs"].empty());
}

TEST(RunTableTest, pages_follow_each_other_without_gap_or_repetition) {
  Kept kept;
  for (int task = 0; task < 25; ++task)
    ASSERT_TRUE(kept.apply(running(task, noon + task % 5 * 1s, "i-" + std::to_string(task % 3))));
  EXPECT_FALSE(kept.table.page({}, "nonsense", 10));
  EXPECT_FALSE(kept.table.page({}, "1/a b/2", 10));
  std::string paged, after;
  int pages = 0;
  do {
    const auto page = kept.table.page({}, after, 10);
    ASSERT_TRUE(page);
    for (const TaskRunRow& row : page->runs) paged += row.task_id + " ";
    after = page->next;
    ++pages;
  } while (!after.empty());
  EXPECT_EQ(pages, 3);
  std::string whole;
  const auto all = kept.table.page({}, "", 100);
  for (const TaskRunRow& row : all->runs) whole += row.task_id + " ";
  EXPECT_EQ(paged, whole);
  EXPECT_EQ(kept.table.page({.worker_id = "i-1"}, "", 100)->runs.size(), 8u);
  EXPECT_EQ(kept.table.page({.launch_config_id = "lc-2"}, "", 100)->runs.size(), 0u);
  EXPECT_EQ(kept.table.page({.outcome = Outcome::failed}, "", 100)->runs.size(), 0u);
}

TEST(PackedTaskIdTest, says_again_what_it_was_told) {
  for (const std::string text :
       {"a", "fN1SbArXTPSVFNUvaOlinQ", "-_-", "00000000000000000000000000000000000000"}) {
    const auto packed = PackedTaskId::pack(text);
    ASSERT_TRUE(packed) << text;
    EXPECT_EQ(packed->text(), text);
  }
  for (const std::string text : {"", "a/b", "\xc3\xa4"}) EXPECT_FALSE(PackedTaskId::pack(text));
}

}  // namespace
}  // namespace muster::worker_state
