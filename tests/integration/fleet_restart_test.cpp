// A host that is killed, or whose store is damaged, in the middle of its work.
#include <algorithm>
#include <csignal>
#include <fstream>
#include <optional>
#include <set>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/integration/musterd_process.hpp"

namespace muster::testing {
namespace {

using ::testing::HasSubstr;
using namespace std::chrono_literals;

constexpr int pool_size = 5;

namespace fs = std::filesystem;

std::string host_toml(const TemporaryFolder& folder) {
  return "workerConfigurations = \"" + (folder / "workers").string() +
         "\"\n"
         "[http]\naccessLog = false\n"
         "[fleet]\nlistEvery = \"1s\"\n"
         "[store]\nscrubEvery = \"50ms\"\n"
         "[providers.sim]\nplugin = \"provider/simulated\"\n"
         "[providers.sim.config]\nstateFile = \"" +
         (folder / "cloud.json").string() + "\"\n";
}

void write_workers(const TemporaryFolder& folder) {
  std::filesystem::create_directories(folder / "workers");
  std::ofstream(folder / "workers" / "build.toml") << R"(workerTypes = ["build"]
[[rules]]
ruleId = "all"
description = "All of them"
[rules.values]
providers = ["sim"]
owner = "team@example.com"
description = "Builds"
minCapacity = )" << pool_size << R"(
maxCapacity = )" << pool_size << R"(
simulated.instanceTypes = ["small"]
)";
}

// The machines of the cloud that are launched and not terminated.
std::set<std::string> machines(const TemporaryFolder& folder) {
  std::ifstream file(folder / "cloud.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  std::set<std::string> alive;
  const auto state = json::parse_object(text);
  if (!state) return alive;
  for (const auto& [id, machine] : state->at("machines").as_object())
    if (!machine.as_object().contains("terminated")) alive.insert(std::string(id));
  return alive;
}

std::set<std::string> workers(const Musterd& host) {
  std::set<std::string> ids;
  const auto answer = host.client().get("/api/muster/v1/pools/worker-manager%2Fbuild/workers");
  if (!answer) return ids;
  for (const json::value& worker : answer->at("workers").as_array())
    if (worker.at("state") != "stopped") ids.insert(std::string(worker.at("workerId").as_string()));
  return ids;
}

template <class So>
void wait_until(So so, const char* what) {
  for (int i = 0; i < 30'000; ++i) {
    if (so()) return;
    std::this_thread::sleep_for(1ms);
  }
  throw std::runtime_error(std::string("never: ") + what);
}

// Every machine that was ever launched.
std::size_t launches(const TemporaryFolder& folder) {
  std::ifstream file(folder / "cloud.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto state = json::parse_object(text);
  return state ? state->at("machines").as_object().size() : 0;
}

bool has_event(const Musterd& host, const std::string& kind, const std::string& text) {
  const auto page = host.client().get("/api/muster/v1/events?limit=1000&kind=" + kind);
  return page && json::write(*page).find(text) != std::string::npos;
}

bool has_file(const fs::path& folder, const std::string& beginning) {
  return std::ranges::any_of(fs::directory_iterator(folder), [&](const fs::directory_entry& entry) {
    return entry.path().filename().string().starts_with(beginning);
  });
}

// Every bit of one byte in each page but the first.
void damage_pages(const fs::path& file) {
  std::fstream bytes(file, std::ios::in | std::ios::out | std::ios::binary);
  for (std::uintmax_t page = 1; page < fs::file_size(file) / 4096; ++page) {
    bytes.seekg(static_cast<std::streamoff>(page * 4096 + 3000));
    const auto byte = static_cast<char>(~bytes.get());
    bytes.seekp(static_cast<std::streamoff>(page * 4096 + 3000));
    bytes.put(byte);
  }
}

// A host with its five workers, which a test then lets lose something.
struct LosingHost {
  LosingHost() {
    write_workers(folder);
    host.emplace(host_toml(folder), Variables{}, MUSTER_SHIPPED_PLUGINS);
    // Until its launch is answered, a worker has a name of its own.
    const auto launched = [&] {
      before = machines(folder);
      return before.size() == pool_size && workers(*host) == before;
    };
    wait_until(launched, "five workers");
  }

  TemporaryFolder folder;
  std::optional<Musterd> host;
  std::set<std::string> before;
};

TEST(FleetRuntime, a_database_that_is_damaged_under_a_running_host_is_repaired_from_memory) {
  LosingHost losing;
  const TemporaryFolder& folder = losing.folder;
  Musterd& host = *losing.host;
  host.process().signal(SIGTERM);  // so that all is in the file, and nothing in its log
  host.process().exit_code();
  host.start();
  wait_until([&] { return workers(host).size() == pool_size; }, "five workers again");
  damage_pages(host.data_directory() / "muster.db");
  wait_until([&] { return has_file(host.data_directory(), "muster.db.damaged-"); }, "a repair");
  wait_until([&] { return has_event(host, "store-repaired", "is damaged"); }, "its event");
  wait_until(
      [&] {
        return host.client().post("/api/muster/v1/backup", {{"file", "repaired.db"}}).has_value();
      },
      "a backup");
  host.kill();
  host.start();
  wait_until([&] { return workers(host) == losing.before; }, "the workers of before");
  EXPECT_EQ(machines(folder), losing.before);
}

TEST(FleetRuntime, a_host_that_lost_its_database_takes_in_its_workers_and_launches_no_others) {
  LosingHost losing;
  const TemporaryFolder& folder = losing.folder;
  Musterd& host = *losing.host;
  host.kill();
  const fs::path store = host.data_directory() / "muster.db";
  for (const char* ending : {"", "-wal", "-shm"}) fs::remove(store.string() + ending);
  host.start();
  wait_until([&] { return workers(host) == losing.before; }, "the workers of before");
  wait_until([&] { return has_event(host, "store-incomplete", "was acknowledged"); }, "its event");
  EXPECT_THAT(json::write(host.status()), HasSubstr("holds no change"));
  EXPECT_EQ(machines(folder), losing.before);
  EXPECT_EQ(launches(folder), static_cast<std::size_t>(pool_size)) << "nothing was launched twice";
}

TEST(FleetRuntime, an_empty_folder_at_a_start_ends_nobody_until_an_operator_says_so) {
  LosingHost losing;
  const TemporaryFolder& folder = losing.folder;
  Musterd& host = *losing.host;
  host.kill();
  fs::remove(folder / "workers" / "build.toml");
  host.start();
  const auto held = [&] {
    const auto shown = host.client().get("/api/muster/v1/worker-configurations");
    return shown && shown->at("heldBack").as_bool();
  };
  wait_until(held, "held back");
  wait_until([&] { return workers(host) == losing.before; }, "the workers of before");
  const std::vector<std::string> where{"--data-directory", host.data_directory().string()};
  EXPECT_THAT(run("muster", {"status", where[0], where[1]}).output,
              HasSubstr("muster config accept-empty"));
  const Finished accepted = run("muster", {"config", "accept-empty", where[0], where[1]});
  EXPECT_EQ(accepted.exit_code, 0) << accepted.output;
  wait_until([&] { return machines(folder).empty(); }, "the end of all workers");
  EXPECT_FALSE(held());
  EXPECT_TRUE(has_event(host, "configuration-emptied", "admin"));
  EXPECT_NE(run("muster", {"config", "accept-empty", where[0], where[1]}).exit_code, 0);
}

TEST(FleetRuntime, a_host_that_is_killed_while_it_launches_loses_and_doubles_nothing) {
  const TemporaryFolder folder;
  write_workers(folder);
  Musterd host(host_toml(folder), {}, MUSTER_SHIPPED_PLUGINS);
  for (std::size_t launched = 0; launched <= pool_size; ++launched) {
    // At another moment each time: before, while and after the launches.
    wait_until([&] { return machines(folder).size() >= launched; }, "launches");
    host.kill();
    host.start();
  }
  wait_until([&] { return workers(host).size() == pool_size && workers(host) == machines(folder); },
             "five workers, and those are the machines");
  EXPECT_EQ(machines(folder).size(), static_cast<std::size_t>(pool_size));
}

TEST(FleetRuntime, a_backup_is_written_into_its_folder_and_nowhere_else) {
  const TemporaryFolder folder;
  write_workers(folder);
  Musterd host(host_toml(folder), {}, MUSTER_SHIPPED_PLUGINS);
  const std::filesystem::path copies = host.data_directory() / "backups";
  const auto back_up = [&](const std::string& file) {
    const auto done = host.client().post("/api/muster/v1/backup", {{"file", file}});
    return done ? std::string("written") : done.error().message;
  };
  for (const std::string& elsewhere :
       {std::string(), (folder / "copy.db").string(), std::string("../copy.db"),
        std::string(".hidden"), std::string("a/b"), (copies / "../copy.db").string(),
        (host.data_directory() / "muster.db").string(), std::string(200, 'x')})
    EXPECT_THAT(back_up(elsewhere), HasSubstr("store.backupFolder")) << elsewhere;
  EXPECT_EQ(back_up("copy.db"), "written");
  EXPECT_EQ(back_up((copies / "whole.db").string()), "written");
  std::filesystem::create_symlink(folder / "target.db", copies / "link.db");
  for (const char* there : {"copy.db", "link.db"})
    EXPECT_THAT(back_up(there), HasSubstr("exists already"));
  EXPECT_FALSE(std::filesystem::exists(folder / "target.db"));
  std::filesystem::rename(copies, host.data_directory() / "aside");
  std::filesystem::create_directory_symlink(folder.path(), copies);
  EXPECT_THAT(back_up("copy.db"), HasSubstr("symbolic link"));
  EXPECT_FALSE(std::filesystem::exists(folder / "copy.db"));
}

TEST(FleetRuntime, a_host_with_a_damaged_store_serves_and_says_why_it_decides_nothing) {
  const TemporaryFolder folder;
  write_workers(folder);
  Musterd host(host_toml(folder), {}, MUSTER_SHIPPED_PLUGINS);
  const std::filesystem::path backup = host.data_directory() / "backups/backup.db";
  wait_until([&] { return workers(host).size() == pool_size; }, "five workers");
  ASSERT_TRUE(host.client().post("/api/muster/v1/backup", {{"file", "backup.db"}}));
  host.kill();
  const std::filesystem::path store = host.data_directory() / "muster.db";
  for (const char* ending : {"", "-wal", "-shm"}) std::filesystem::remove(store.string() + ending);
  std::ofstream(store) << "this is not a database";
  host.start();
  const auto pools = host.client().get("/api/muster/v1/pools");
  ASSERT_FALSE(pools);
  EXPECT_THAT(pools.error().message, HasSubstr("nothing is decided: "));
  EXPECT_EQ(host.status().at("fleet").at("state"), "off");
  EXPECT_EQ(host.status().at("state"), "notReady");
  EXPECT_THAT(run("muster", {"status", "--data-directory", host.data_directory().string()}).output,
              HasSubstr(" is not ready (off: "));
  host.kill();
  std::filesystem::remove(store);
  std::filesystem::copy_file(backup, store);
  host.start();
  wait_until([&] { return workers(host).size() == pool_size && workers(host) == machines(folder); },
             "the workers of before");
}

}  // namespace
}  // namespace muster::testing
