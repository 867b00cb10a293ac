// The table of workers: whatever is changed through it, lists, indices, sums, timers and rows
// agree.
#include "host/fleet/workers/worker_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class Table : public ::testing::Test {
 protected:
  Table() {
    auto spec = std::make_shared<LaunchConfigSpec>();
    spec->provider_id = ProviderId("cloud");
    spec->launch_config.launch_config_id = LaunchConfigId("lc-1");
    launch_config = registry.add_launch_config(pool, spec, clock.now());
    auto next = std::make_shared<LaunchConfigSpec>(*spec);
    next->launch_config.launch_config_id = LaunchConfigId("lc-2");
    other_launch_config = registry.add_launch_config(pool, next, clock.now());
  }
  ~Table() override { EXPECT_EQ(table.check_sums(), ""); }

  Index add(std::int64_t number) {
    Worker worker;
    worker.number = number;
    worker.pool = pool;
    worker.launch_config = launch_config;
    worker.provider = registry.find_provider(ProviderId("cloud"));
    worker.capacity = 4;
    worker.created = worker.since = clock.now();
    return table.add(std::move(worker));
  }
  const Pool& of_pool() const { return registry.pools()[pool]; }

  Settings settings;
  HostIdentity identity{"host", 1};
  FleetClock clock{settings, {Time(24h), 1h}};
  Registry registry;
  Deadlines deadlines{settings, identity, clock, registry};
  WorkerTable table{clock, deadlines, registry};
  const Index pool = registry.index_of_pool(WorkerPoolId("p/w"));
  Index launch_config = no_index, other_launch_config = no_index;
};

TEST_F(Table, a_worker_is_counted_and_found_by_its_number) {
  const Index worker = add(7);
  EXPECT_EQ(table.find(7), worker);
  EXPECT_EQ(table.find(8), no_index);
  EXPECT_EQ(of_pool().totals.requested, 4);
  EXPECT_THAT(of_pool().workers, ElementsAre(worker));
  EXPECT_THAT(table.changed(), ElementsAre(worker));
}

TEST_F(Table, an_edit_moves_a_worker_between_sums_and_lists) {
  const Index first = add(1), second = add(2);
  WorkerEdit(table, first)->state = WorkerState::stopped;
  EXPECT_THAT(of_pool().workers, ElementsAre(second));
  EXPECT_THAT(of_pool().stopped, ElementsAre(first));
  EXPECT_EQ(of_pool().totals.requested, 4);
  WorkerEdit(table, first)->state = WorkerState::stopping;
  EXPECT_THAT(of_pool().workers, ElementsAre(second, first));
  EXPECT_THAT(of_pool().stopped, IsEmpty());
  EXPECT_EQ(of_pool().totals.stopping, 4);
}

TEST_F(Table, an_instance_is_found_by_its_name_from_the_edit_on) {
  const Index worker = add(1);
  const WorkerName name{WorkerPoolId("p/w"), WorkerGroup("us-1"), WorkerId("i-1")};
  EXPECT_FALSE(table.known(name));
  {
    WorkerEdit edit(table, worker);
    edit->group = registry.index_of_group("us-1");
    edit->worker_id = "i-1";
  }
  EXPECT_EQ(table.lookup(name), worker);
  EXPECT_THAT(table.find_all(name.worker_group, name.worker_id), SizeIs(1));
  EXPECT_EQ(table.lookup({WorkerPoolId("p/other"), name.worker_group, name.worker_id}), no_index);
}

TEST_F(Table, a_worker_that_gets_another_launch_configuration_counts_there) {
  const Index worker = add(1);
  WorkerEdit(table, worker)->launch_config = other_launch_config;
  EXPECT_EQ(registry.launch_configs()[launch_config].rows, 0);
  EXPECT_EQ(registry.launch_configs()[other_launch_config].rows, 1);
  EXPECT_EQ(registry.launch_configs()[other_launch_config].totals.requested, 4);
}

TEST_F(Table, a_slot_that_was_erased_is_used_again) {
  const Index worker = add(1);
  store::Batch changes;
  table.erase(worker, changes);
  EXPECT_THAT(changes, SizeIs(1));
  EXPECT_EQ(table.find(1), no_index);
  EXPECT_EQ(of_pool().totals, Totals{});
  EXPECT_THAT(table.changed(), IsEmpty());
  EXPECT_EQ(add(2), worker);
}

TEST_F(Table, a_load_changes_sums_and_is_not_written) {
  const Index worker = add(1);
  WorkerEdit(table, worker)->state = WorkerState::running;
  store::Batch changes;
  table.write_rows(changes);
  table.set_load(worker, 3);
  EXPECT_EQ(of_pool().totals.busy, 3);
  EXPECT_EQ(of_pool().totals.idle, 1);
  EXPECT_THAT(table.changed(), IsEmpty());
}

TEST_F(Table, a_row_is_written_once_for_many_edits) {
  const Index worker = add(1);
  WorkerEdit(table, worker)->reason = "one";
  WorkerEdit(table, worker)->reason = "two";
  store::Batch changes;
  table.write_rows(changes);
  EXPECT_THAT(changes, SizeIs(1));
  table.write_rows(changes);
  EXPECT_THAT(changes, SizeIs(1));
}

TEST_F(Table, a_worker_is_due_when_its_time_has_come_and_not_by_an_older_timer) {
  const Index worker = add(1);
  EXPECT_EQ(table.next_timer(), Time::max()) << "nothing is due before it is launched";
  WorkerEdit(table, worker)->state = WorkerState::stopped;
  EXPECT_EQ(table.next_timer(), clock.now() + settings.stopped_kept);
  clock.advance({clock.now() + settings.stopped_kept, 1h + settings.stopped_kept});
  EXPECT_EQ(table.take_due(), worker);
  EXPECT_EQ(table.take_due(), std::nullopt);
  table.set_timer_again(worker);
  EXPECT_EQ(table.next_timer(), clock.now() + 1s) << "what cannot be done now is tried again";
}

}  // namespace
}  // namespace muster::fleet
