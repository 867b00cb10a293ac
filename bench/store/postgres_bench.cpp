// PostgreSQL beside SQLite and beside a loop of bare libpq, on the same disk in the same run:
// durable changes, the size of a batch against its time, and what it costs a host to follow and to
// take over. The server is started by this program.
#include <array>
#include <ctime>
#include <libpq-fe.h>
#include <stdexcept>

#include "bench/store/workload.hpp"
#include "host/postgres/postgres_store.hpp"
#include "host/postgres/replica.hpp"
#include "host/store/sqlite_store.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::store {
namespace {

constexpr std::array<const Table*, 1> followed{&table_of<fleet::WorkerRow>};

template <class T>
T value_or_throw(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

void must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// One row of one text, one transaction and one round trip for each.
double bare_libpq(const std::string& address) {
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(PQconnectdb(address.c_str()),
                                                                &PQfinish);
  const auto run = [&](const char* sql) { PQclear(PQexec(connection.get(), sql)); };
  run("CREATE TABLE bare (number bigint PRIMARY KEY, document text)");
  PQclear(PQprepare(connection.get(), "put",
                    "INSERT INTO bare VALUES ($1, $2) ON CONFLICT (number) DO UPDATE SET document "
                    "= EXCLUDED.document",
                    2, nullptr));
  const std::string document(300, 'x');
  std::int64_t count = 0;
  const auto start = Steady::now();
  while (seconds_since(start) < 3) {
    const std::string number = std::to_string(count * 7919 % fleet_size);
    const char* const values[] = {number.c_str(), document.c_str()};
    PGresult* const done = PQexecPrepared(connection.get(), "put", 2, values, nullptr, nullptr, 0);
    if (PQresultStatus(done) != PGRES_COMMAND_OK)
      throw std::runtime_error(PQerrorMessage(connection.get()));
    PQclear(done);
    ++count;
  }
  return static_cast<double>(count) / seconds_since(start);
}

void print_batches(Store& store) {
  std::int64_t number = 0;
  for (const int size : {1, 10, 100, 1000, 10'000}) {
    int commits = 0;
    const auto start = Steady::now();
    while (commits < 3 || seconds_since(start) < 1) {
      Batch batch;
      for (int i = 0; i < size; ++i) batch.emplace_back(put(worker(++number * 7919 % fleet_size)));
      must(store.commit(batch));
      ++commits;
    }
    const double each = seconds_since(start) / commits;
    std::printf("  batch of %5d changes %33s %10.2f ms %10.0f changes/s\n", size, "", each * 1000,
                size / each);
  }
}

void fill(Store& store, std::int64_t from, std::int64_t to) {
  while (from < to) {
    Batch batch;
    for (const auto end = std::min(from + 10'000, to); from < end; ++from)
      batch.emplace_back(put(worker(from)));
    must(store.commit(batch));
  }
}

// What a host that takes over must have read: everything if it did not follow, else what is new.
void print_reading(Store& store, const postgres::ConnectionSettings& connection) {
  std::int64_t there = 0;
  for (const std::int64_t workers : {1'000, 100'000, 1'000'000}) {
    auto start = Steady::now();
    fill(store, there, workers);
    const double filled = static_cast<double>(workers - there) / seconds_since(start);
    there = workers;
    postgres::Replica replica(connection, followed);
    start = Steady::now();
    must(replica.load());
    const double loaded = seconds_since(start);
    constexpr int changes = 1'000;
    for (int i = 0; i < changes; ++i) must(store.commit({put(worker(i))}));
    const double cpu = cpu_seconds();
    start = Steady::now();
    while (value_or_throw(replica.follow()) == postgres::Replica::Followed::more) continue;
    const double followed_in = seconds_since(start);
    const double of_follower = cpu_seconds() - cpu;
    std::printf(
        "  %7lld workers: written %8.0f /s, read anew %6.2f s; %d commits followed in %.1f ms, "
        "%.1f us of CPU each\n",
        static_cast<long long>(workers), filled, loaded, changes, followed_in * 1000,
        of_follower / changes * 1e6);
  }
}

int run() {
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  const testing::Postgres server(
      "fsync = on\nfull_page_writes = on\nshared_buffers = 256MB\nautovacuum = on");
  std::printf("%-56s %10.0f /s\n", "bare fdatasync of 4 KB on this disk",
              bare_syncs(server.folder()));
  {
    const testing::TemporaryFolder folder;
    std::puts("SQLite, synchronous FULL");
    const auto sqlite = value_or_throw(SqliteStore::open(folder / "fleet.db", {}));
    print_changes(*sqlite);
    print_batches(*sqlite);
  }
  std::printf("%-56s %10.0f /s\n", "bare libpq, one row in one transaction",
              bare_libpq(server.url(server.new_database())));
  std::puts("PostgreSQL, with the log for hosts that follow");
  postgres::StoreSettings settings;
  settings.connection.address = server.url(server.new_database());
  settings.followed = followed;
  const auto store = value_or_throw(postgres::PostgresStore::open(settings));
  print_changes(*store);
  print_batches(*store);
  must(store->commit({Erase{&table_of<fleet::WorkerRow>, {}}}));
  print_reading(*store, settings.connection);
  return 0;
}

}  // namespace
}  // namespace muster::store

int main() {
  return muster::store::run();
}
