#include "plugins/provider/simulated/kept_cloud.hpp"

#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.hpp"
#include "tests/unit/plugins/provider/simulated/fixture.hpp"

namespace muster::simulated {
namespace {

using testing::FakeContext;
using testing::TemporaryFolder;

std::unique_ptr<KeptCloud> open(const std::string& path) {
  return std::make_unique<KeptCloud>(std::make_unique<Cloud>(settings_with({})), path);
}

TEST(SimulatedStateFile, a_damaged_one_is_refused_and_left_alone) {
  const TemporaryFolder folder;
  const std::string path = folder / "cloud.json";
  std::ofstream(path) << "{\"v\":1,";
  const auto cloud = open(path);
  const auto loaded = cloud->load();
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().error_class, ErrorClass::invalid);
  EXPECT_NE(loaded.error().message.find(path + " is damaged"), std::string::npos);
  EXPECT_FALSE(cloud->list({owner()}, FakeContext()));
  EXPECT_EQ(std::filesystem::file_size(path), 7u);
  std::ofstream(path) << R"({"v":2,"launches":0,"machines":{}})";
  EXPECT_NE(cloud->load().error().message.find("has version 2"), std::string::npos);
}

TEST(SimulatedStateFile, a_call_that_cannot_be_kept_fails_and_changes_nothing) {
  const TemporaryFolder folder;
  const auto nowhere = open(folder / "missing" / "cloud.json");
  EXPECT_EQ(nowhere->list({owner()}, FakeContext()).error().error_class, ErrorClass::transient);
  const std::string path = folder / "cloud.json";
  std::filesystem::create_directory(path + ".new");  // nothing can be written there
  const auto cloud = open(path);
  const auto failed = cloud->allocate(allocate_request(launch_config(), 1, 1), FakeContext());
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().error_class, ErrorClass::transient);
  std::filesystem::remove(path + ".new");
  EXPECT_TRUE(cloud->list({owner()}, FakeContext())->instances.empty());
}

TEST(SimulatedStateFile, machines_and_keys_survive_a_restart) {
  const TemporaryFolder folder;
  const FakeContext context;
  const Instance machine = launch_one(*open(folder / "cloud.json"), context);
  const auto later = open(folder / "cloud.json");
  const auto listing = later->list({owner()}, context);
  ASSERT_EQ(listing->instances.size(), 1u);
  EXPECT_EQ(encode(listing->instances[0]), encode(machine));
  EXPECT_EQ(launch_one(*later, context).worker_id, machine.worker_id);
  EXPECT_EQ(later->list({owner()}, context)->instances.size(), 1u);
}

TEST(SimulatedStateFile, two_processes_see_each_others_machines_at_once) {
  const TemporaryFolder folder;
  const FakeContext context;
  const auto old_version = open(folder / "cloud.json");
  launch_one(*old_version, context, 1);
  const auto new_version = open(folder / "cloud.json");
  launch_one(*old_version, context, 2);
  launch_one(*new_version, context, 3);
  EXPECT_EQ(old_version->list({owner()}, context)->instances.size(), 3u);
  EXPECT_EQ(new_version->list({owner()}, context)->instances.size(), 3u);
}

TEST(SimulatedStateFile, nothing_is_lost_when_many_write) {
  const TemporaryFolder folder;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      const FakeContext context;
      const auto cloud = open(folder / "cloud.json");
      for (int i = 0; i < 10; ++i) launch_one(*cloud, context, 100 * t + i);
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(open(folder / "cloud.json")->list({owner()}, FakeContext())->instances.size(), 40u);
}

TEST(SimulatedStateFile, waiting_for_the_lock_ends_with_the_call) {
  const TemporaryFolder folder;
  const StateFile file(folder / "cloud.json");
  FakeContext context;
  const auto held = file.lock(context);
  ASSERT_TRUE(held);
  context.cancel();
  EXPECT_EQ(open(folder / "cloud.json")->list({owner()}, context).error().error_class,
            ErrorClass::cancelled);
}

}  // namespace
}  // namespace muster::simulated
