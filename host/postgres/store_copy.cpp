#include "host/postgres/store_copy.hpp"

#include <algorithm>
#include <deque>
#include <memory>
#include <thread>

#include "host/leadership/keeper.hpp"
#include "host/postgres/lead_table.hpp"
#include "host/postgres/postgres_store.hpp"
#include "host/store/sqlite_connection.hpp"
#include "host/store/sqlite_schema.hpp"
#include "host/store/sqlite_store.hpp"

namespace muster::postgres {
namespace {

using store::Batch;
using store::Column;
using store::ColumnType;
using store::Store;
using store::Table;
using store::Value;

// The tables as the steps make them, with the texts that they point to.
struct KnownTables {
  std::deque<std::string> names;
  std::deque<std::vector<Column>> columns;
  std::deque<Table> tables;
};

ColumnType type_of(std::string_view word) {
  if (word == "INTEGER") return ColumnType::integer;
  return word == "REAL" ? ColumnType::real : ColumnType::text;
}

Result<KnownTables> known_tables() {
  auto model = store::sqlite::Connection::open(":memory:", store::sqlite::Access::create);
  if (!model) return model.error();
  if (auto made = store::sqlite::migrate(**model, store::migrations()); !made) return made.error();
  const auto names = store::sqlite::tables_of(**model);
  if (!names) return names.error();
  KnownTables known;
  for (const std::string& name : *names) {
    if (name == "migrations" || name.starts_with("sqlite_")) continue;
    auto statement =
        (*model)->prepare("SELECT name, type, pk FROM pragma_table_info('" + name + "')");
    if (!statement) return statement.error();
    auto& columns = known.columns.emplace_back();
    std::size_t key_columns = 0;
    for (;;) {
      const auto row = (*model)->step(statement->get());
      if (!row) return row.error();
      if (!*row) break;
      const auto text = [&](int column) {
        return std::string(
            reinterpret_cast<const char*>(sqlite3_column_text(statement->get(), column)));
      };
      columns.push_back({known.names.emplace_back(text(0)), type_of(text(1))});
      if (sqlite3_column_int(statement->get(), 2) > 0) ++key_columns;
    }
    known.tables.push_back({known.names.emplace_back(name), columns, key_columns});
  }
  return known;
}

Result<void> check_empty(const Store& store, const KnownTables& known) {
  for (const Table& table : known.tables) {
    bool any = false;
    auto scanned = store.scan({.table = &table, .limit = 1}, [&](auto) {
      any = true;
      return false;
    });
    if (!scanned) return scanned;
    if (any)
      return Error::config("the target is not empty (table " + std::string(table.name) +
                           " has rows): copy into a new database");
  }
  return {};
}

Result<std::int64_t> copy_table(const Store& from, Store& to, const Table& table) {
  constexpr std::size_t at_once = 5'000;
  std::int64_t rows = 0;
  Batch batch;
  Result<void> outcome;
  const auto scanned = from.scan({&table}, [&](std::span<const Value> values) {
    batch.emplace_back(store::Put{&table, {values.begin(), values.end()}});
    ++rows;
    if (batch.size() >= at_once) outcome = to.commit(std::exchange(batch, {}));
    return outcome.has_value();
  });
  if (scanned && outcome) outcome = to.commit(batch);
  if (!scanned) return scanned.error();
  if (!outcome) return outcome.error();
  return rows;
}

// Both are read in the order of the key, some rows at a time.
Result<void> compare_table(const Store& from, const Store& to, const Table& table) {
  std::vector<std::vector<Value>> wanted;
  auto read = from.scan({&table}, [&](std::span<const Value> values) {
    wanted.emplace_back(values.begin(), values.end());
    return true;
  });
  if (!read) return read;
  std::size_t next = 0;
  bool same = true;
  auto compared = to.scan({&table}, [&](std::span<const Value> values) {
    same = next < wanted.size() && std::ranges::equal(wanted[next], values);
    ++next;
    return same;
  });
  if (!compared) return compared;
  if (same && next == wanted.size()) return {};
  return Error::internal("the copy differs from the original in table " + std::string(table.name) +
                         ", row " + std::to_string(next) + ": do not use it, and report this");
}

// A store and what keeps hosts away from it.
struct Held {
  std::unique_ptr<leadership::Keeper> lead;
  std::unique_ptr<Store> store;
};

Result<Held> hold_postgres(const std::string& address) {
  Held held;
  ConnectionSettings settings{.address = address};
  settings.application_name = application_name("store copy");
  // As a host: the lead is renewed as long as the copy runs.
  held.lead = std::make_unique<leadership::Keeper>(
      leadership::Keeper::Parts{.table = lead_table(settings), .self = {.name = "store copy"}});
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (held.lead->view().role != leadership::Role::leading) {
    const leadership::View view = held.lead->view();
    if (view.role == leadership::Role::following)
      return Error::config("the host " + view.lead.holder +
                           " uses this database: stop all its hosts first");
    if (std::chrono::steady_clock::now() > until)
      return Error::transient("the database cannot be used: " + view.problem);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  auto opened =
      PostgresStore::open({.connection = settings, .epoch = held.lead->view().lead.epoch});
  if (!opened) return opened.error();
  held.store = std::move(*opened);
  return held;
}

Result<Held> hold(const std::string& name, bool must_exist) {
  constexpr std::string_view sqlite = "sqlite:", postgres = "postgres:";
  if (name.starts_with("postgresql://")) return hold_postgres(name);
  if (name.starts_with(postgres)) return hold_postgres(name.substr(postgres.size()));
  if (!name.starts_with(sqlite))
    return Error::config("\"" + name + "\" is no store: write sqlite:FILE or postgres:ADDRESS");
  const std::filesystem::path file = name.substr(sqlite.size());
  std::error_code ignored;
  if (must_exist && !std::filesystem::exists(file, ignored))
    return Error::config("there is no database " + file.string());
  auto opened = store::SqliteStore::open(file);
  if (!opened) return opened.error();
  return Held{nullptr, std::move(*opened)};
}

void let_go(Held& held) {
  if (!held.lead) return;
  held.lead->stop_acting("the copy is done");
  held.lead->release();
}

}  // namespace

Result<Copied> copy_store(const Store& from, Store& to) {
  const auto known = known_tables();
  if (!known) return known.error();
  if (auto empty = check_empty(to, *known); !empty) return empty.error();
  Copied copied{known->tables.size(), 0};
  for (const Table& table : known->tables) {
    const auto rows = copy_table(from, to, table);
    if (!rows) return rows.error();
    copied.rows += *rows;
  }
  for (const Table& table : known->tables)
    if (auto same = compare_table(from, to, table); !same) return same.error();
  return copied;
}

Result<Copied> copy_store(const std::string& from, const std::string& to) {
  auto source = hold(from, true);
  if (!source) return source.error();
  auto target = hold(to, false);
  if (!target) {
    let_go(*source);
    return target.error();
  }
  auto copied = copy_store(*source->store, *target->store);
  let_go(*source);
  let_go(*target);
  return copied;
}

}  // namespace muster::postgres
