// Databases of every version that muster has made, opened with the store of today. The scripts in
// released/ are what those versions left; no script changes after its version was released.
#include <fstream>
#include <sstream>

#include <sqlite3.h>

#include "host/auth/client_row.hpp"
#include "host/events/model/event.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/fleet/model/times.hpp"
#include "host/queue/rows.hpp"
#include "host/store/row.hpp"
#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

class Database {
 public:
  explicit Database(const fs::path& file) { sqlite3_open(file.c_str(), &handle_); }
  ~Database() { sqlite3_close(handle_); }
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // All rows, the values of one row on one line.
  std::string lines(const std::string& sql) {
    std::string lines;
    char* problem = nullptr;
    sqlite3_exec(
        handle_, sql.c_str(),
        [](void* out, int columns, char** values, char**) {
          auto& text = *static_cast<std::string*>(out);
          for (int i = 0; i < columns; ++i)
            text += std::string(values[i] ? values[i] : "NULL") + "|";
          text += "\n";
          return 0;
        },
        &lines, &problem);
    EXPECT_EQ(problem, nullptr) << problem << " in " << sql;
    sqlite3_free(problem);
    return lines;
  }

 private:
  sqlite3* handle_ = nullptr;
};

std::vector<std::string> split(const std::string& lines) {
  std::vector<std::string> all;
  std::istringstream text(lines);
  for (std::string line; std::getline(text, line);) all.push_back(line.substr(0, line.size() - 1));
  return all;
}

constexpr const char* columns_sql =
    "SELECT t.name, c.name, c.type, c.pk, c.\"notnull\" FROM sqlite_schema t, "
    "pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name <> 'commits' ORDER BY 1, 2";
constexpr const char* indexes_sql =
    "SELECT name, tbl_name FROM sqlite_schema WHERE type = 'index' ORDER BY 1";

// Each table with the columns that it has in this database → its rows.
std::map<std::string, std::string> contents(Database& database,
                                            const std::map<std::string, std::string>& columns) {
  std::map<std::string, std::string> rows;
  for (const auto& [table, names] : columns)
    rows[table] = database.lines("SELECT " + names + " FROM " + table);
  return rows;
}

std::map<std::string, std::string> columns_of(Database& database) {
  std::map<std::string, std::string> columns;
  for (const std::string& table : split(database.lines(
           "SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'migrations'")))
    for (const std::string& column :
         split(database.lines("SELECT name FROM pragma_table_info('" + table + "')")))
      columns[table] += (columns[table].empty() ? "" : ", ") + column;
  return columns;
}

fs::path script_of(int version) {
  return fs::path(MUSTER_SOURCE "/tests/unit/host/store/released") /
         ("version_" + std::to_string(version) + ".sql");
}

void make_database(const fs::path& file, int version) {
  std::ifstream script(script_of(version));
  std::stringstream text;
  text << script.rdbuf();
  ASSERT_FALSE(text.str().empty()) << script_of(version);
  Database(file).lines(text.str());
}

template <class... Rows>
void read_all(const Store& store) {
  ([&] { EXPECT_TRUE(read_rows<Rows>(store, [](const Rows&) {})); }(), ...);
}

class ReleasedTest : public ::testing::TestWithParam<int> {};

TEST_P(ReleasedTest, a_database_of_this_version_keeps_every_row_and_gets_the_tables_of_today) {
  const TemporaryFolder folder;
  make_database(folder / "a.db", GetParam());
  std::map<std::string, std::string> columns, before;
  {
    Database old(folder / "a.db");
    ASSERT_EQ(old.lines("PRAGMA user_version"), std::to_string(GetParam()) + "|\n");
    columns = columns_of(old);
    before = contents(old, columns);
    for (const auto& [table, rows] : before) EXPECT_FALSE(rows.empty()) << table << " has no row";
  }
  {
    const auto store = open_store(folder / "a.db", {});
    read_all<fleet::HostRow, fleet::ApiPoolRow, fleet::PoolRow, fleet::LaunchConfigRow,
             fleet::WorkerRow, fleet::WorkerFactsRow, fleet::HoldRow, fleet::DecisionRow,
             fleet::PoolErrorRow, fleet::TimesRow, events::Event, events::DeliveryRow,
             events::DeadLetterRow, auth::ClientRow, queue::RequestRow, queue::TeamRow,
             queue::TeamPoolRow>(*store);
    for (const SetAside::Entry& row : store->set_aside().list()) ADD_FAILURE() << row.reason;
    EXPECT_TRUE(store->commit({put(fleet::HostRow{"later", "1"})}));
    EXPECT_TRUE(store->commit({erase<fleet::HostRow>({std::string("later")})}));
  }
  open_store(folder / "new.db", {});
  Database updated(folder / "a.db"), fresh(folder / "new.db");
  EXPECT_EQ(contents(updated, columns), before);
  EXPECT_EQ(updated.lines(columns_sql), fresh.lines(columns_sql));
  EXPECT_EQ(updated.lines(indexes_sql), fresh.lines(indexes_sql));
  EXPECT_EQ(updated.lines("PRAGMA user_version"), fresh.lines("PRAGMA user_version"));
}

INSTANTIATE_TEST_SUITE_P(, ReleasedTest, ::testing::Range(1, 8), [](const auto& version) {
  return "version_" + std::to_string(version.param);
});

TEST(ReleasedDatabases, a_database_of_a_newer_muster_is_refused_and_stays_as_it_is) {
  const TemporaryFolder folder;
  const int newest = static_cast<int>(migrations().size());
  open_store(folder / "a.db", {});
  {
    Database newer(folder / "a.db");
    newer.lines("INSERT INTO migrations VALUES (" + std::to_string(newest + 1) +
                ", '9.9.9'); PRAGMA user_version = " + std::to_string(newest + 1));
  }
  const auto refused = SqliteStore::open(folder / "a.db");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::config);
  for (const std::string& words :
       {std::string("written by muster 9.9.9"), "version " + std::to_string(newest + 1),
        "knows versions up to " + std::to_string(newest), std::string("install that muster again"),
        "a.db.before-" + std::to_string(newest + 1)})
    EXPECT_NE(refused.error().message.find(words), std::string::npos) << refused.error().message;
  EXPECT_EQ(Database(folder / "a.db").lines("PRAGMA user_version"),
            std::to_string(newest + 1) + "|\n");
}

}  // namespace
}  // namespace muster::store::testing
