#include "host/postgres/postgres_store.hpp"

#include <algorithm>
#include <limits>
#include <mutex>

#include "host/postgres/change_log.hpp"
#include "host/postgres/errors.hpp"
#include "host/postgres/lead_row.hpp"
#include "host/postgres/pipeline.hpp"
#include "host/postgres/schema.hpp"
#include "host/postgres/values.hpp"
#include "host/store/checks.hpp"
#include "lib/base/secret.hpp"

namespace muster::postgres {

using store::Batch;
using store::Change;
using store::Scan;
using store::Table;
using store::Value;

namespace {

using ParameterValues = std::vector<std::optional<std::string>>;

ParameterValues parameters_of(std::span<const Value> values) {
  ParameterValues parameters;
  parameters.reserve(values.size() + 1);
  for (const Value& value : values) parameters.push_back(to_parameter(value));
  return parameters;
}

Result<void> send(Pipeline& pipeline, const store::Put& put) {
  return pipeline.send(StatementKey{put.table, StatementKind::put, 0, false},
                       parameters_of(put.row));
}

Result<void> send(Pipeline& pipeline, const store::Erase& erase) {
  return pipeline.send(StatementKey{erase.table, StatementKind::erase, erase.key.size(), false},
                       parameters_of(erase.key));
}

Result<void> send(Pipeline& pipeline, const store::EraseBelow& erase) {
  const Value bound = erase.bound;
  return pipeline.send(StatementKey{erase.table, StatementKind::erase_below,
                                    *store::index_of(*erase.table, erase.column), false},
                       parameters_of({&bound, 1}));
}

bool has_code(const Error& error, std::string_view code) {
  return error.code == code;
}

// Ends the scan's answers when the sink wants no more: the rest may be a whole table.
enum class Scanned { all, ended_early };

Result<Scanned> read_answers(Connection& connection, const Scan& scan, const store::RowSink& sink,
                             bool& began) {
  std::vector<Value> values(scan.table->columns.size());
  std::optional<Error> error;
  for (;;) {
    while (PQisBusy(connection.handle()) == 1)
      if (auto waited = connection.wait(false, connection.deadline()); !waited)
        return waited.error();
    const ResultPointer row(PQgetResult(connection.handle()));
    if (!row) break;
    if (PQresultStatus(row.get()) == PGRES_FATAL_ERROR && !error)
      error = connection.failure(row.get());
    if (PQresultStatus(row.get()) != PGRES_SINGLE_TUPLE || error) continue;
    began = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int column = static_cast<int>(i);
      if (PQgetisnull(row.get(), 0, column) != 0) {
        values[i].emplace<std::monostate>();
        continue;
      }
      const std::string_view text(PQgetvalue(row.get(), 0, column),
                                  static_cast<std::size_t>(PQgetlength(row.get(), 0, column)));
      if (!from_text(text, scan.table->columns[i].type, values[i])) values[i] = std::string(text);
    }
    if (!sink(values)) return Scanned::ended_early;
  }
  if (error) return *error;
  if (connection.broken()) return connection.failure();
  return Scanned::all;
}

Result<Scanned> run_scan(Connection& connection, const Scan& scan, const store::RowSink& sink,
                         bool& began) {
  const StatementKey key{scan.table, scan.beyond ? StatementKind::scan_beyond : StatementKind::scan,
                         scan.prefix.size(), scan.backwards};
  const auto name = connection.prepare(key);
  if (!name) return name.error();
  ParameterValues parameters = parameters_of(scan.prefix);
  if (scan.beyond) parameters.push_back(to_parameter(*scan.beyond));
  constexpr std::size_t most = std::numeric_limits<std::int64_t>::max();
  const bool limited = scan.limit && *scan.limit <= most;
  parameters.push_back(limited ? std::optional(std::to_string(*scan.limit)) : std::nullopt);
  const auto pointers = pointers_to(parameters);
  if (PQsendQueryPrepared(connection.handle(), name->c_str(), static_cast<int>(pointers.size()),
                          pointers.data(), nullptr, nullptr, 0) == 0 ||
      PQsetSingleRowMode(connection.handle()) == 0)
    return connection.failure();
  while (PQflush(connection.handle()) == 1)
    if (auto waited = connection.wait(true, connection.deadline()); !waited) return waited.error();
  return read_answers(connection, scan, sink, began);
}

// Connections that nobody uses now, for scans, which may come from any thread and within another.
class ReaderConnections {
 public:
  std::unique_ptr<Connection> take() {
    const std::lock_guard guard(mutex_);
    if (idle_.empty()) return nullptr;
    auto taken = std::move(idle_.back());
    idle_.pop_back();
    return taken;
  }
  void give_back(std::unique_ptr<Connection> connection) {
    constexpr std::size_t most_idle = 4;
    const std::lock_guard guard(mutex_);
    if (idle_.size() < most_idle) idle_.push_back(std::move(connection));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace

struct PostgresStore::State {
  explicit State(StoreSettings chosen) : settings(std::move(chosen)), mark(settings.mark) {}

  // The connection that writes, made again if it was lost; then `number` is what the row says.
  Result<void> connect();
  Result<void> judge(const LeadRow& row) const;
  void compare_with_mark();
  Result<void> write(const Batch& batch, const std::string& token);
  Result<void> one_attempt(const Batch& batch, const std::string& token);
  Error refused();
  bool is_ours(const std::string& token) const {
    return std::ranges::find(unanswered, token) != unanswered.end();
  }
  void committed();

  const StoreSettings settings;
  store::CommitMark mark;
  std::unique_ptr<Connection> writer;
  std::int64_t number = -1;             // of the last commit; -1: not known yet
  std::vector<std::string> unanswered;  // tokens of commits that may still appear
  std::optional<store::MissingCommits> missing;
  std::string database;
  std::string asynchronous;  // why acknowledged changes may be lost
  mutable ReaderConnections readers;
};

PostgresStore::PostgresStore(std::unique_ptr<State> state) : state_(std::move(state)) {}
PostgresStore::~PostgresStore() = default;

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(StoreSettings settings) {
  auto state = std::make_unique<State>(std::move(settings));
  auto connection = Connection::open(state->settings.connection);
  if (!connection) return connection.error();
  if (auto made = make_host_tables(**connection); !made) return made.error();
  if (auto updated = migrate(**connection, state->settings.migrations); !updated)
    return updated.error();
  const auto synchronous = (*connection)->run("SHOW synchronous_commit");
  if (!synchronous) return synchronous.error();
  if (field(*synchronous, 0) == "off")
    state->asynchronous =
        "the database runs with synchronous_commit = off: acknowledged changes are lost if its "
        "server crashes";
  state->writer = std::move(*connection);
  if (auto connected = state->connect(); !connected) return connected.error();
  state->compare_with_mark();
  return std::unique_ptr<PostgresStore>(new PostgresStore(std::move(state)));
}

Result<void> PostgresStore::State::connect() {
  if (writer && number >= 0) return {};
  if (!writer) {
    auto opened = Connection::open(settings.connection);
    if (!opened) return opened.error();
    writer = std::move(*opened);
  }
  const auto row = read_lead_row(*writer);
  if (!row) {
    writer.reset();
    return row.error();
  }
  database = writer->database();
  if (auto ours = judge(*row); !ours) {
    writer.reset();
    return ours;
  }
  number = row->number;
  return {};
}

// Whether the row is as this store left it, or as one of its unanswered commits did.
Result<void> PostgresStore::State::judge(const LeadRow& row) const {
  const auto gone = [](std::string sentence) {
    return Error::transient(std::move(sentence)).with_code(std::string(superseded));
  };
  if (settings.epoch && row.epoch != *settings.epoch)
    return gone("this host no longer leads: " + row.holder + " does, since epoch " +
                std::to_string(row.epoch) + " (this was " + std::to_string(*settings.epoch) + ")");
  if (number < 0 || row.number == number || (row.number > number && is_ours(row.token))) return {};
  if (row.number > number)
    return gone("the database " + database +
                " was changed by another program: stop that, and start the host again");
  return gone("the database " + database + " ends with change " + std::to_string(row.number) +
              ", but change " + std::to_string(number) +
              " was acknowledged: a standby without the newest changes was promoted, or a backup "
              "was restored. The host must start again from what is there");
}

void PostgresStore::State::compare_with_mark() {
  if (settings.mark.empty()) return;
  const auto expected = mark.read();
  if (!expected || expected->number <= number) return;
  missing = {{number, settings.clock->now()}, *expected};
  settings.log.error(store::to_string(*missing, database),
                     {{"first", number + 1}, {"last", expected->number}});
}

void PostgresStore::State::committed() {
  unanswered.clear();  // the row moved on: none of them can commit any more
  if (!settings.mark.empty()) mark.write({number, settings.clock->now()});
}

Result<void> PostgresStore::State::write(const Batch& batch, const std::string& token) {
  Pipeline pipeline(*writer);
  if (auto begun = pipeline.begin(); !begun) return begun;
  if (auto sent = pipeline.send("BEGIN"); !sent) return sent;
  for (const Change& change : batch)
    if (auto sent = std::visit([&](const auto& one) { return send(pipeline, one); }, change); !sent)
      return sent;
  // Last, because from here to the commit nobody else can lead.
  const ParameterValues parameters{
      token, std::to_string(number),
      settings.epoch ? std::optional(std::to_string(*settings.epoch)) : std::nullopt,
      settings.followed.empty() ? std::nullopt : std::optional(to_text(batch, settings.followed))};
  if (!settings.followed.empty() && number % commits_between_prunings == 0)
    if (auto sent = pipeline.send(prune_changes, {{parameters[1]}}); !sent) return sent;
  if (auto sent = pipeline.send(record_commit, parameters); !sent) return sent;
  if (auto sent = pipeline.send("COMMIT"); !sent) return sent;
  return pipeline.finish();
}

// Why the row did not take the commit.
Error PostgresStore::State::refused() {
  writer.reset();
  if (auto connected = connect(); !connected) return connected.error();
  return Error::transient("an earlier commit has arrived late: try again")
      .with_code(std::string(serialization));
}

Result<void> PostgresStore::State::one_attempt(const Batch& batch, const std::string& token) {
  if (auto connected = connect(); !connected) return connected;
  auto written = write(batch, token);
  if (written) {
    ++number;
    committed();
    return {};
  }
  writer.reset();  // its transaction ends with it
  if (has_code(written.error(), commit_not_recorded)) return refused();
  if (!has_code(written.error(), connection_lost)) return written;
  // Nobody knows whether it was committed: ask. If not even that is possible, the next attempt
  // begins with it.
  unanswered.push_back(token);
  const std::int64_t before = number;
  if (auto connected = connect(); !connected) return connected;
  if (number == before) return written;  // it is not there, and is tried again
  settings.log.info("the connection to the database was lost in a commit, which is there",
                    {{"number", number}});
  committed();
  return {};
}

Result<void> PostgresStore::commit(const Batch& batch) {
  if (auto fits = store::check(batch); !fits) return fits;
  if (batch.empty()) return {};
  const std::string token = random_token().reveal();
  auto outcome = state_->one_attempt(batch, token);
  if (outcome) return outcome;
  const bool passes =
      has_code(outcome.error(), connection_lost) || has_code(outcome.error(), serialization);
  return passes ? state_->one_attempt(batch, token) : outcome;
}

Result<void> PostgresStore::scan(const Scan& scan, const store::RowSink& sink) const {
  if (auto fits = store::check(scan); !fits) return fits;
  for (bool again = false;; again = true) {
    auto connection = again ? nullptr : state_->readers.take();
    const bool kept = connection != nullptr;
    if (!connection) {
      auto opened = Connection::open(state_->settings.connection);
      if (!opened) return opened.error();
      connection = std::move(*opened);
    }
    bool began = false;
    const auto scanned = run_scan(*connection, scan, sink, began);
    if (scanned) {
      if (*scanned == Scanned::all) state_->readers.give_back(std::move(connection));
      return {};
    }
    // One that was kept may have been closed by the server meanwhile.
    if (!kept || began || !has_code(scanned.error(), connection_lost)) return scanned.error();
  }
}

Result<void> PostgresStore::backup(const std::string&) const {
  return Error::unsupported(
      "the store is in PostgreSQL: back it up there, with pg_dump or with a base backup and its "
      "write-ahead log (docs/high-availability.md), or copy it with `muster store copy`");
}

std::string PostgresStore::notice() const {
  std::string text = state_->asynchronous;
  if (state_->missing)
    text += (text.empty() ? "" : "; ") + store::to_string(*state_->missing, state_->database);
  return text;
}

const std::optional<store::MissingCommits>& PostgresStore::missing() const {
  return state_->missing;
}

}  // namespace muster::postgres
