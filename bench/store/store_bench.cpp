// Durable worker changes per second (alone and with group commit, against the bare fsync of the
// same disk), and a start with a million workers. Where: the folder that is given, else the current
// one.
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <stdlib.h>
#include <sys/resource.h>
#include <thread>
#include <unistd.h>

#include "host/fleet/model/rows.hpp"
#include "host/store/committer.hpp"
#include "host/store/row.hpp"
#include "host/store/sqlite_store.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::store {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::int64_t fleet_size = 1'000'000;

double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

// As a worker of a cloud looks like.
fleet::WorkerRow worker(std::int64_t number) {
  fleet::WorkerRow row;
  const std::string pool = std::to_string(number % 10'000);
  row.number = number;
  row.worker_pool_id = WorkerPoolId("worker-manager/build-linux-" + pool);
  row.launch_config_id = LaunchConfigId("lc-0123456789abcdef" + pool);
  row.provider_id = ProviderId("ec2-us");
  row.worker_group = WorkerGroup("us-west-2");
  row.worker_id = WorkerId("i-0123456789a" + std::to_string(number));
  row.state = fleet::WorkerState::running;
  row.phase = fleet::LaunchPhase::launched;
  row.price = 0.3125;
  row.created = row.since = Time(1'700'000'000'000ms + std::chrono::milliseconds(number));
  row.registered = row.last_active = row.credentials_expire = row.created + 90s;
  row.reason = "the worker registered";
  row.provider_data = R"({"instanceType":"m5.large","zone":"us-west-2a","imageId":"ami-0123456"})";
  return row;
}

double bare_syncs(const fs::path& folder) {
  const FileDescriptor file(
      ::open((folder / "sync").c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  const std::string page(4096, 'x');
  int count = 0;
  const auto start = Steady::now();
  while (seconds_since(start) < 2) {
    if (::write(file.get(), page.data(), page.size()) < 0 || ::fdatasync(file.get()) != 0) return 0;
    ++count;
  }
  return count / seconds_since(start);
}

double alone(SqliteStore& store) {
  int count = 0;
  const auto start = Steady::now();
  while (seconds_since(start) < 3)
    if (store.commit({put(worker(count * 7919 % fleet_size))})) ++count;
  return count / seconds_since(start);
}

// Each submitter has one change under way at a time, as a request that waits for its answer.
double together(SqliteStore& store, int submitters) {
  const SystemClock clock;
  std::atomic<std::int64_t> durable = 0;
  Committer committer(store, clock, Log());
  const auto start = Steady::now();
  const auto end = start + 3s;
  std::function<void(std::int64_t)> submit = [&](std::int64_t number) {
    committer.submit({put(worker(number))}, [&, number] {
      ++durable;
      if (Steady::now() < end) submit((number + 7919) % fleet_size);
    });
  };
  for (std::int64_t i = 0; i < submitters; ++i) submit(i * 104'729 % fleet_size);
  std::this_thread::sleep_until(end);
  committer.stop(10s);
  return static_cast<double>(durable) / seconds_since(start);
}

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
  std::printf("%-56s %10.0f /s\n", "  one change, one commit", alone(*store));
  for (const int submitters : {1, 16, 128, 1024})
    std::printf("  group commit, %4d changes under way %19s %10.0f /s\n", submitters, "",
                together(*store, submitters));
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
