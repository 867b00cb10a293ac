// What the plugin boundary costs: one call in each transport, a swap under load, a start with many
// plugins, and the memory of the child that checks. A program and not a Google Benchmark, because
// most of it is about processes.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "host/plugin_loader/call_state.hpp"
#include "host/plugin_loader/cell_channel.hpp"
#include "host/plugin_loader/in_process_channel.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/deadline_context.hpp"
#include "lib/base/secret.hpp"

namespace muster::plugin_loader {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

const HostServices services{[] { return Time(); }, [](LogLevel, std::string_view) {}};

double microseconds(Steady::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

struct Spread {
  double p50, p99;
};

template <class Function>
Spread measure(int count, Function function) {
  std::vector<double> times;
  for (int i = 0; i < count; ++i) {
    const auto start = Steady::now();
    function();
    times.push_back(microseconds(Steady::now() - start));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times[times.size() * 99 / 100]};
}

fs::path built(const std::string& version) {
  return fs::path(MUSTER_BAD_PLUGINS) / ("good-" + version) / "good.so";
}

void drop(const fs::path& folder, const std::string& name, const std::string& version) {
  const std::string bytes = *read_file(built(version), 1 << 30);
  fs::create_directories(folder / name);
  (void)write_file_atomically(folder / name / (name + ".so"), bytes, 0755);
  (void)write_file_atomically(
      folder / name / "plugin.toml",
      write_manifest({"good", "provider", version, name + ".so", to_hex(sha256(bytes))}));
}

void cost_of_a_call(CellSpawner& spawner) {
  const std::string request = "{\"text\":\"" + std::string(200, 'x') + "\"}";
  const auto library = *Library::open(built("1.0.0"));
  void* instance = nullptr;
  CallState creating("create", "{}", Steady::now() + 1h, services);
  library->plugin().create(&creating.raw(), &instance);
  const Spread plain = measure(200'000, [&] {
    CallState state("echo", request, Steady::now() + 1s, services);
    state.run([&] { return library->plugin().call(instance, &state.raw()); });
  });
  library->plugin().destroy(instance);
  const auto in_process = *open_in_process(library, "{}", services, 10s, nullptr, "");
  const Spread thread =
      measure(50'000, [&] { in_process->call("echo", request, DeadlineContext(1s)); });
  const auto cell =
      open_cell(spawner, {.library = built("1.0.0").string(), .configs = {{}}}, services, 10s)
          ->backend;
  const Spread process = measure(20'000, [&] { cell->call("echo", request, DeadlineContext(1s)); });
  std::printf("one call, 200 bytes          p50 us    p99 us\n");
  std::printf("  C function, same thread  %8.2f  %8.2f\n", plain.p50, plain.p99);
  std::printf("  in process, own thread   %8.2f  %8.2f\n", thread.p50, thread.p99);
  std::printf("  in a cell                %8.2f  %8.2f\n", process.p50, process.p99);
}

void swap_under_load(const fs::path& home, Isolation isolation) {
  const fs::path folder = home / ("swap-" + std::string(to_string(isolation)));
  drop(folder, "good", "1.0.0");
  auto catalog = std::move(*PluginCatalog::open(
      {.folders = {}, .store = folder.string() + "-store", .cell_program = MUSTER_CELL},
      std::make_shared<SystemClock>(), Log(), nullptr));
  catalog->configure({{folder}},
                     {{.instance_id = "it", .plugin_id = "provider/good", .isolation = isolation}});
  const auto channel = catalog->channel("it");
  std::atomic<bool> stop = false;
  std::atomic<long> calls = 0, failed = 0;
  std::vector<std::thread> clients;
  for (int t = 0; t < 4; ++t)
    clients.emplace_back([&] {
      while (!stop) ++(channel->call("who", "{}", DeadlineContext(10s)) ? calls : failed);
    });
  std::vector<double> times;
  for (int i = 0; i < 20; ++i) {
    drop(folder, "good", i % 2 == 0 ? "2.0.0" : "1.0.0");
    const auto start = Steady::now();
    catalog->rescan();
    times.push_back(microseconds(Steady::now() - start) / 1000);
  }
  stop = true;
  for (auto& client : clients) client.join();
  std::sort(times.begin(), times.end());
  std::printf(
      "hot swap, 4 client threads, %-10s  p50 %.0f ms from drop to serving; %ld calls, %ld "
      "failed\n",
      std::string(to_string(isolation)).c_str(), times[times.size() / 2], calls.load(),
      failed.load());
}

void start_with_many(const fs::path& home, int count) {
  const fs::path folder = home / "many";
  const std::string bytes = *read_file(built("1.0.0"), 1 << 30);
  // The name is in the library's text: each copy gets one of its own, of the same length.
  for (int i = 0; i < count; ++i) {
    char name[8];
    std::snprintf(name, sizeof name, "p%03d", i);
    std::string mine = bytes;
    for (std::size_t at = 0; (at = mine.find("good", at)) != std::string::npos; at += 4)
      mine.replace(at, 4, name);
    fs::create_directories(folder / name);
    (void)write_file_atomically(folder / name / "p.so", mine, 0755);
    (void)write_file_atomically(
        folder / name / "plugin.toml",
        write_manifest({name, "provider", "1.0.0", "p.so", to_hex(sha256(mine))}));
  }
  for (const Isolation isolation : {Isolation::in_process, Isolation::process}) {
    const auto start = Steady::now();
    auto catalog = std::move(*PluginCatalog::open(
        {.folders = {}, .store = home / "many-store", .cell_program = MUSTER_CELL},
        std::make_shared<SystemClock>(), Log(), nullptr));
    catalog->configure({{folder, isolation == Isolation::in_process}}, {});
    int active = 0;
    for (const auto& plugin : catalog->list().plugins)
      active += plugin.state == PluginState::active;
    std::printf("start with %d plugins, %-10s  %.0f ms, %d active\n", count,
                std::string(to_string(isolation)).c_str(),
                microseconds(Steady::now() - start) / 1000, active);
  }
}

void memory_of_a_check(CellSpawner& spawner) {
  const auto checked =
      open_cell(spawner, {.library = built("1.0.0").string(), .configs = {{}}, .only_check = true},
                services, 10s);
  std::printf("peak memory of the checking child  %.1f MiB\n",
              static_cast<double>(checked->peak_memory_bytes) / (1 << 20));
}

void run() {
  std::string home = (fs::temp_directory_path() / "muster-bench-XXXXXX").string();
  if (::mkdtemp(home.data()) == nullptr) return;
  CellSpawner spawner(MUSTER_CELL);
  cost_of_a_call(spawner);
  for (const Isolation isolation : {Isolation::in_process, Isolation::process})
    swap_under_load(home, isolation);
  start_with_many(home, 50);
  memory_of_a_check(spawner);
  fs::remove_all(home);
}

}  // namespace
}  // namespace muster::plugin_loader

int main() {
  muster::plugin_loader::run();
}
