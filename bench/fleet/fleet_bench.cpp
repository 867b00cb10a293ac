// How long the fleet takes to decide about all pools, how that grows, what memory a million workers
// take, how soon a host is back with them, how many changes become durable in a second, and how
// long it takes from demand to the call of a provider. Where: the folder that is given, else the
// current one. With "small" after it: only the decisions about up to 1000 pools.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <malloc.h>
#include <stdlib.h>
#include <thread>

#include <muster/codec.hpp>

#include "host/fleet/fleet.hpp"
#include "host/fleet/service.hpp"
#include "host/store/memory_store.hpp"
#include "host/store/sqlite_store.hpp"
#include "plugins/strategy/classic/selection.hpp"
#include "plugins/strategy/classic/sizing.hpp"

namespace muster::fleet {
namespace {

const Sha256 secret = sha256("a secret of all workers");

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

double milliseconds_since(Steady::time_point start) {
  return std::chrono::duration<double, std::milli>(Steady::now() - start).count();
}

// Of this process: what else runs on the machine does not count.
double cpu_milliseconds() {
  timespec used{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return static_cast<double>(used.tv_sec) * 1e3 + static_cast<double>(used.tv_nsec) / 1e6;
}

// What is in use of the heap; memory that was freed does not count, though the process keeps it.
double heap_megabytes() {
  const struct mallinfo2 info = ::mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd) / (1 << 20);
}

double resident_megabytes() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("VmRSS:")) return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

const ProviderId provider_id("cloud");

std::shared_ptr<const LaunchConfigSpec> launch_config(const WorkerPoolId& pool, int number) {
  LaunchConfigSpec spec;
  spec.provider_id = provider_id;
  const std::string zone = "us-" + std::to_string(number % 5) + static_cast<char>('a' + number % 3);
  spec.launch_config = {
      .launch_config_id = LaunchConfigId(
          "lc-" + std::to_string(std::hash<std::string>{}(pool.str())) + std::to_string(number)),
      .worker_pool_id = pool,
      .placement = {{{"region", zone.substr(0, 4)}, {"availabilityZone", zone}}},
      .document = {{"aws", json::object{{"ImageId", "ami-0123456789abcdef0"},
                                        {"InstanceType", "m5." + std::to_string(number) + "xlarge"},
                                        {"SubnetId", "subnet-" + zone},
                                        {"SecurityGroupIds", json::array{"sg-1", "sg-2"}}}}},
      .instance_type = "m5." + std::to_string(number) + "xlarge"};
  return std::make_shared<const LaunchConfigSpec>(std::move(spec));
}

std::shared_ptr<const Configuration> configuration_of(int pools, int launch_configs,
                                                      std::int64_t max) {
  Configuration configuration;
  for (int i = 0; i < pools; ++i) {
    PoolSpec pool;
    pool.worker_pool_id = WorkerPoolId("worker-manager/type-" + std::to_string(i));
    pool.origin = "workers.toml";
    pool.owner = "team@example.com";
    pool.settings.max_capacity = max;
    pool.settings.scaling_ratio = 0;
    pool.providers = {provider_id};
    for (int j = 0; j < launch_configs; ++j)
      pool.launch_configs.push_back(launch_config(pool.worker_pool_id, j));
    const WorkerPoolId id = pool.worker_pool_id;
    configuration.pools.emplace(id, std::make_shared<const PoolSpec>(std::move(pool)));
  }
  return std::make_shared<const Configuration>(std::move(configuration));
}

// A provider that has everything at one price, and the strategy classic, both without a plugin
// around them: what is measured is the fleet.
struct World {
  std::unique_ptr<Fleet> fleet;
  Now now{Time(1'700'000'000'000ms), 0ms};
  std::int64_t launches = 0, calls = 0;
  store::Batch* keep = nullptr;

  void advance(std::chrono::milliseconds by) {
    now.wall += by;
    now.steady += by;
  }

  Answer answer(Question& question) {
    ++calls;
    if (auto* size = std::get_if<AskSize>(&question.ask))
      return {question.call_id, classic::size(size->request)};
    if (auto* select = std::get_if<AskSelection>(&question.ask))
      return {question.call_id, classic::select(*select->request, {})};
    if (auto* bids = std::get_if<AskBids>(&question.ask)) {
      Bids made;
      for (const auto& candidate : bids->candidates)
        made.bids.push_back(
            {candidate.spec->launch_config.launch_config_id, 1, bids->capacity, 0.1});
      return {question.call_id, Result<Bids>(std::move(made))};
    }
    if (auto* allocate = std::get_if<AskAllocation>(&question.ask)) {
      Allocation made;
      for (const IdempotencyKey& key : allocate->request.idempotency_keys) {
        Instance instance;
        instance.worker_group = WorkerGroup("us-1");
        instance.worker_id = WorkerId("i-0123456789" + std::to_string(++launches));
        instance.idempotency_key = key;
        instance.provider_data = {{"v", 1}, {"zone", "us-1a"}};
        made.launches.push_back({key, std::move(instance), {}});
      }
      return {question.call_id, Result<Allocation>(std::move(made))};
    }
    if (std::get_if<AskTermination>(&question.ask))
      return {question.call_id, Result<Termination>(Termination{})};
    if (std::get_if<AskNotices>(&question.ask))
      return {question.call_id, Result<Notices>(Notices{})};
    // A listing that fails says nothing about anybody.
    return {question.call_id, Result<Listing>(Error::transient("not in this bench"))};
  }

  void register_all() {
    for (const Worker& worker : fleet->workers()) {
      if (worker.state != WorkerState::requested) continue;
      const WorkerName name{fleet->pools()[worker.pool].id, WorkerGroup("us-1"),
                            WorkerId(worker.worker_id)};
      if (!fleet->register_worker(name, provider_id, secret, now)) std::abort();
    }
  }

  // Until nothing is asked any more; returns when the last launch was asked for.
  double settle() {
    const auto start = Steady::now();
    double asked = 0;
    for (;;) {
      Outcome outcome = fleet->settle(now);
      if (keep)
        keep->insert(keep->end(), std::make_move_iterator(outcome.changes.begin()),
                     std::make_move_iterator(outcome.changes.end()));
      if (outcome.questions.empty()) return asked;
      for (Question& question : outcome.questions) {
        if (std::holds_alternative<AskAllocation>(question.ask)) asked = milliseconds_since(start);
        fleet->answered(answer(question), now);
      }
    }
  }
};

World make_world(int pools, int launch_configs, std::int64_t workers_each,
                 store::Batch* keep = nullptr) {
  World world;
  world.keep = keep;
  Settings settings;
  settings.decision_gap = 0ms;
  world.fleet = std::make_unique<Fleet>(settings, "bench", 1, world.now);
  ProviderUp up{.provider_id = provider_id};
  up.settings.launches_per_second = 1e9;
  up.settings.launch_burst = 1e9;
  up.settings.launch_calls_at_once = 1'000'000'000;
  world.fleet->provider_up(up, world.now);
  world.fleet->configure(configuration_of(pools, launch_configs, 1'000'000), world.now);
  Demand demand;
  for (int i = 0; i < pools; ++i)
    demand[WorkerPoolId("worker-manager/type-" + std::to_string(i))].pending = workers_each;
  world.fleet->demand_changed(demand, world.now);
  world.settle();
  world.advance(60s);
  world.register_all();
  world.fleet->demand_changed({}, world.now);
  world.settle();
  return world;
}

void decisions(int pools, int launch_configs, std::int64_t workers_each) {
  const double before = heap_megabytes();
  const double began = cpu_milliseconds();
  World world = make_world(pools, launch_configs, workers_each);
  const double filled = cpu_milliseconds() - began;
  const double memory = heap_megabytes() - before;
  // Nothing needed, and nothing happened: every pool has its turn. The timers of the launches are
  // over by then.
  world.advance(90s);
  world.settle();
  world.advance(61s);
  double start = cpu_milliseconds();
  world.settle();
  const double quiet = cpu_milliseconds() - start;
  // A tenth of the pools needs one more worker; then all of them.
  const auto with_demand = [&](int every) {
    world.advance(1min);
    Demand demand;
    for (int i = 0; i < pools; i += every)
      demand[WorkerPoolId("worker-manager/type-" + std::to_string(i))].pending = 1;
    start = cpu_milliseconds();
    world.fleet->demand_changed(demand, world.now);
    world.settle();
    const double took = cpu_milliseconds() - start;
    world.register_all();  // else they count as requested, and their pools need nothing next time
    world.fleet->demand_changed({}, world.now);
    world.settle();
    return took;
  };
  const double tenth = with_demand(10);
  const double all = with_demand(1);
  std::printf("| %6d × %2d | %9lld | %8.0f | %8.1f | %8.1f | %8.1f | %7.0f |\n", pools,
              launch_configs, static_cast<long long>(pools) * workers_each, filled, quiet, tenth,
              all, memory);
  std::fflush(stdout);
}

void restart(const fs::path& folder) {
  const fs::path file = folder / "restart.db";
  {
    store::Batch rows;
    World world = make_world(10'000, 20, 100, nullptr);
    auto store = store::SqliteStore::open(file, {});
    if (!store) std::abort();
    const store::Batch all = world.fleet->everything();
    if (!(*store)->commit(all)) std::abort();
  }
  const auto start = Steady::now();
  auto store = store::SqliteStore::open(file, {});
  const double opened = milliseconds_since(start);
  auto fleet = Fleet::load(**store, {}, "bench", {Time(1'700'000'100'000ms), 0ms});
  if (!fleet) {
    std::printf("cannot load: %s\n", fleet.error().message.c_str());
    std::abort();
  }
  const Outcome first = (*fleet)->settle({Time(1'700'000'100'000ms), 0ms});
  std::printf(
      "restart with %zu workers, 10 000 pools, 200 000 launch configurations: open %.0f ms, all "
      "%.0f ms; "
      "%.0f MB resident\n",
      (*fleet)->workers().size(), opened, milliseconds_since(start), resident_megabytes());
}

class InstantPlugins final : public Channel {
 public:
  explicit InstantPlugins(std::function<void(std::string_view)> told) : told_(std::move(told)) {}
  Result<std::string> call(std::string_view method, std::string_view request,
                           const Context&) override {
    if (method == "allocate") told_(request);
    if (method == "size") {
      auto decoded = decode<SizeRequest>(request);
      return encode(*classic::size(*decoded));
    }
    if (method == "select") return encode(*classic::select(*decode<SelectRequest>(request), {}));
    if (method == "bid") {
      const auto asked = decode<BidRequest>(request);
      Bids made;
      for (const auto& candidate : asked->candidates)
        made.bids.push_back({candidate.launch_config.launch_config_id, 1, asked->capacity, 0.1});
      return encode(made);
    }
    if (method == "allocate") {
      Allocation made;
      for (const IdempotencyKey& key : decode<AllocateRequest>(request)->idempotency_keys) {
        Instance instance;
        instance.worker_group = WorkerGroup("us-1");
        instance.worker_id = WorkerId("i-" + key.str());
        instance.idempotency_key = key;
        made.launches.push_back({key, std::move(instance), {}});
      }
      return encode(made);
    }
    return Error::transient("not in this bench");
  }

 private:
  std::function<void(std::string_view)> told_;
};

// Through threads, JSON and a real disk.
void service(const fs::path& folder) {
  constexpr int pools = 1000;
  auto store = store::SqliteStore::open(folder / "service.db", {});
  if (!store) std::abort();
  const auto clock = std::make_shared<SystemClock>();
  const Now now{clock->now(), 0ms};
  Settings settings;
  auto fleet = std::make_unique<Fleet>(settings, "bench", 1, now);
  std::mutex mutex;
  std::vector<Steady::time_point> called;
  auto channel = std::make_shared<InstantPlugins>([&](std::string_view) {
    const std::lock_guard lock(mutex);
    called.push_back(Steady::now());
  });
  Service service(std::move(fleet),
                  {.store = store->get(), .clock = clock, .find_plugin = [&](const std::string&) {
                     return Callee{channel, 30s, 1};
                   }});
  service.post([&](Fleet& to, Now at) {
    ProviderUp up{.provider_id = provider_id};
    up.settings.launches_per_second = 1e9;
    up.settings.launch_burst = 1e9;
    up.settings.launch_calls_at_once = 1'000'000;
    to.provider_up(up, at);
    to.configure(configuration_of(pools, 20, 1000), at);
  });
  std::this_thread::sleep_for(3s);
  Demand demand;
  for (int i = 0; i < pools; ++i)
    demand[WorkerPoolId("worker-manager/type-" + std::to_string(i))].pending = 1;
  const auto start = Steady::now();
  service.post([&](Fleet& to, Now at) { to.demand_changed(demand, at); });
  for (int waited = 0; waited < 600; ++waited) {
    std::this_thread::sleep_for(50ms);
    const std::lock_guard lock(mutex);
    if (called.size() >= pools) break;
  }
  {
    const std::lock_guard lock(mutex);
    std::vector<double> delays;
    for (const auto at : called)
      delays.push_back(std::chrono::duration<double, std::milli>(at - start).count());
    std::ranges::sort(delays);
    if (!delays.empty())
      std::printf(
          "demand of %d pools at once → provider called (%zu calls): p50 %.0f ms, p99 %.0f ms, "
          "last %.0f ms\n",
          pools, delays.size(), delays[delays.size() / 2], delays[delays.size() * 99 / 100],
          delays.back());
  }
}

void durable_changes(const fs::path& folder) {
  World world = make_world(100, 5, 100);
  std::vector<WorkerName> names;
  for (const Worker& worker : world.fleet->workers())
    names.push_back(
        {world.fleet->pools()[worker.pool].id, WorkerGroup("us-1"), WorkerId(worker.worker_id)});
  auto store = store::SqliteStore::open(folder / "changes.db", {});
  if (!store || !(*store)->commit(world.fleet->everything())) std::abort();
  Service service(std::move(world.fleet),
                  {.store = store->get(),
                   .clock = std::make_shared<SystemClock>(),
                   .find_plugin = [](const std::string&) { return Callee{}; }});
  constexpr std::size_t under_way = 256;
  std::atomic<std::size_t> done = 0;
  std::size_t sent = 0;
  const auto start = Steady::now();
  while (milliseconds_since(start) < 5000) {
    if (sent - done >= under_way) {
      std::this_thread::yield();
      continue;
    }
    service.post([&, name = &names[sent % names.size()]](
                     Fleet& to, Now at) { (void)to.reregister_worker(*name, secret, secret, at); },
                 [&] { ++done; });
    ++sent;
  }
  std::printf("durable worker state changes (re-registrations, %zu under way): %.0f per second\n",
              under_way, static_cast<double>(done) / milliseconds_since(start) * 1000);
  service.stop(10s);
}

int run(const fs::path& where, bool small) {
  const fs::path folder = where / ("fleet-bench-" + std::to_string(::getpid()));
  fs::create_directories(folder);
  std::printf(
      "| pools × launch configurations | workers | ms of CPU, filling | nothing needed | a tenth "
      "needs | "
      "all need | MB |\n");
  std::printf("|---|---|---|---|---|---|---|\n");
  decisions(100, 20, 20);
  decisions(1000, 20, 20);
  if (small) return fs::remove_all(folder), 0;
  decisions(100, 20, 100);
  decisions(1000, 20, 100);
  decisions(100, 20, 1000);
  decisions(10'000, 20, 1);
  decisions(10'000, 20, 10);
  decisions(1000, 20, 1000);
  decisions(10'000, 20, 100);
  restart(folder);
  durable_changes(folder);
  service(folder);
  fs::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace muster::fleet

int main(int argc, char** argv) {
  return muster::fleet::run(argc > 1 ? argv[1] : ".", argc > 2 && !std::strcmp(argv[2], "small"));
}
