// Worker configurations that are gone end nothing until somebody decides so.
#include "host/pools/kept_files.hpp"
#include "tests/support/git_repository.hpp"
#include "tests/unit/host/pools/stage.hpp"

namespace muster::pools {
namespace {

using ::testing::HasSubstr;

bool held(const Status& status) {
  return status.held_back;
}

class HeldBackTest : public ::testing::Test {
 protected:
  HeldBackTest() { put({}); }

  // These worker types, a file for each, all at once: the folder is a link that is swapped.
  void put(const std::vector<std::string>& types, const std::string& prefix = "") {
    const fs::path next = folder / ("v" + std::to_string(++versions));
    fs::create_directory(next);
    for (const std::string& type : types)
      write(next / (prefix + type + ".toml"), configuration("", "[\"" + type + "\"]"));
    fs::create_directory_symlink(next, folder / "link");
    fs::rename(folder / "link", workers);
  }
  std::unique_ptr<Stage> start(bool has_pools = false) const {
    return std::make_unique<Stage>(folder_source(workers), kept, has_pools);
  }
  // As many files as that have served, and the service has ended.
  void serve_once(const std::vector<std::string>& types) {
    put(types);
    EXPECT_EQ(start()->accepted(1)->pools.size(), types.size());
  }

  testing::TemporaryFolder folder;
  fs::path workers = folder / "workers";
  fs::path kept = folder / "kept.json";
  int versions = 0;
};

TEST_F(HeldBackTest, what_is_kept_is_refused_unless_it_is_whole) {
  EXPECT_FALSE(read_kept(kept).value());
  ASSERT_TRUE(keep({"r1", {{"a.toml", "x = \"\xc3\xbc\"\n"}, {"b.toml", ""}}}, kept));
  const auto read = read_kept(kept);
  ASSERT_TRUE(read && *read);
  EXPECT_EQ((*read)->revision, "r1");
  ASSERT_EQ((*read)->files.size(), 2u);
  EXPECT_EQ((*read)->files[0].text, "x = \"\xc3\xbc\"\n");
  for (const char* bad :
       {"", "{", "[]", "{}", R"({"revision":1,"files":[]})", R"({"revision":"r","files":{}})",
        R"({"revision":"r","files":[7]})", R"({"revision":"r","files":[{"name":"a"}]})"}) {
    std::ofstream(kept) << bad;
    EXPECT_FALSE(read_kept(kept)) << bad;
  }
}

TEST_F(HeldBackTest, an_empty_folder_at_a_start_ends_nothing) {
  serve_once({"a", "b", "c"});
  put({});
  const auto stage = start();
  EXPECT_EQ(stage->accepted(1)->pools.size(), 3u);
  const Status status = stage->status_when(held);
  EXPECT_THAT(status.source_error, HasSubstr("muster config accept-empty"));
  EXPECT_TRUE(status.source_failed_at);
  EXPECT_THAT(json::write(to_json(status)), HasSubstr("\"heldBack\":true"));
}

TEST_F(HeldBackTest, a_missing_folder_and_files_that_cannot_be_read_end_nothing) {
  serve_once({"a", "b", "c"});
  fs::remove(workers);
  EXPECT_EQ(start()->accepted(1)->pools.size(), 3u);
  put({});
  for (const char* name : {"a.toml", "b.toml", "c.toml"})
    fs::create_symlink(folder / "nowhere", workers / name);
  EXPECT_EQ(start()->accepted(1)->pools.size(), 3u);
}

TEST_F(HeldBackTest, the_files_come_back_and_all_is_as_before) {
  serve_once({"a", "b", "c"});
  fs::rename(workers, folder / "away");
  const auto stage = start();
  stage->status_when(held);
  fs::rename(folder / "away", workers);
  stage->status_when([](const Status& status) { return !status.held_back; });
  EXPECT_EQ(stage->accepted(1)->pools.size(), 3u);
  EXPECT_FALSE(stage->service->accept_what_is_left()) << "there is nothing to decide";
}

TEST_F(HeldBackTest, a_decision_counts_and_outlives_a_restart) {
  serve_once({"a", "b", "c"});
  put({});
  {
    const auto stage = start();
    stage->accepted(1);
    stage->status_when(held);
    ASSERT_TRUE(stage->service->accept_what_is_left());
    EXPECT_EQ(stage->accepted(2)->pools.size(), 0u);
    EXPECT_FALSE(stage->service->status().held_back);
  }
  const auto stage = start();
  EXPECT_EQ(stage->accepted(1)->pools.size(), 0u);
  EXPECT_FALSE(stage->service->status().held_back);
}

TEST_F(HeldBackTest, without_what_was_kept_the_pools_of_the_fleet_count) {
  for (const char* text : {"", "damaged"}) {
    if (*text) std::ofstream(kept) << text;
    const auto stage = start(true);
    stage->status_when(held);
    EXPECT_EQ(stage->count(), 0u) << "the fleet goes on with what it has";
    ASSERT_TRUE(stage->service->accept_what_is_left());
    EXPECT_EQ(stage->accepted(1)->pools.size(), 0u);
    fs::remove(kept);
  }
  EXPECT_EQ(start(false)->accepted(1)->pools.size(), 0u) << "a first start has nothing to hold";
}

TEST_F(HeldBackTest, one_file_or_half_of_them_may_go_and_more_at_once_are_held_back) {
  serve_once({"a", "b", "c", "d", "e", "f"});
  const auto stage = start();
  stage->accepted(1);
  put({"a", "b", "c", "d", "e"});
  EXPECT_EQ(stage->accepted(2)->pools.size(), 5u);
  put({"a", "b"});
  EXPECT_THAT(stage->status_when(held).source_error, HasSubstr("of 5 worker configurations most"));
  put({"a", "b", "c"});
  EXPECT_EQ(stage->accepted(3)->pools.size(), 3u);
  put({"c"});
  stage->status_when(held);
  ASSERT_TRUE(stage->service->accept_what_is_left());
  EXPECT_EQ(stage->accepted(4)->pools.size(), 1u);
  EXPECT_EQ(read_kept(kept).value()->files.size(), 1u);
}

TEST_F(HeldBackTest, files_that_were_renamed_are_not_gone) {
  serve_once({"a", "b", "c"});
  const auto stage = start();
  stage->accepted(1);
  put({"a", "b", "c"}, "renamed-");
  EXPECT_EQ(stage->accepted(2)->pools.size(), 3u);
}

TEST_F(HeldBackTest, a_commit_without_files_is_held_back_and_one_with_few_is_not) {
  const testing::GitRepository work;
  for (int i = 0; i < 4; ++i)
    work.write("w" + std::to_string(i) + ".toml",
               configuration("", "[\"w" + std::to_string(i) + "\"]"));
  work.commit();
  Stage stage(git_source({work.path().string(), "main"}), kept);
  EXPECT_EQ(stage.accepted(1)->pools.size(), 4u);
  work.git({"rm", "-q", "w0.toml", "w1.toml", "w2.toml"});
  work.commit();
  stage.service->reload();
  EXPECT_EQ(stage.accepted(2)->pools.size(), 1u);
  work.git({"rm", "-q", "w3.toml"});
  work.write("README", "nothing is here");
  work.commit();
  stage.service->reload();
  stage.status_when(held);
  EXPECT_EQ(stage.count(), 2u);
}

TEST_F(HeldBackTest, no_restart_makes_the_worker_types_of_a_file_free_that_cannot_serve) {
  std::string alpha = configuration("", R"(["alpha"])");
  alpha.replace(alpha.find("\"sim\""), 5, "\"gone\"");  // a provider that was there
  const fs::path files = folder / "files";
  const std::string team = files / "team.toml", other = files / "b.toml";
  ASSERT_TRUE(keep({"r1", {{other, configuration()}, {team, alpha}}}, kept));
  fs::create_directory(files);
  write(other, configuration());
  write(team, alpha);
  {
    Stage stage(folder_source(files), kept);
    EXPECT_THAT(stage.accepted(1)->untouched_origins, ::testing::ElementsAre(team));
    EXPECT_EQ(stage.service->status().files, 1u);
    EXPECT_EQ(stage.service->files(false)->files.size(), 1u);
  }
  for (int start = 0; start < 2; ++start) {
    Stage stage(folder_source(files), kept);
    stage.accepted(1);
    if (start == 0) write(files / "aaa.toml", configuration("", R"(["alpha"])"));
    const Status status =
        stage.status_when([](const Status& now) { return now.held_files.size() == 2; });
    EXPECT_EQ(status.held_files[0].file, files / "aaa.toml");
    EXPECT_EQ(status.held_files[1].file, team);
    EXPECT_EQ(status.pools, 1u);
    EXPECT_EQ(read_kept(kept).value()->files.size(), 2u);
  }
  // The provider is another one now: the worker type is where it was.
  write(team, configuration("", R"(["alpha"])"));
  Stage stage(folder_source(files), kept);
  EXPECT_EQ(stage.accepted(1)->pools.at(WorkerPoolId("worker-manager/alpha"))->origin, team);
}

TEST_F(HeldBackTest, an_empty_repository_at_a_start_ends_nothing) {
  serve_once({"a", "b"});
  const testing::TemporaryFolder repository;
  const testing::GitRepository work;
  work.git({"init", "-q", "--bare", (repository / "empty.git").string()});
  Stage stage(git_source({(repository / "empty.git").string(), "main"}), kept);
  EXPECT_EQ(stage.accepted(1)->pools.size(), 2u);
  stage.status_when(held);
}

}  // namespace
}  // namespace muster::pools
