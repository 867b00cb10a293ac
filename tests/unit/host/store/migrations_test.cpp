#include "host/store/migrations.hpp"

#include "tests/unit/host/store/test_tables.hpp"

namespace muster::store::testing {
namespace {

namespace fs = std::filesystem;
using muster::testing::TemporaryFolder;

SqliteSettings with(std::span<const Migration> migrations) {
  SqliteSettings settings;
  settings.migrations = migrations;
  return settings;
}

constexpr std::array good{steps[0], steps[1],
                          Migration{"ALTER TABLE things ADD COLUMN color TEXT; "
                                    "UPDATE things SET color = 'green'"}};
constexpr std::array bad{steps[0], steps[1],
                         Migration{"DELETE FROM things; ALTER TABLE nothing ADD COLUMN x TEXT"}};

constexpr std::array colored_columns{thing_columns[0], thing_columns[1], thing_columns[2],
                                     thing_columns[3], Column{"color", ColumnType::text}};
constexpr Table colored{"things", colored_columns, 1};

TEST(MigrationsTest, a_step_that_fails_leaves_the_database_as_it_was) {
  const TemporaryFolder folder;
  open_store(folder / "a.db")->commit({thing(1)}).value();
  const auto refused = SqliteStore::open(folder / "a.db", with(bad));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("to version 3 was undone"), std::string::npos)
      << refused.error().message;
  EXPECT_EQ(numbers_of(*open_store(folder / "a.db"), {&things}).size(), 1U);
}

TEST(MigrationsTest, an_old_database_is_updated_and_a_copy_of_it_is_kept) {
  const TemporaryFolder folder;
  open_store(folder / "a.db", with(std::span(steps).first(1)))->commit({thing(1, "a")}).value();
  {
    const auto store = open_store(folder / "a.db", with(good));
    EXPECT_EQ(rows_of(*store, {&colored}),
              (Rows{{std::int64_t{1}, "a", 1.5, std::int64_t{0}, "green"}}));
    EXPECT_TRUE(store->commit({part("new", 1)}));
  }
  EXPECT_FALSE(SqliteStore::open(folder / "a.db", test_settings())) << "an older muster took it";
  const auto copy = open_store(folder / "a.db.before-3", with(std::span(steps).first(1)));
  EXPECT_EQ(numbers_of(*copy, {&things}).size(), 1U);
}

TEST(MigrationsTest, without_a_step_to_make_no_copy_is_made) {
  const TemporaryFolder folder;
  open_store(folder / "a.db");
  open_store(folder / "a.db");
  for (const auto& entry : fs::directory_iterator(folder.path()))
    EXPECT_EQ(entry.path().string().find("before"), std::string::npos);
}

}  // namespace
}  // namespace muster::store::testing
