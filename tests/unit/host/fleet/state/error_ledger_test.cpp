#include "host/fleet/state/error_ledger.hpp"

#include <gmock/gmock.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Time start = Time(1'000'000h);

WorkerName worker(const std::string& id, const std::string& pool = "p/a") {
  return {WorkerPoolId(pool), WorkerGroup("g"), WorkerId(id)};
}

PoolErrorRow row(std::int64_t number, const std::string& id, std::size_t bytes = 10) {
  return {.worker_pool_id = WorkerPoolId("p/a"),
          .number = number,
          .at = start + std::chrono::minutes(number),
          .kind = "k",
          .title = "t",
          .description = std::string(bytes, 'x'),
          .launch_config_id = LaunchConfigId("c"),
          .extra = {{"workerGroup", "g"}, {"workerId", id}}};
}

TEST(ErrorLedger, a_report_that_is_too_large_is_refused_with_the_limit) {
  ErrorLedger ledger({.extra_bytes = 100});
  const auto refused = ledger.admit(worker("a"), {{"log", std::string(100, 'x')}}, start);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::invalid);
  EXPECT_THAT(refused.error().message, HasSubstr("a report may have 100"));
  EXPECT_TRUE(ledger.admit(worker("a"), {{"log", std::string(80, 'x')}}, start));
}

TEST(ErrorLedger, a_worker_that_reports_too_often_is_refused_and_others_are_not) {
  ErrorLedger ledger({.at_once_of_worker = 3, .each_of_worker = 1min});
  int admitted = 0;
  for (int i = 0; i < 10; ++i) admitted += ledger.admit(worker("a"), {}, start) ? 1 : 0;
  EXPECT_EQ(admitted, 3);
  const auto refused = ledger.admit(worker("a"), {}, start);
  EXPECT_EQ(refused.error().error_class, ErrorClass::throttle);
  EXPECT_EQ(refused.error().hold, 60s);
  EXPECT_TRUE(ledger.admit(worker("b"), {}, start));
  EXPECT_TRUE(ledger.admit(worker("a"), {}, start + 1min));
  EXPECT_FALSE(ledger.admit(worker("a"), {}, start + 1min));
  // A clock that is set back gives nothing, and takes nothing.
  EXPECT_FALSE(ledger.admit(worker("a"), {}, start - 1h));
}

TEST(ErrorLedger, the_workers_of_a_pool_have_a_limit_together_and_other_pools_are_free) {
  ErrorLedger ledger({.at_once_of_worker = 3, .at_once_of_pool = 5});
  int admitted = 0;
  for (int i = 0; i < 100; ++i)
    admitted += ledger.admit(worker(std::to_string(i)), {}, start) ? 1 : 0;
  EXPECT_EQ(admitted, 5);
  EXPECT_TRUE(ledger.admit(worker("a", "p/b"), {}, start));
}

TEST(ErrorLedger, a_worker_displaces_its_own_reports_first) {
  ErrorLedger ledger({.kept_of_worker = 2, .kept_of_pool = 4});
  EXPECT_THAT(ledger.add(row(1, "other")), IsEmpty());
  EXPECT_THAT(ledger.add(row(2, "loud")), IsEmpty());
  EXPECT_THAT(ledger.add(row(3, "loud")), IsEmpty());
  EXPECT_THAT(ledger.add(row(4, "loud")), ElementsAre(2));
  EXPECT_THAT(ledger.add(row(5, "loud")), ElementsAre(3));
  EXPECT_THAT(ledger.add(row(6, "third")), IsEmpty());
  EXPECT_THAT(ledger.add(row(7, "fourth")), ElementsAre(1));
}

TEST(ErrorLedger, a_pool_keeps_so_many_bytes) {
  ErrorLedger ledger({.bytes_of_pool = 3'000});
  EXPECT_THAT(ledger.add(row(1, "a", 1'000)), IsEmpty());
  EXPECT_THAT(ledger.add(row(2, "b", 1'000)), IsEmpty());
  EXPECT_THAT(ledger.add(row(3, "c", 1'000)), ElementsAre(1));
  EXPECT_THAT(ledger.add(row(4, "d", 10'000)), ElementsAre(2, 3));
  EXPECT_THAT(ledger.add(row(5, "e", 10)), ElementsAre(4));
}

TEST(ErrorLedger, what_the_store_forgets_takes_no_place) {
  ErrorLedger ledger({.kept_of_pool = 2});
  EXPECT_THAT(ledger.add(row(1, "a")), IsEmpty());
  EXPECT_THAT(ledger.add(row(2, "b")), IsEmpty());
  ledger.forget_before(start + 2min);
  EXPECT_THAT(ledger.add(row(3, "c")), IsEmpty());
  EXPECT_THAT(ledger.add(row(4, "d")), ElementsAre(2));
}

}  // namespace
}  // namespace muster::fleet
