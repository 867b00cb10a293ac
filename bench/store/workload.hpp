// What both benches of stores do: the rows of a fleet, and changes of them alone and together.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <functional>
#include <string>
#include <thread>
#include <unistd.h>

#include "host/fleet/model/rows.hpp"
#include "host/store/committer.hpp"
#include "host/store/row.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::store {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

inline constexpr std::int64_t fleet_size = 1'000'000;

inline double seconds_since(Steady::time_point start) {
  return std::chrono::duration<double>(Steady::now() - start).count();
}

// As a worker of a cloud looks like.
inline fleet::WorkerRow worker(std::int64_t number) {
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

inline double bare_syncs(const std::filesystem::path& folder) {
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

inline double alone(Store& store) {
  int count = 0;
  const auto start = Steady::now();
  while (seconds_since(start) < 3)
    if (store.commit({put(worker(count * 7919 % fleet_size))})) ++count;
  return count / seconds_since(start);
}

// Each submitter has one change under way at a time, as a request that waits for its answer.
inline double together(Store& store, int submitters) {
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

// How many changes a second become durable, alone and with group commit.
inline void print_changes(Store& store) {
  std::printf("%-56s %10.0f /s\n", "  one change, one commit", alone(store));
  for (const int submitters : {1, 16, 128, 1024})
    std::printf("  group commit, %4d changes under way %19s %10.0f /s\n", submitters, "",
                together(store, submitters));
}

}  // namespace muster::store
