// The rows of the fleet against the tables that the migrations make.
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "host/auth/client_row.hpp"
#include "host/auth/sessions.hpp"
#include "host/documentation/rows.hpp"
#include "host/events/model/event.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/history/history_keeper.hpp"
#include "host/queue/rows.hpp"
#include "host/store/migrations.hpp"
#include "host/store/row.hpp"
#include "host/worker_state/task_run.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

using muster::testing::TemporaryFolder;

// "name TYPE place in the key", one line for each column, in their order.
std::string written(const Table& table) {
  constexpr std::array types{"INTEGER", "REAL", "TEXT"};
  std::string lines;
  for (std::size_t i = 0; i < table.columns.size(); ++i)
    lines += std::string(table.columns[i].name) + " " +
             types[static_cast<std::size_t>(table.columns[i].type)] + " " +
             std::to_string(i < table.key_columns ? i + 1 : 0) + "\n";
  return lines;
}

// All rows of one column, as text.
std::string column(const std::filesystem::path& file, const std::string& sql) {
  sqlite3* database = nullptr;
  sqlite3_open(file.c_str(), &database);
  std::string lines;
  EXPECT_EQ(sqlite3_exec(
                database, sql.c_str(),
                [](void* out, int, char** values, char**) {
                  *static_cast<std::string*>(out) += std::string(values[0]) + "\n";
                  return 0;
                },
                &lines, nullptr),
            SQLITE_OK);
  sqlite3_close(database);
  return lines;
}

std::string found(const std::filesystem::path& file, std::string_view table) {
  return column(file, "SELECT name || ' ' || type || ' ' || pk FROM pragma_table_info('" +
                          std::string(table) + "') ORDER BY cid");
}

template <class Row>
class SchemaTest : public ::testing::Test {};

using FleetRows = ::testing::Types<
    fleet::HostRow, fleet::ApiPoolRow, fleet::PoolRow, fleet::LaunchConfigRow, fleet::WorkerRow,
    fleet::WorkerFactsRow, fleet::HoldRow, fleet::DecisionRow, fleet::PoolErrorRow, events::Event,
    events::DeliveryRow, events::DeadLetterRow, auth::ClientRow, documentation::DocumentationRow,
    documentation::DocumentationPieceRow, auth::SessionRow, history::HistoryRow,
    fleet::OutcomeHealthRow, queue::RequestRow, queue::TeamRow, queue::TeamPoolRow,
    worker_state::TaskRunRow, worker_state::ForgottenRunsRow, worker_state::SetAsideMessageRow>;
TYPED_TEST_SUITE(SchemaTest, FleetRows);

TYPED_TEST(SchemaTest, a_row_has_the_columns_that_its_table_has) {
  const TemporaryFolder folder;
  open_store(folder / "a.db", {});
  EXPECT_EQ(found(folder / "a.db", TypeParam::table), written(table_of<TypeParam>))
      << "a row changed: add a step to host/store/migrations.cpp";
}

TYPED_TEST(SchemaTest, a_row_comes_back_through_the_store) {
  const TemporaryFolder folder;
  const auto store = open_store(folder / "a.db", {});
  ASSERT_TRUE(store->commit({put(TypeParam{})}));
  std::vector<Put> read;
  const auto outcome =
      read_rows<TypeParam>(*store, [&](TypeParam row) { read.push_back(put(row)); });
  ASSERT_TRUE(outcome) << outcome.error().message;
  ASSERT_EQ(read.size(), 1U);
  EXPECT_EQ(read[0].row, put(TypeParam{}).row);
}

TEST(ReadRowsTest, a_row_with_a_value_that_means_nothing_is_set_aside_and_the_others_are_read) {
  MemoryStore store;
  Put worker = put(fleet::WorkerRow{});
  worker.row[6] = "sleeping";
  fleet::WorkerRow sound;
  sound.number = 7;
  ASSERT_TRUE(store.commit({worker, put(sound)}));
  std::vector<std::int64_t> numbers;
  for (int times = 0; times < 2; ++times)
    ASSERT_TRUE(read_rows<fleet::WorkerRow>(
        store, [&](const fleet::WorkerRow& row) { numbers.push_back(row.number); }));
  EXPECT_EQ(numbers, (std::vector<std::int64_t>{7, 7}));
  const auto entries = store.set_aside().list();
  ASSERT_EQ(entries.size(), 1U) << "the same row is one entry";
  EXPECT_EQ(entries[0].reason, "table workers: column state holds what does not belong there");
  EXPECT_EQ(entries[0].row, worker.row);
  EXPECT_FALSE(entries[0].check(entries[0].row));
}

TEST(Migrations, a_worker_of_before_was_launched_or_announced_by_its_owner) {
  const TemporaryFolder folder;
  SqliteSettings older;
  older.migrations = migrations().first(2);
  open_store(folder / "a.db", older);
  column(folder / "a.db", "INSERT INTO workers (number, expires) VALUES (1, NULL), (2, 5000)");
  open_store(folder / "a.db", {});
  EXPECT_EQ(column(folder / "a.db", "SELECT origin FROM workers ORDER BY number"),
            "launched\nowner\n");
}

}  // namespace
}  // namespace muster::store::testing
