// worker_state_bench [RUNS] [FILE]: applies RUNS runs (two reports each) of 10 000 workers, first
// in memory alone, then a tenth of them with a database in FILE.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "host/store/sqlite_store.hpp"
#include "host/worker_state/run_table.hpp"

namespace {

using namespace muster;
using namespace muster::worker_state;
using namespace std::chrono_literals;
using Seconds = std::chrono::duration<double>;

const Time noon = Time(1'800'000'000'000ms);

std::size_t resident_bytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  in >> all >> resident;
  return resident * 4096;
}

RunReport report_of(int number, Outcome outcome) {
  const std::string digits = std::to_string(number), worker = std::to_string(number % 10'000);
  RunReport report{.task_id = std::string(22 - digits.size(), 'A') + digits,
                   .worker = {WorkerPoolId("proj/pool-" + std::to_string(number % 20)),
                              WorkerGroup("us-east-1"), WorkerId("i-0123456789abc" + worker)},
                   .outcome = outcome,
                   .started = noon + number * 1ms};
  if (outcome != Outcome::running) report.resolved = noon + number * 1ms + 1h;
  return report;
}

}  // namespace

int main(int count, char** arguments) {
  const int runs = count > 1 ? std::atoi(arguments[1]) : 1'000'000;
  const Retention all{.most_of_worker = 1'000'000'000,
                      .most_of_pool = 1'000'000'000,
                      .most_of_configuration = 1'000'000'000};
  const WorkerOrigin origin{"lc-1", "pools.toml"};
  const auto apply = [&](RunTable& table, int from, int to, store::Batch& changes, auto commit) {
    for (int i = from; i < to; ++i) {
      for (const Outcome outcome : {Outcome::running, Outcome::completed})
        if (!table.apply(report_of(i, outcome), origin, noon, changes)) std::abort();
      if (changes.size() >= 1000) commit();
    }
    commit();
  };
  {
    RunTable table(all);
    store::Batch changes;
    const std::size_t before = resident_bytes();
    const auto begin = std::chrono::steady_clock::now();
    apply(table, 0, runs, changes, [&] { changes.clear(); });
    const Seconds took = std::chrono::steady_clock::now() - begin;
    std::printf("%d runs in memory: %.1f bytes each, %.2f us for a report with its row\n", runs,
                static_cast<double>(resident_bytes() - before) / runs,
                took.count() * 1e6 / (2.0 * runs));
  }
  if (count < 3) return 0;
  const auto opened = store::SqliteStore::open(arguments[2]);
  if (!opened) return std::fprintf(stderr, "%s\n", opened.error().message.c_str()), 1;
  RunTable table(all);
  store::Batch changes;
  const int some = runs / 10;
  const auto begin = std::chrono::steady_clock::now();
  apply(table, 0, some, changes, [&] {
    if (!(*opened)->commit(changes)) std::abort();
    changes.clear();
  });
  const Seconds took = std::chrono::steady_clock::now() - begin;
  std::printf("%d reports durable in SQLite, a thousand in one commit: %.0f in a second\n",
              2 * some, 2.0 * some / took.count());
}
