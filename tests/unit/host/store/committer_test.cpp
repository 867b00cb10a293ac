// The group commit: order, failure, recovery, the end.
#include "host/store/committer.hpp"

#include <atomic>
#include <future>

#include <gmock/gmock.h>

#include "lib/base/fake_clock.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/recorded_log.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using Numbers = std::vector<std::int64_t>;

// A store in memory that fails or waits as a test says.
class MoodyStore final : public Store {
 public:
  Result<void> commit(const Batch& batch) override {
    std::unique_lock lock(mutex_);
    ++attempts_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    if (failure_) return *failure_;
    return kept_.commit(batch);
  }
  Result<void> scan(const Scan& scan, const RowSink& sink) const override {
    return kept_.scan(scan, sink);
  }
  Result<void> backup(const std::string& file) const override { return kept_.backup(file); }

  void fail(std::optional<Error> failure) {
    const std::lock_guard guard(mutex_);
    failure_ = std::move(failure);
  }
  void hold(bool held) {
    const std::lock_guard guard(mutex_);
    held_ = held;
    changed_.notify_all();
  }
  void wait_for_attempts(int count) {
    std::unique_lock lock(mutex_);
    ASSERT_TRUE(changed_.wait_for(lock, 10s, [&] { return attempts_ >= count; }));
  }
  int attempts() {
    const std::lock_guard guard(mutex_);
    return attempts_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  int attempts_ = 0;
  bool held_ = false;
  std::optional<Error> failure_;
  MemoryStore kept_;
};

// What the listener is told, in order.
class HealthLog {
 public:
  void add(const Health& health) {
    const std::lock_guard guard(mutex_);
    seen_.push_back(health);
    changed_.notify_all();
  }
  Health wait_for(std::size_t count) {
    std::unique_lock lock(mutex_);
    EXPECT_TRUE(changed_.wait_for(lock, 10s, [&] { return seen_.size() >= count; }));
    return seen_.size() >= count ? seen_[count - 1] : Health{};
  }
  std::size_t size() {
    const std::lock_guard guard(mutex_);
    return seen_.size();
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Health> seen_;
};

class CommitterTest : public ::testing::Test {
 protected:
  CommitterSettings settings() {
    CommitterSettings chosen;
    chosen.listener = [this](const Health& health) { told.add(health); };
    return chosen;
  }
  std::unique_ptr<Committer> start() { return start(settings()); }
  std::unique_ptr<Committer> start(CommitterSettings chosen) {
    return std::make_unique<Committer>(store, clock, Log(log, LogLevel::info, LogFormat::text),
                                       std::move(chosen));
  }
  void submit_and_wait(Committer& committer, Batch batch) {
    std::promise<void> durable;
    ASSERT_TRUE(committer.submit(std::move(batch), [&] { durable.set_value(); }));
    ASSERT_EQ(durable.get_future().wait_for(10s), std::future_status::ready);
  }
  Numbers kept() const { return numbers_of(store, {&things}); }

  MoodyStore store;
  FakeClock clock;
  HealthLog told;
  std::shared_ptr<muster::testing::RecordedLog> log =
      std::make_shared<muster::testing::RecordedLog>();
};

const Error full = Error::capacity("the disk is full: make room");
const Error damaged = Error::internal("the database is damaged");

TEST_F(CommitterTest, a_full_disk_loses_nothing_and_keeps_the_order) {
  store.fail(full);
  const auto committer = start();
  std::vector<int> order;
  std::promise<void> last;
  committer->submit({thing(1, "old")}, [&] { order.push_back(1); });
  const Health failing = told.wait_for(1);
  EXPECT_FALSE(failing.ok);
  EXPECT_EQ(failing.failing_since, clock.now());
  EXPECT_EQ(failing.sentence, full.message);
  committer->submit({thing(1, "new")}, [&] { order.push_back(2); });
  committer->submit({thing(2)}, [&] {
    order.push_back(3);
    last.set_value();
  });
  EXPECT_EQ(committer->waiting(), 3U);
  EXPECT_EQ(committer->health(), failing);
  EXPECT_TRUE(kept().empty());

  store.fail({});
  clock.advance(10s);
  ASSERT_EQ(last.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
  EXPECT_EQ(rows_of(store, {&things})[0][1], Value("new"));
  EXPECT_TRUE(told.wait_for(2).ok);
  EXPECT_TRUE(committer->health().ok);
  EXPECT_EQ(committer->waiting(), 0U);
}

TEST_F(CommitterTest, it_does_not_try_again_before_the_clock_says_so) {
  store.fail(full);
  const auto committer = start();
  committer->submit({thing(1)});
  told.wait_for(1);
  EXPECT_EQ(store.attempts(), 1);
  clock.advance(99ms);
  committer->submit({thing(2)});  // new work does not hurry it
  EXPECT_EQ(store.attempts(), 1);
  clock.advance(1ms);
  store.wait_for_attempts(2);
  store.fail({});
  committer->retry_now();
  store.wait_for_attempts(3);
  told.wait_for(2);
  EXPECT_EQ(kept(), (Numbers{1, 2}));
}

TEST_F(CommitterTest, the_listener_hears_of_changes_only) {
  store.fail(full);
  const auto committer = start();
  committer->submit({thing(1)});
  told.wait_for(1);
  committer->retry_now();
  store.wait_for_attempts(2);
  clock.advance(1s);
  store.fail(Error::transient("the disk does not answer"));
  committer->retry_now();
  const Health other = told.wait_for(2);
  EXPECT_EQ(other.sentence, "the disk does not answer");
  EXPECT_EQ(*other.failing_since + 1s, clock.now()) << "failing since the first failure";
  EXPECT_EQ(told.size(), 2U);
}

TEST_F(CommitterTest, stopping_while_the_store_fails_says_what_is_lost) {
  store.fail(full);
  const auto committer = start();
  committer->submit({thing(1)});
  committer->submit({thing(2)});
  told.wait_for(1);
  EXPECT_EQ(committer->stop(0ms), 2U);
  EXPECT_TRUE(log->contains("did not take everything"));
  EXPECT_FALSE(committer->submit({thing(3)}));
  EXPECT_EQ(committer->stop(1s), 2U);
}

TEST_F(CommitterTest, stopping_makes_durable_what_waits) {
  store.hold(true);
  const auto committer = start();
  std::atomic<int> called = 0;
  for (std::int64_t i = 0; i < 50; ++i) committer->submit({thing(i)}, [&] { ++called; });
  auto stopped = std::async(std::launch::async, [&] { return committer->stop(1s); });
  store.hold(false);
  EXPECT_EQ(stopped.get(), 0U);
  EXPECT_EQ(called, 50);
  EXPECT_EQ(kept().size(), 50U);
}

TEST_F(CommitterTest, what_waits_is_committed_together) {
  store.hold(true);
  const auto committer = start();
  committer->submit({thing(0)});
  store.wait_for_attempts(1);
  for (std::int64_t i = 1; i <= 100; ++i) committer->submit({thing(i)});
  store.hold(false);
  submit_and_wait(*committer, {});
  EXPECT_EQ(kept().size(), 101U);
  EXPECT_LE(store.attempts(), 3);
}

TEST_F(CommitterTest, a_transaction_is_bounded_unless_one_batch_is_larger) {
  store.hold(true);
  CommitterSettings chosen = settings();
  chosen.most_changes = 10;
  const auto committer = start(std::move(chosen));
  committer->submit({thing(0)});
  store.wait_for_attempts(1);
  for (std::int64_t i = 0; i < 10; ++i)
    committer->submit({thing(3 * i), thing(3 * i + 1), thing(3 * i + 2)});
  Batch large;
  for (std::int64_t i = 100; i < 150; ++i) large.emplace_back(thing(i));
  committer->submit(std::move(large));
  store.hold(false);
  submit_and_wait(*committer, {});
  EXPECT_EQ(kept().size(), 80U);
  EXPECT_GE(store.attempts(), 1 + 4 + 1);
}

TEST_F(CommitterTest, a_damaged_store_is_replaced_and_what_waits_goes_into_the_new_one) {
  CommitterSettings chosen = settings();
  std::string reason;
  chosen.replace_damaged = [&](const Error& damage) -> Result<void> {
    reason = damage.message;
    store.fail({});
    return {};
  };
  store.fail(damaged);
  const auto committer = start(std::move(chosen));
  submit_and_wait(*committer, {thing(1)});
  EXPECT_EQ(reason, damaged.message);
  EXPECT_EQ(kept(), (Numbers{1}));
  EXPECT_EQ(told.wait_for(1).sentence, "the database is damaged; a new one is written from memory");
  EXPECT_TRUE(told.wait_for(2).ok);
}

TEST_F(CommitterTest,
       a_store_that_cannot_be_written_for_long_is_replaced_though_it_is_not_damaged) {
  CommitterSettings chosen = settings();
  chosen.failures_until_replaced = 3;
  chosen.replace_damaged = [&](const Error&) -> Result<void> {
    store.fail({});
    return {};
  };
  store.fail(Error::transient("disk I/O error"));
  const auto committer = start(std::move(chosen));
  std::promise<void> durable;
  committer->submit({thing(1)}, [&] { durable.set_value(); });
  for (int attempt = 1; attempt < 3; ++attempt) {
    store.wait_for_attempts(attempt);
    EXPECT_EQ(kept(), (Numbers{}));
    committer->retry_now();
    clock.advance(10s);
  }
  EXPECT_EQ(durable.get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(store.attempts(), 3 + 1);
}

TEST_F(CommitterTest, a_full_disk_is_no_reason_to_write_the_store_anew) {
  CommitterSettings chosen = settings();
  chosen.failures_until_replaced = 1;
  std::atomic<int> asked = 0;
  chosen.replace_damaged = [&](const Error&) -> Result<void> { return ++asked, Result<void>(); };
  store.fail(Error::capacity("the disk is full"));
  const auto committer = start(std::move(chosen));
  committer->submit({thing(1)});
  store.wait_for_attempts(1);
  clock.advance(10s);
  committer->retry_now();
  store.wait_for_attempts(2);
  EXPECT_EQ(asked, 0);
}

TEST_F(CommitterTest, a_replacement_that_fails_is_tried_again_and_one_that_does_not_help_is_not) {
  CommitterSettings chosen = settings();
  std::atomic<int> asked = 0;
  std::promise<void> third;
  chosen.replace_damaged = [&](const Error&) -> Result<void> {
    if (++asked == 1) return Error::capacity("no room for it");
    if (asked == 3) third.set_value();
    return {};
  };
  store.fail(damaged);
  const auto committer = start(std::move(chosen));
  committer->submit({thing(1)});
  EXPECT_EQ(told.wait_for(2).sentence,
            "the database is damaged; a new one could not be written: no room for it");
  committer->retry_now();
  EXPECT_NE(told.wait_for(3).sentence.find("replaced a short while ago"), std::string::npos);
  EXPECT_EQ(asked, 2);
  const int before = store.attempts();
  committer->retry_now();
  store.wait_for_attempts(before + 1);
  EXPECT_EQ(asked, 2);
  clock.advance(11min);
  committer->retry_now();
  EXPECT_EQ(third.get_future().wait_for(10s), std::future_status::ready);
}

TEST_F(CommitterTest, damage_that_a_reader_found_is_repaired_without_a_commit_and_shown_meanwhile) {
  CommitterSettings chosen = settings();
  std::promise<std::string> asked;
  std::promise<void> look, repaired;
  chosen.replace_damaged = [&](const Error& damage) -> Result<void> {
    asked.set_value(damage.message);
    look.get_future().wait();
    return {};
  };
  chosen.replaced = [&](const Error&) { repaired.set_value(); };
  const auto committer = start(std::move(chosen));
  committer->report_damage(damaged);
  EXPECT_EQ(asked.get_future().get(), damaged.message);
  EXPECT_FALSE(committer->health().ok);
  EXPECT_EQ(committer->health().damage, damaged.message);
  committer->report_damage(damaged);  // by another reader of the old file
  look.set_value();
  repaired.get_future().wait();
  EXPECT_EQ(committer->health(), Health{});
}

TEST_F(CommitterTest, damage_soon_after_a_replacement_is_shown_and_repaired_when_its_time_comes) {
  CommitterSettings chosen = settings();
  std::promise<void> repaired[2];
  int times = 0;
  chosen.replace_damaged = [&](const Error&) -> Result<void> { return {}; };
  chosen.replaced = [&](const Error&) { repaired[times++].set_value(); };
  const auto committer = start(std::move(chosen));
  committer->report_damage(damaged);
  repaired[0].get_future().wait();
  committer->report_damage(damaged);
  submit_and_wait(*committer, {thing(1)});
  EXPECT_TRUE(committer->health().ok) << "commits go on";
  EXPECT_THAT(committer->health().damage, HasSubstr("replaced a short while ago"));
  clock.advance(11min);
  EXPECT_EQ(repaired[1].get_future().wait_for(20s), std::future_status::ready);
  EXPECT_EQ(committer->health(), Health{});
}

TEST_F(CommitterTest, damage_that_cannot_be_repaired_keeps_nobody_from_committing) {
  CommitterSettings chosen = settings();
  std::atomic<int> asked = 0;
  chosen.replace_damaged = [&](const Error&) -> Result<void> {
    ++asked;
    return Error::capacity("no room for a copy");
  };
  const auto committer = start(std::move(chosen));
  committer->report_damage(damaged);
  submit_and_wait(*committer, {thing(1)});
  EXPECT_TRUE(committer->health().ok);
  EXPECT_THAT(committer->health().damage, HasSubstr("no room for a copy"));
  clock.advance(10s);
  EXPECT_TRUE(muster::testing::eventually([&] { return asked > 1; })) << "it is tried again";
  submit_and_wait(*committer, {thing(2)});
  EXPECT_EQ(kept(), (Numbers{1, 2}));
}

TEST_F(CommitterTest, submissions_of_many_threads_are_all_durable) {
  const muster::testing::TemporaryFolder folder;
  const auto sqlite = open_store(folder / "a.db");
  Committer committer(*sqlite, clock, Log());
  std::atomic<int> durable = 0;
  std::vector<std::thread> threads;
  for (std::int64_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::int64_t i = 0; i < 250; ++i)
        committer.submit({thing(t * 1000 + i), part("t", t * 1000 + i)}, [&] { ++durable; });
    });
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(committer.stop(60s), 0U);
  EXPECT_EQ(durable, 1000);
  EXPECT_EQ(numbers_of(*sqlite, {&things}).size(), 1000U);
  EXPECT_EQ(numbers_of(*sqlite, {&parts}).size(), 1000U);
}

}  // namespace
}  // namespace muster::store::testing
