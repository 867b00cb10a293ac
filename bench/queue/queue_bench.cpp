// How fast the queue hands out workers: from request to grant when workers are free, from release
// to the next grant when 100 000 requests of 1000 teams wait, and both with everything durable.
// Where: the folder that is given, else the current one.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <malloc.h>
#include <stdlib.h>
#include <vector>

#include "host/queue/queue.hpp"
#include "host/store/sqlite_store.hpp"

namespace muster::queue {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr int teams = 1000;
constexpr int waiting = 100'000;
constexpr int workers = 1000;
constexpr std::int64_t capacity = 8;

double microseconds_since(Steady::time_point start) {
  return std::chrono::duration<double, std::micro>(Steady::now() - start).count();
}

std::size_t bytes_in_use() {
  return mallinfo2().uordblks;
}

struct Spread {
  std::vector<double> times;  // microseconds

  double at(double share) {
    std::ranges::sort(times);
    return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
  }
  void print(const char* what) {
    double sum = 0;
    for (const double time : times) sum += time;
    std::printf("%-58s %9.0f/s   p50 %7.1f us   p99 %7.1f us   most %8.1f us\n", what,
                1e6 * static_cast<double>(times.size()) / sum, at(0.5), at(0.99), at(1));
  }
};

// As a build system asks: for one of its team's pools, with a little of another resource.
NewRequest ask_of(int team, std::int64_t number) {
  NewRequest ask{.team = TeamId("team-" + std::to_string(team))};
  ask.needs.others = {{"memory", 1 + number % 4}};
  ask.token = "0123456789abcdef" + std::to_string(number);
  ask.client = "builds/" + std::to_string(team);
  return ask;
}

void add_workers(Queue& queue, Time now) {
  for (std::int64_t i = 0; i < workers; ++i)
    queue.offer({.number = 1'000'000'000 + i,
                 .pool = WorkerPoolId("worker-manager/build-" + std::to_string(i % 10)),
                 .place = "zone-" + std::to_string(i % 3),
                 .has = {capacity, {{"memory", 64}}}},
                now);
}

// Every change goes to `write` before the next one.
template <class Write>
void free_workers(const char* what, Write write) {
  Queue queue;
  Time now{1'700'000'000s};
  add_workers(queue, now);
  write(queue.take_changes(now));
  Spread spread;
  std::int64_t number = 1;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::int64_t> held;
    for (int i = 0; i < workers; ++i, ++number) {
      const auto start = Steady::now();
      held.push_back(*queue.request(ask_of(i % teams, number), number, now));
      write(queue.take_changes(now));
      spread.times.push_back(microseconds_since(start));
      now += 1ms;
    }
    for (const std::int64_t request : held) (void)queue.release(request, now);
    write(queue.take_changes(now));
  }
  spread.print(what);
}

void long_line() {
  Queue queue;
  Time now{1'700'000'000s};
  add_workers(queue, now);
  std::int64_t number = 1;
  std::vector<std::int64_t> held;
  for (std::int64_t i = 0; i < workers * capacity; ++i, ++number)
    held.push_back(*queue.request(ask_of(static_cast<int>(number % teams), number), number, now));
  (void)queue.take_changes(now);
  (void)queue.take_settled();
  const std::size_t before = bytes_in_use();
  const auto start = Steady::now();
  for (int i = 0; i < waiting; ++i, ++number)
    (void)queue.request(ask_of(static_cast<int>(number % teams), number), number, now);
  std::printf("%-58s %9.0f/s\n", "requests that have to wait",
              1e6 * waiting / microseconds_since(start));
  (void)queue.take_changes(now);
  std::printf("%-58s %9.0f bytes\n", "memory of one that waits",
              static_cast<double>(bytes_in_use() - before) / waiting);
  Spread spread;
  for (std::size_t i = 0; i < 50'000; ++i) {
    now += 1ms;
    const auto released = Steady::now();
    (void)queue.release(held[i], now);
    const std::vector<std::int64_t> granted = queue.take_settled();
    spread.times.push_back(microseconds_since(released));
    for (const std::int64_t request : granted)
      if (const Request* found = queue.find(request); found && found->number == request)
        held.push_back(request);
  }
  spread.print("release to the next grant, 100 000 of 1000 teams wait");
}

// A host decides what came meanwhile and makes it durable in one transaction: here a hundred.
void durable_grants(store::Store& store) {
  Queue queue;
  Time now{1'700'000'000s};
  add_workers(queue, now);
  std::int64_t number = 1;
  int granted = 0;
  const auto start = Steady::now();
  while (microseconds_since(start) < 3e6) {
    std::vector<std::int64_t> held;
    for (int i = 0; i < 100; ++i, ++number)
      held.push_back(*queue.request(ask_of(i % teams, number), number, now));
    if (!store.commit(queue.take_changes(now))) std::abort();
    granted += static_cast<int>(held.size());
    for (const std::int64_t request : held) (void)queue.release(request, now);
    now += 1ms;
  }
  std::printf("%-58s %9.0f/s\n", "durable grants, a hundred in a transaction",
              1e6 * granted / microseconds_since(start));
}

int run(const fs::path& folder) {
  auto store = store::SqliteStore::open(folder / "queue.db", {});
  if (!store) {
    std::fprintf(stderr, "%s\n", store.error().message.c_str());
    return 1;
  }
  free_workers("request to grant, 1000 workers are free", [](const store::Batch&) {});
  free_workers("the same, each durable by itself", [&](const store::Batch& batch) {
    if (!(*store)->commit(batch)) std::abort();
  });
  durable_grants(**store);
  long_line();
  return 0;
}

}  // namespace
}  // namespace muster::queue

int main(int argc, char** argv) {
  std::string folder = std::string(argc > 1 ? argv[1] : ".") + "/queue_bench.XXXXXX";
  if (!::mkdtemp(folder.data())) {
    std::perror(folder.c_str());
    return 1;
  }
  const int code = muster::queue::run(folder);
  std::filesystem::remove_all(folder);
  return code;
}
