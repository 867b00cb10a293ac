// A store with rows that cannot be read: the others load, decisions go on, and nothing is launched
// twice or ended because of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "host/store/row.hpp"
#include "tests/unit/host/fleet/fleet_driver.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using Contents = store::MemoryStore::Contents;

const PoolSketch good{.id = "p/w", .launch_configs = {{"lc-1"}}, .max_capacity = 3};
const PoolSketch other{.id = "p/x", .launch_configs = {{"lc-2"}}, .max_capacity = 3};

// Both pools have two workers that run.
FleetDriver running_fleet() {
  FleetDriver driver = simple_fleet(good);
  driver.configure({good, other});
  driver.demand({{"p/w", 2}, {"p/x", 2}});
  driver.demand({{"p/w", 0}, {"p/x", 0}});
  driver.register_all();
  EXPECT_EQ(driver.cloud().instances.size(), 4u);
  return driver;
}

template <class Row>
std::size_t column_of(std::string_view name) {
  const auto& columns = store::table_of<Row>.columns;
  for (std::size_t i = 0; i < columns.size(); ++i)
    if (columns[i].name == name) return i;
  return columns.size();
}

// Spoils a column of the first row that the table has, or of the first with this key.
template <class Row>
void spoil(Contents& contents, std::string_view column, store::Value value,
           const std::vector<store::Value>& key = {}) {
  auto& table = contents[std::string(Row::table)];
  const auto at = key.empty() ? table.begin() : table.lower_bound(key);
  ASSERT_NE(at, table.end()) << Row::table;
  auto row = std::make_shared<store::MemoryStore::Row>(*at->second);
  row->at(column_of<Row>(column)) = std::move(value);
  const std::vector<store::Value> moved(row->begin(), row->begin() + Row::key_columns);
  table.erase(at);
  table[moved] = std::move(row);
}

void restart_with(FleetDriver& driver, Contents contents) {
  driver.crash_into(std::make_shared<store::MemoryStore>(std::move(contents)));
}

std::vector<std::string> tables_set_aside(FleetDriver& driver) {
  std::vector<std::string> tables;
  for (const auto& entry : driver.store().set_aside().list())
    tables.emplace_back(entry.table->name);
  return tables;
}

// After a restart: listings come, demand comes, time passes.
void live_on(FleetDriver& driver) {
  driver.start_again();
  driver.demand({{"p/w", 9}, {"p/x", 9}});
  for (int i = 0; i < 5; ++i) driver.advance(1min);
}

TEST(SetAside, a_worker_that_cannot_be_read_counts_and_its_instance_stays) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  const std::string spoilt =
      driver.pool("p/w").workers.empty()
          ? ""
          : driver.fleet().workers()[driver.pool("p/w").workers[0]].worker_id;
  const std::int64_t number = driver.worker(spoilt)->number;
  spoil<WorkerRow>(contents, "state", std::string("asleep"), {number});
  restart_with(driver, std::move(contents));
  EXPECT_EQ(tables_set_aside(driver), std::vector<std::string>{"workers"});
  EXPECT_EQ(driver.worker(spoilt), nullptr);
  live_on(driver);
  EXPECT_TRUE(driver.cloud().instances.contains(spoilt)) << "nobody ended it";
  std::size_t of_pool = 0;
  for (const auto& [id, instance] : driver.cloud().instances)
    of_pool += instance.worker_pool_id == WorkerPoolId("p/w") ? 1 : 0;
  EXPECT_EQ(of_pool, 3u) << "the limit of the pool, with the one that cannot be read";
  EXPECT_EQ(driver.rows("workers") >= 6, true) << "the row is still there";
  driver.crash();
  EXPECT_EQ(tables_set_aside(driver), std::vector<std::string>{"workers"});
}

TEST(SetAside, a_pool_that_cannot_be_read_keeps_its_workers_and_the_others_go_on) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  spoil<PoolRow>(contents, "workerPoolId", std::string("p/\xff"), {std::string("p/x")});
  spoil<PoolRow>(contents, "spec", std::string("{"), {std::string("p/\xff")});
  restart_with(driver, std::move(contents));
  EXPECT_THAT(tables_set_aside(driver), Contains("pools"));
  EXPECT_EQ(driver.pool("p/w").workers.size(), 2u);
  driver.start_again();
  driver.demand({{"p/w", 9}});
  for (int i = 0; i < 5; ++i) driver.advance(1min);
  EXPECT_EQ(driver.pool("p/w").workers.size(), 3u) << "decisions go on";
}

TEST(SetAside, a_pool_with_a_broken_definition_is_not_dropped_and_not_doubled) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  const auto before = driver.cloud().ids();
  spoil<PoolRow>(contents, "spec", std::string("[1"), {std::string("p/x")});
  restart_with(driver, std::move(contents));
  EXPECT_THAT(tables_set_aside(driver), Contains("launch_configs"));
  live_on(driver);  // the files bring the pool again
  for (const std::string& id : before) EXPECT_TRUE(driver.cloud().instances.contains(id)) << id;
  EXPECT_EQ(driver.cloud().instances.size(), 6u) << "three for each pool, which is the limit";
}

TEST(SetAside, one_bad_row_of_each_kind_and_the_rest_is_there) {
  FleetDriver driver = running_fleet();
  ASSERT_TRUE(driver.fleet().request_worker(
      {.team = queue::TeamId("a"), .pool = WorkerPoolId("p/none")}, driver.now()));
  ASSERT_TRUE(driver.fleet().request_worker(
      {.team = queue::TeamId("b"), .pool = WorkerPoolId("p/none")}, driver.now()));
  driver.settle();
  Contents contents = driver.store().contents();
  contents["holds"][{std::string("cloud"), std::string("zone=a")}] =
      std::make_shared<store::MemoryStore::Row>(
          store::put(HoldRow{.provider_id = ProviderId("cloud"),
                             .scope = "zone=a",
                             .error_class = "capacity",
                             .message = "\xff",
                             .code = ""})
              .row);
  contents["teams"][{std::string("c")}] = std::make_shared<store::MemoryStore::Row>(
      store::put(queue::TeamRow{.team = queue::TeamId("c\xfe")}).row);
  contents["worker_facts"][{std::int64_t{1}}] = std::make_shared<store::MemoryStore::Row>(
      std::initializer_list<store::Value>{std::int64_t{1}, std::string("no JSON")});
  spoil<queue::RequestRow>(contents, "state", std::string("lost"));
  spoil<events::Event>(contents, "text", std::string("\xff"));
  spoil<DecisionRow>(contents, "document", std::string("nothing"));
  spoil<LaunchConfigRow>(contents, "status", std::string("?"),
                         {std::string("p/x"), std::string("lc-2")});
  restart_with(driver, std::move(contents));
  for (const char* table :
       {"holds", "teams", "worker_facts", "requests", "launch_configs", "workers"})
    EXPECT_THAT(tables_set_aside(driver), Contains(table));
  EXPECT_EQ(driver.pool("p/w").workers.size(), 2u);
  std::size_t waiting = 0;
  for (const queue::Request& request : driver.fleet().queue().requests())
    waiting += request.number != 0 ? 1 : 0;
  EXPECT_EQ(waiting, 1u);
  live_on(driver);
  EXPECT_EQ(driver.pool("p/w").workers.size(), 3u);
  EXPECT_EQ(driver.cloud().instances.size(), 6u);
}

TEST(SetAside, numbers_are_given_once_though_the_row_that_counts_them_is_lost) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  contents["host"].erase({std::string("nextNumber")});
  std::int64_t largest = 0;
  for (const Worker& worker : driver.fleet().workers()) largest = std::max(largest, worker.number);
  restart_with(driver, std::move(contents));
  live_on(driver);
  std::set<std::int64_t> numbers;
  for (const Worker& worker : driver.fleet().workers())
    EXPECT_TRUE(worker.number == 0 || numbers.insert(worker.number).second) << worker.number;
  EXPECT_GT(*numbers.rbegin(), largest);
}

TEST(SetAside, a_host_that_does_not_know_who_it_is_does_not_start) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  spoil<HostRow>(contents, "value", std::string("\xff"), {std::string("hostId")});
  const store::MemoryStore store(std::move(contents));
  const auto refused = Fleet::load(store, {}, "host", driver.now());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("which instances are this host's"));
}

TEST(SetAside, a_row_that_is_discarded_counts_no_more) {
  FleetDriver driver = running_fleet();
  Contents contents = driver.store().contents();
  const std::int64_t number = driver.fleet().workers()[driver.pool("p/w").workers[0]].number;
  spoil<WorkerRow>(contents, "phase", std::string("?"), {number});
  restart_with(driver, std::move(contents));
  const auto entry = driver.store().set_aside().find(1);
  ASSERT_TRUE(entry);
  driver.store().set_aside().forget(1);
  driver.fleet().change_row(store::erase<WorkerRow>({number}), driver.store().set_aside());
  live_on(driver);
  EXPECT_EQ(driver.pool("p/w").workers.size(), 3u);
  driver.crash();
  EXPECT_TRUE(tables_set_aside(driver).empty());
}

}  // namespace
}  // namespace muster::fleet
