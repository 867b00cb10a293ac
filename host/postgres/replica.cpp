#include "host/postgres/replica.hpp"

#include "host/postgres/connection.hpp"
#include "host/postgres/lead_row.hpp"
#include "host/postgres/schema.hpp"
#include "host/postgres/statements.hpp"
#include "host/postgres/values.hpp"

namespace muster::postgres {
namespace {

constexpr int commits_at_once = 64;

// One statement sees one moment. The first row is the commit that the copy has, if it is still
// there: by its token the copy knows that it is of the same past.
constexpr const char* read_changes =
    "SELECT lead.number, lead.token, log.number, log.token, "
    "CASE WHEN log.number > $1::bigint THEN log.changes ELSE '' END "
    "FROM muster_lead AS lead LEFT JOIN muster_changes AS log "
    "ON log.number >= $1::bigint AND log.number <= lead.number "
    "WHERE lead.id = 1 ORDER BY log.number LIMIT 65";

Error no_way_on(const std::string& why) {
  return Error::transient(why).with_code(std::string(Replica::gap));
}

}  // namespace

struct Replica::State {
  Result<Connection*> open();
  Result<Followed> follow();
  Result<Followed> take(const ResultPointer& rows);
  Result<void> load_all(Connection& from);
  static Result<void> load_table(Connection& from, const store::Table& table,
                                 store::MemoryStore& into);

  const ConnectionSettings settings;
  const FollowedTables tables;
  std::unique_ptr<Connection> connection = {};
  std::unique_ptr<store::MemoryStore> store = std::make_unique<store::MemoryStore>();
  std::int64_t number = -1;
  std::string token = {};
};

Replica::Replica(ConnectionSettings settings, FollowedTables tables)
    : state_(new State{std::move(settings), tables}) {}
Replica::~Replica() = default;

bool Replica::loaded() const {
  return state_->number >= 0;
}
std::int64_t Replica::number() const {
  return state_->number;
}
const store::MemoryStore& Replica::store() const {
  return *state_->store;
}
Result<Replica::Followed> Replica::follow() {
  return state_->follow();
}

Result<Connection*> Replica::State::open() {
  if (!connection) {
    auto opened = Connection::open(settings);
    if (!opened) return opened.error();
    if (auto made = make_host_tables(**opened); !made) return made.error();
    connection = std::move(*opened);
  }
  return connection.get();
}

Result<Replica::Followed> Replica::State::follow() {
  if (number < 0) return no_way_on("there is no copy yet");
  const auto opened = open();
  if (!opened) return opened.error();
  const std::optional<std::string> values[] = {std::to_string(number)};
  const auto rows = (*opened)->run(read_changes, values);
  if (!rows) {
    connection.reset();
    return rows.error();
  }
  return take(*rows);
}

Result<Replica::Followed> Replica::State::take(const ResultPointer& rows) {
  const int count = PQntuples(rows.get());
  if (count == 0) return no_way_on("the row of the leader is not there");
  const std::int64_t newest = number_field(rows, 0);
  const bool has_log = PQgetisnull(rows.get(), 0, 2) == 0;
  if (newest == number && field(rows, 1) == token) return Followed::nothing_new;
  // Before the first commit there is nothing to compare.
  const bool from_the_beginning = number == 0 && has_log && number_field(rows, 2) == 1;
  const bool same_past = has_log && number_field(rows, 2) == number && field(rows, 3) == token;
  if (!same_past && !from_the_beginning)
    return no_way_on("the changes since commit " + std::to_string(number) + " are not there");
  for (int row = from_the_beginning ? 0 : 1; row < count; ++row) {
    if (number_field(rows, 2, row) != number + 1)
      return no_way_on("commit " + std::to_string(number + 1) + " is not there");
    const std::string_view text(PQgetvalue(rows.get(), row, 4),
                                static_cast<std::size_t>(PQgetlength(rows.get(), row, 4)));
    const auto batch = from_text(text, tables);
    if (!batch) return no_way_on(batch.error().message);
    if (auto applied = store->commit(*batch); !applied) return no_way_on(applied.error().message);
    ++number;
    token = field(rows, 3, row);
  }
  if (number == newest) return Followed::changed;
  if (count > commits_at_once) return Followed::more;
  return no_way_on("commit " + std::to_string(newest) + " is not there");
}

Result<void> Replica::load() {
  const auto opened = state_->open();
  if (!opened) return opened.error();
  auto loaded = state_->load_all(**opened);
  if (!loaded) state_->connection.reset();  // with its transaction
  return loaded;
}

Result<void> Replica::State::load_all(Connection& from) {
  if (auto begun = from.run("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"); !begun)
    return begun.error();
  const auto lead = read_lead_row(from);
  if (!lead) return lead.error();
  auto fresh = std::make_unique<store::MemoryStore>();
  for (const store::Table* table : tables)
    if (auto read = load_table(from, *table, *fresh); !read) return read;
  if (auto ended = from.run("COMMIT"); !ended) return ended.error();
  store = std::move(fresh);
  number = lead->number;
  token = lead->token;
  return {};
}

// By a cursor, so that a large table is never in memory as a whole in the server's words.
Result<void> Replica::State::load_table(Connection& from, const store::Table& table,
                                        store::MemoryStore& into) {
  std::string names;
  for (const store::Column& column : table.columns)
    names += (names.empty() ? "" : ", ") + quoted(column.name);
  if (auto declared = from.run("DECLARE muster_copy NO SCROLL CURSOR FOR SELECT " + names +
                               " FROM " + quoted(table.name));
      !declared)
    return declared.error();
  for (;;) {
    const auto rows = from.run("FETCH 5000 FROM muster_copy");
    if (!rows) return rows.error();
    const int count = PQntuples(rows->get());
    store::Batch batch;
    for (int row = 0; row < count; ++row) {
      store::Put put{&table, std::vector<store::Value>(table.columns.size())};
      for (std::size_t i = 0; i < put.row.size(); ++i) {
        const int column = static_cast<int>(i);
        if (PQgetisnull(rows->get(), row, column) != 0) continue;
        const std::string_view text(
            PQgetvalue(rows->get(), row, column),
            static_cast<std::size_t>(PQgetlength(rows->get(), row, column)));
        if (!from_text(text, table.columns[i].type, put.row[i])) put.row[i] = std::string(text);
      }
      batch.emplace_back(std::move(put));
    }
    if (auto taken = into.commit(batch); !taken) return taken;
    if (count == 0) break;
  }
  if (auto closed = from.run("CLOSE muster_copy"); !closed) return closed.error();
  return {};
}

}  // namespace muster::postgres
