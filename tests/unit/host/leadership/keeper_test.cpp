#include "host/leadership/keeper.hpp"

#include <gtest/gtest.h>

#include "tests/support/eventually.hpp"

namespace muster::leadership {
namespace {

using namespace std::chrono_literals;
using muster::testing::eventually;

// The row, as a database has it, with a clock that the test moves.
struct Row {
  std::mutex mutex;
  Lead lead;
  BootTime expires{};
  bool reachable = true;
  int renewals = 0;
  std::atomic<std::int64_t> now{1'000'000};
};

class FakeTable final : public LeaseTable {
 public:
  explicit FakeTable(std::shared_ptr<Row> row) : row_(std::move(row)) {}

  Result<Lead> look(const HostEntry&) override {
    const std::lock_guard guard(row_->mutex);
    if (!row_->reachable) return Error::transient("away");
    Lead lead = row_->lead;
    lead.left = row_->expires - BootTime(row_->now);
    return lead;
  }
  Result<std::optional<std::int64_t>> acquire(const HostEntry& self,
                                              std::chrono::milliseconds length) override {
    const std::lock_guard guard(row_->mutex);
    if (!row_->reachable) return Error::transient("away");
    if (row_->expires > BootTime(row_->now)) return std::optional<std::int64_t>();
    row_->lead = {.epoch = row_->lead.epoch + 1, .holder = self.name, .address = self.address};
    row_->expires = BootTime(row_->now) + length;
    return std::optional(row_->lead.epoch);
  }
  Result<bool> renew(std::int64_t epoch, std::chrono::milliseconds length) override {
    const std::lock_guard guard(row_->mutex);
    if (!row_->reachable) return Error::transient("away");
    ++row_->renewals;
    if (row_->lead.epoch != epoch) return false;
    row_->expires = BootTime(row_->now) + length;
    return true;
  }
  Result<void> release(std::int64_t epoch) override {
    const std::lock_guard guard(row_->mutex);
    if (row_->lead.epoch == epoch) row_->expires = {};
    return {};
  }
  Result<std::vector<HostEntry>> hosts() override { return std::vector<HostEntry>(); }

 private:
  std::shared_ptr<Row> row_;
};

struct Fixture : ::testing::Test {
  std::unique_ptr<Keeper> keeper(const std::string& name,
                                 std::chrono::milliseconds stand_back = {}) {
    return std::make_unique<Keeper>(
        Keeper::Parts{.table = std::make_unique<FakeTable>(row),
                      .times = {150ms},
                      .self = {.name = name, .address = "http://" + name},
                      .stand_back = stand_back,
                      .clock = [row = row] { return BootTime(row->now); }});
  }
  static bool becomes(const Keeper& keeper, Role role) {
    return eventually([&] { return keeper.view().role == role; });
  }
  void advance(std::chrono::milliseconds time) { row->now += time.count(); }
  void set_reachable(bool reachable) {
    const std::lock_guard guard(row->mutex);
    row->reachable = reachable;
  }

  std::shared_ptr<Row> row = std::make_shared<Row>();
};

using LeaseKeeper = Fixture;

TEST_F(LeaseKeeper, without_a_table_nobody_leads_and_then_one_does) {
  set_reachable(false);
  const auto first = keeper("a");
  ASSERT_TRUE(eventually([&] { return first->view().problem == "away"; }));
  EXPECT_FALSE(first->may_act());
  set_reachable(true);
  ASSERT_TRUE(becomes(*first, Role::leading));
  EXPECT_TRUE(first->may_act());
  const auto second = keeper("b");
  ASSERT_TRUE(becomes(*second, Role::following));
  EXPECT_EQ(second->view().lead.address, "http://a");
  EXPECT_FALSE(second->may_act());
}

TEST_F(LeaseKeeper, one_that_has_a_problem_does_not_ask_and_says_why) {
  std::atomic<bool> sound = false;
  const Keeper one(Keeper::Parts{
      .table = std::make_unique<FakeTable>(row),
      .times = {150ms},
      .self = {.name = "a", .address = "http://a"},
      .describe = [&](HostEntry& self) { self.problem = sound ? "" : "the key is another"; },
      .clock = [row = row] { return BootTime(row->now); }});
  ASSERT_TRUE(eventually([&] {
    return one.view().problem.find("this one cannot: the key is another") != std::string::npos;
  }));
  EXPECT_EQ(one.view().role, Role::neither);
  sound = true;
  EXPECT_TRUE(becomes(one, Role::leading));
}

TEST_F(LeaseKeeper, one_that_was_stopped_for_longer_than_its_lease_may_not_act_when_it_goes_on) {
  const auto first = keeper("a");
  ASSERT_TRUE(becomes(*first, Role::leading));
  // In one moment, as a stopped process sees it: no thread of its own ran in between.
  {
    const std::lock_guard guard(row->mutex);
    advance(10s);
    EXPECT_FALSE(first->may_act()) << "before its thread had a chance to look";
  }
  ASSERT_TRUE(becomes(*first, Role::lost));
  const auto second = keeper("b");
  ASSERT_TRUE(becomes(*second, Role::leading));
  EXPECT_EQ(second->view().lead.epoch, 2);
  EXPECT_FALSE(first->may_act());
}

TEST_F(LeaseKeeper, one_that_cannot_renew_stops_before_its_lease_is_over) {
  const auto first = keeper("a");
  ASSERT_TRUE(becomes(*first, Role::leading));
  set_reachable(false);
  advance(121ms);  // the lease has 29 ms left
  EXPECT_FALSE(first->may_act());
  EXPECT_GT(row->expires, BootTime(row->now));
  EXPECT_TRUE(becomes(*first, Role::lost));
}

TEST_F(LeaseKeeper, a_superseded_one_learns_of_it_by_its_renewal) {
  const auto first = keeper("a");
  ASSERT_TRUE(becomes(*first, Role::leading));
  {
    const std::lock_guard guard(row->mutex);
    row->lead.epoch = 9;
  }
  EXPECT_TRUE(becomes(*first, Role::lost));
  EXPECT_FALSE(first->may_act());
}

TEST_F(LeaseKeeper, what_is_given_back_is_taken_at_once_and_not_by_who_stands_back) {
  auto first = keeper("a");
  ASSERT_TRUE(becomes(*first, Role::leading));
  first->stop_acting("hand-over");
  EXPECT_FALSE(first->may_act());
  first->release();
  first = keeper("a", 1h);
  const auto second = keeper("b");
  ASSERT_TRUE(becomes(*second, Role::leading));
  EXPECT_TRUE(becomes(*first, Role::following));
}

}  // namespace
}  // namespace muster::leadership
