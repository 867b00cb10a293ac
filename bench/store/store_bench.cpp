// Durable worker changes per second (alone and with group commit, against the bare fsync of the
// same disk), and a start with a million workers. Where: the folder that is given, else the current
// one.
#include <ctime>
#include <stdlib.h>
#include <sys/resource.h>

#include "bench/store/workload.hpp"
#include "host/store/sqlite_store.hpp"

namespace muster::store {
namespace {

namespace fs = std::filesystem;

Batch whole_fleet() {
  Batch batch;
  batch.reserve(fleet_size);
  for (std::int64_t i = 0; i < fleet_size; ++i) batch.emplace_back(put(worker(i)));
  return batch;
}

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

long peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

// Prints how long `work` took and how much of that this program computed itself.
template <class Work>
void timed(const char* what, Work work) {
  const auto start = Steady::now();
  const double cpu = cpu_seconds();
  const Result<void> outcome = work();
  std::printf("%-56s %10.2f s  (%.2f s of CPU)%s\n", what, seconds_since(start),
              cpu_seconds() - cpu, outcome ? "" : outcome.error().message.c_str());
}

void load(const SqliteStore& store) {
  timed("scan 1 000 000 workers",
        [&] { return store.scan({&table_of<fleet::WorkerRow>}, [](auto) { return true; }); });
  timed("read 1 000 000 workers as rows",
        [&] { return read_rows<fleet::WorkerRow>(store, [](const fleet::WorkerRow&) {}); });
  std::vector<fleet::WorkerRow> fleet;
  timed("read 1 000 000 workers into memory", [&] {
    return read_rows<fleet::WorkerRow>(
        store, [&](fleet::WorkerRow&& row) { fleet.push_back(std::move(row)); });
  });
}

std::unique_ptr<SqliteStore> open(const fs::path& file, SqliteSettings settings = {}) {
  const auto start = Steady::now();
  auto opened = SqliteStore::open(file, std::move(settings));
  if (!opened) throw std::runtime_error(opened.error().message);
  std::printf("%-56s %10.3f s\n", "open", seconds_since(start));
  return std::move(*opened);
}

void changes(const fs::path& folder, bool full) {
  SqliteSettings settings;
  settings.synchronous_full = full;
  const auto store = open(folder / "fleet.db", settings);
  std::printf("synchronous %s\n", full ? "FULL" : "NORMAL");
  print_changes(*store);
}

int run(const fs::path& where) {
  std::string name = (where / "store-bench-XXXXXX").string();
  if (!::mkdtemp(name.data())) return std::perror(name.c_str()), 1;
  const fs::path folder = name;
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  std::printf("%-56s %10.0f /s\n", "bare fdatasync of 4 KB on this disk", bare_syncs(folder));
  {
    const auto store = open(folder / "fleet.db");
    const Batch batch = whole_fleet();
    const auto start = Steady::now();
    if (const auto done = store->rebuild(batch); !done)
      throw std::runtime_error(done.error().message);
    std::printf("%-56s %10.2f s\n", "write 1 000 000 workers anew (rebuild)", seconds_since(start));
  }
  std::printf("%-56s %10.1f MB\n", "size of the file",
              static_cast<double>(fs::file_size(folder / "fleet.db")) / 1e6);
  load(*open(folder / "fleet.db"));
  {
    const auto store = open(folder / "fleet.db");
    const auto start = Steady::now();
    if (!store->backup(folder / "backup.db")) std::puts("the backup failed");
    std::printf("%-56s %10.2f s\n", "backup, checked", seconds_since(start));
  }
  changes(folder, true);
  changes(folder, false);
  std::printf("%-56s %10ld MB\n", "peak memory of this program", peak_megabytes());
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace muster::store

int main(int argc, char** argv) {
  return muster::store::run(argc > 1 ? argv[1] : ".");
}
