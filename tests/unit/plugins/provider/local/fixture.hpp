// A folder, a provider on it and an agent that plays its part: tests/.../stand_in_agent.py.
#pragma once

#include <atomic>
#include <csignal>
#include <fstream>
#include <sstream>
#include <sys/types.h>

#include <gtest/gtest.h>

#include <muster/testing/fake_host.hpp>

#include "plugins/provider/local/local_provider.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::local {

using namespace std::chrono_literals;
namespace fs = std::filesystem;
using muster::testing::eventually;

inline json::object with_image(const std::string& image) {
  return {{"local", json::object{{"image", image}}}};
}

struct LocalScene : ::testing::Test {
  testing::TemporaryFolder place;
  testing::FakeContext context;
  Owner owner{"host-1", ProviderId("local"), 3};
  // The provider's own time: moved by tests, read by its thread.
  std::shared_ptr<std::atomic<std::int64_t>> time =
      std::make_shared<std::atomic<std::int64_t>>(1'800'000'000'000);
  std::unique_ptr<LocalProvider> provider;

  // If the tests run as root, workers run as another user, who must be able to pass.
  LocalScene() { fs::permissions(place.path(), fs::perms(0711)); }

  fs::path folder() const { return place / "workers"; }

  json::object config() const {
    json::object images;
    for (const char* name : {"good", "stubborn", "refuse", "hang", "lie", "short", "anonymous"})
      images[name] = json::array{"/bin/true", name};
    return {{"folder", folder().string()},
            {"agent", MUSTER_STAND_IN_AGENT},
            {"maxWorkers", 32},
            {"images", std::move(images)}};
  }

  void open(const json::object& from) {
    provider.reset();
    auto settings = read_settings(from);
    ASSERT_TRUE(settings) << settings.error().message;
    provider = std::make_unique<LocalProvider>(
        *settings, [time = time] { return Time(std::chrono::milliseconds(time->load())); });
  }
  void open() { open(config()); }

  void TearDown() override {
    provider.reset();
    if (!fs::exists(folder())) return;
    auto settings = read_settings(config());
    LocalWorkersFolder workshop(
        *settings, [time = time] { return Time(std::chrono::milliseconds(time->load())); });
    workshop.remove_all();
  }

  LaunchConfig launch_config(json::object document = with_image("good")) const {
    return {LaunchConfigId("lc-1"),
            WorkerPoolId("worker-manager/x"),
            {{{"region", "here"}}},
            std::move(document)};
  }

  AllocateRequest request(std::vector<IdempotencyKey> keys,
                          const std::string& image = "good") const {
    return {owner,           launch_config(with_image(image)), {},
            std::move(keys), {{"muster-host", "host-1"}},      {{"rootUrl", "http://127.0.0.1:1"}}};
  }

  Launch launch_one(const std::string& key, const std::string& image = "good") {
    auto allocation = provider->allocate(request({IdempotencyKey(key)}, image), context);
    if (!allocation) return {IdempotencyKey(key), {}, allocation.error()};
    return allocation->launches.at(0);
  }

  std::vector<Instance> listed() {
    const auto listing = provider->list({owner}, context);
    EXPECT_TRUE(listing) << listing.error().message;
    return listing ? listing->instances : std::vector<Instance>();
  }

  std::optional<InstanceState> state_of(const WorkerId& worker) {
    for (const Instance& instance : listed())
      if (instance.worker_id == worker) return instance.state;
    return std::nullopt;
  }

  void terminate(const Instance& instance) {
    const auto answer = provider->terminate(
        {owner, {{instance.worker_group, instance.worker_id}}, "test"}, context);
    ASSERT_TRUE(answer) << answer.error().message;
    EXPECT_TRUE(answer->failures.empty());
  }

  fs::path folder_of(const Instance& instance) const { return folder() / instance.worker_id.str(); }

  static std::string content(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  pid_t agent_of(const Instance& instance) const {
    return std::stoi(content(folder_of(instance) / "lock"));
  }
  pid_t group_of(const Instance& instance) const {
    return std::stoi(content(folder_of(instance) / "worker.pid"));
  }
  // Whether any member is more than a zombie, which its adoptive parent may leave for a while.
  static bool group_lives(pid_t group) {
    std::error_code ignored;
    for (const auto& entry : fs::directory_iterator("/proc", ignored)) {
      const std::string status = content(entry.path() / "stat");
      const auto bracket = status.rfind(')');
      if (bracket == std::string::npos) continue;
      std::istringstream rest(status.substr(bracket + 1));
      char state = 0;
      pid_t parent = 0, of_group = 0;
      rest >> state >> parent >> of_group;
      if (of_group == group && state != 'Z') return true;
    }
    return false;
  }
  void pass(std::chrono::milliseconds by) const { *time += by.count(); }
};

}  // namespace muster::local
