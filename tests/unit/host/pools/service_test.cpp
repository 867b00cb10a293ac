#include "host/pools/service.hpp"

#include <atomic>

#include "tests/support/git_repository.hpp"
#include "tests/unit/host/pools/stage.hpp"

namespace muster::pools {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
// Counts how often it is read.
class CountedSource final : public Source {
 public:
  CountedSource(std::unique_ptr<Source> source, std::shared_ptr<std::atomic<int>> reads)
      : source_(std::move(source)), reads_(std::move(reads)) {}
  std::string name() const override { return source_->name(); }
  std::vector<WatchedFolder> folders_to_watch() const override {
    return source_->folders_to_watch();
  }
  bool changes_piecemeal() const override { return source_->changes_piecemeal(); }
  Result<std::optional<SourceFiles>> read(const std::string& known) override {
    auto read = source_->read(known);
    ++*reads_;
    reads_->notify_all();
    return read;
  }

 private:
  std::unique_ptr<Source> source_;
  std::shared_ptr<std::atomic<int>> reads_;
};

TEST(Service, a_bad_change_is_refused_whole_and_visible_until_it_is_mended) {
  const testing::TemporaryFolder folder;
  write(folder / "build.toml", configuration());
  Stage stage(folder_source(folder.path()));
  const auto first = stage.accepted(1);
  write(folder / "build.toml", configuration("maxCapacity = \"many\"\n"));
  Status status = stage.status_when([](const Status& s) { return !s.refused_revision.empty(); });
  EXPECT_EQ(status.revision, first->revision);
  EXPECT_NE(status.refused_revision, first->revision);
  EXPECT_THAT(texts_of(status.problems), HasSubstr("build.toml:10:"));
  EXPECT_TRUE(status.refused_at);
  EXPECT_TRUE(stage.log->contains("are refused"));
  EXPECT_THAT(json::write(to_json(status)), HasSubstr("\"refusedRevision\":\"sha256-"));
  write(folder / "build.toml", configuration("emailOnError = true\n"));
  EXPECT_TRUE(stage.accepted(2)->pools.at(build_pool)->email_on_error);
  status = stage.service->status();
  EXPECT_TRUE(status.refused_revision.empty());
  EXPECT_TRUE(texts_of(status.problems).empty());
}

TEST(Service, a_file_that_changes_and_says_the_same_asks_no_provider) {
  const testing::TemporaryFolder above;
  const std::filesystem::path folder = above / "workers";
  std::filesystem::create_directory(folder);
  const auto reads = std::make_shared<std::atomic<int>>(0);
  write(folder / "build.toml", configuration());
  Stage stage(std::make_unique<CountedSource>(folder_source(folder), reads));
  stage.accepted(1);
  for (int change = 0; change < 5; ++change) {
    const int before = *reads;
    write(above / "other", "what is above is nobody's configuration");
    write(folder / "build.toml", configuration());
    for (int now = *reads; now == before; now = *reads) reads->wait(now);
  }
  EXPECT_EQ(stage.asked(), 1);
  write(folder / "build.toml", configuration("emailOnError = true\n"));
  stage.accepted(2);
  EXPECT_EQ(stage.asked(), 2);
  stage.change([](Fixture& fixture) { fixture.provider().placements.pop_back(); });
  stage.accepted(3);
  EXPECT_EQ(stage.asked(), 3);
}

TEST(Service, a_link_out_of_the_folder_is_refused_by_name_and_the_last_good_files_serve_on) {
  const testing::TemporaryFolder folder;
  fs::create_directory(folder / "workers");
  write(folder / "workers/build.toml", configuration());
  std::ofstream(folder / "admin-token") << "secret";
  Stage stage(folder_source(folder / "workers"));
  stage.accepted(1);
  fs::create_symlink("../admin-token", folder / "workers/leak.toml");
  const Status status =
      stage.status_when([](const Status& s) { return !s.refused_revision.empty(); });
  EXPECT_THAT(texts_of(status.problems), HasSubstr("workers/leak.toml: is a symbolic link"));
  EXPECT_EQ(status.pools, 1u);
  for (const bool refused : {false, true})
    for (const rules::SourceFile& file : stage.service->files(refused)->files)
      EXPECT_EQ(file.text.find("secret"), std::string::npos) << file.name;
  fs::remove(folder / "workers/leak.toml");
  stage.accepted(2);
}

TEST(Service, each_new_status_is_told_once) {
  const testing::TemporaryFolder folder;
  Stage stage(folder_source(folder / "workers"));
  EXPECT_NE(stage.told(1).source_error, "");
  fs::create_directory(folder / "next");
  write(folder / "next/build.toml", configuration());
  fs::rename(folder / "next", folder / "workers");
  EXPECT_EQ(stage.told(2).source_error, "");
  EXPECT_EQ(stage.told(3).pools, 1u);
  write(folder / "workers/build.toml", configuration("maxCapacity = \"many\"\n"));
  EXPECT_EQ(stage.told(4).revision, stage.told(3).revision);
  EXPECT_NE(stage.told(4).refused_revision, "");
  write(folder / "workers/build.toml", configuration("emailOnError = true\n"));
  EXPECT_NE(stage.told(5).revision, stage.told(3).revision);
  EXPECT_EQ(stage.told(5).refused_revision, "");
}

TEST(Service, a_folder_that_comes_later_is_taken_up) {
  const testing::TemporaryFolder folder;
  Stage stage(folder_source(folder / "workers"));
  const Status status = stage.status_when([](const Status& s) { return !s.source_error.empty(); });
  EXPECT_TRUE(status.source_failed_at);
  EXPECT_EQ(status.revision, "");
  fs::create_directory(folder / "next");
  write(folder / "next/build.toml", configuration());
  fs::rename(folder / "next", folder / "workers");
  EXPECT_EQ(stage.accepted(1)->pools.size(), 1u);
  stage.status_when([](const Status& s) { return s.source_error.empty(); });
}

TEST(Service, files_that_are_suddenly_all_gone_end_no_pool) {
  const testing::TemporaryFolder folder;
  write(folder / "build.toml", configuration());
  Stage stage(folder_source(folder.path()));
  stage.accepted(1);
  fs::remove(folder / "build.toml");
  const Status status = stage.status_when([](const Status& s) { return !s.source_error.empty(); });
  EXPECT_EQ(status.pools, 1u);
  EXPECT_EQ(stage.count(), 1u);
}

TEST(Service, one_file_of_several_that_goes_takes_its_pools_with_it) {
  const testing::TemporaryFolder folder;
  write(folder / "build.toml", configuration());
  write(folder / "other.toml", configuration("", R"(["other"])"));
  Stage stage(folder_source(folder.path()));
  EXPECT_EQ(stage.accepted(1)->pools.size(), 2u);
  fs::remove(folder / "other.toml");
  EXPECT_EQ(stage.accepted(2)->pools.size(), 1u);
  EXPECT_EQ(stage.accepted(1)->pools.at(build_pool), stage.accepted(2)->pools.at(build_pool));
}

TEST(Service, a_provider_that_comes_later_is_waited_for) {
  const testing::TemporaryFolder folder;
  write(folder / "build.toml", configuration());
  Stage stage(folder_source(folder.path()));
  stage.accepted(1);
  stage.change([](Fixture& fixture) {
    fixture.provider().unavailable = Error::transient("its plugin was taken away");
  });
  const Status status = stage.status_when([](const Status& s) { return !s.waits.empty(); });
  EXPECT_EQ(status.waits[0].reason, "its plugin was taken away");
  EXPECT_EQ(status.pools, 1u);
  EXPECT_THAT(stage.accepted(2)->pools.at(build_pool)->unasked_providers, SizeIs(1));
  stage.change([](Fixture& fixture) { fixture.provider().unavailable.reset(); });
  EXPECT_THAT(stage.accepted(3)->pools.at(build_pool)->unasked_providers, SizeIs(0));
  EXPECT_THAT(stage.service->status().waits, SizeIs(0));
}

TEST(Service, trouble_of_a_provider_is_tried_again_without_being_told) {
  const testing::TemporaryFolder folder;
  Stage stage(folder_source(folder.path()));
  stage.change_quietly([](Fixture& fixture) { fixture.failure = Error::transient("down"); });
  write(folder / "build.toml", configuration());
  stage.status_when([](const Status& s) { return !s.waits.empty(); });
  const std::size_t before = stage.count();
  stage.change_quietly([](Fixture& fixture) { fixture.failure.reset(); });
  stage.accepted(before + 1);
}

TEST(Service, placements_that_change_make_other_pools) {
  const testing::TemporaryFolder folder;
  write(folder / "build.toml", configuration());
  Stage stage(folder_source(folder.path()));
  EXPECT_THAT(stage.accepted(1)->pools.at(build_pool)->launch_configs, SizeIs(6));
  stage.change([](Fixture& fixture) { fixture.provider().placements.pop_back(); });
  EXPECT_THAT(stage.accepted(2)->pools.at(build_pool)->launch_configs, SizeIs(4));
}

TEST(Service, a_push_into_a_bare_repository_is_seen_at_once) {
  const testing::GitRepository work;
  work.write("build.toml", configuration());
  const std::string first = work.commit();
  const testing::TemporaryFolder folder;
  const std::string bare = (folder / "bare.git").string();
  work.git({"clone", "-q", "--bare", ".", bare});
  Stage stage(git_source({bare, "main"}));
  EXPECT_EQ(stage.accepted(1)->revision, first);
  work.write("build.toml", configuration("emailOnError = true\n"));
  const std::string second = work.commit();
  work.git({"push", "-q", bare, "main"});
  EXPECT_EQ(stage.accepted(2)->revision, second);
  work.git({"-C", bare, "update-ref", "-d", "refs/heads/main"});
  const Status status = stage.status_when([](const Status& s) { return !s.source_error.empty(); });
  EXPECT_EQ(status.revision, second);
  EXPECT_THAT(status.source_error, HasSubstr("main"));
}

TEST(Service, ends_while_it_waits) {
  const testing::TemporaryFolder folder;
  for (int i = 0; i < 5; ++i) Stage stage(folder_source(folder / "none"));
}

}  // namespace
}  // namespace muster::pools
