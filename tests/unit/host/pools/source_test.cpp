#include "host/pools/source.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/git_repository.hpp"

namespace muster::pools {
namespace {

namespace fs = std::filesystem;

TEST(FolderSource, a_folder_that_is_not_there_is_an_error_that_may_go_away) {
  const testing::TemporaryFolder folder;
  const auto source = folder_source(folder / "workers");
  EXPECT_FALSE(source->read(""));
  fs::create_directory(folder / "workers");
  EXPECT_TRUE(source->read(""));
}

TEST(FolderSource, the_same_files_are_the_same_revision) {
  const testing::TemporaryFolder folder;
  std::ofstream(folder / "a.toml") << "x = 1";
  std::ofstream(folder / "muster.toml") << "listen = 1";
  const auto source = folder_source(folder.path());
  const auto first = source->read("").value();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->files.size(), 1u);
  EXPECT_FALSE(source->read(first->revision).value());
  std::ofstream(folder / "a.toml") << "x = 2";
  const auto second = source->read(first->revision).value();
  ASSERT_TRUE(second);
  EXPECT_NE(first->revision, second->revision);
}

TEST(GitSource, a_ref_that_vanishes_is_told_and_comes_back) {
  const testing::GitRepository work;
  work.write("a.toml", "x = 1");
  const std::string commit = work.commit();
  const auto source = git_source({work.path().string(), "live"});
  auto read = source->read("");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("no branch, tag or commit live"));
  work.git({"branch", "live"});
  EXPECT_EQ(source->read("").value()->revision, commit);
  work.git({"branch", "-D", "live"});
  EXPECT_FALSE(source->read(commit));
  work.git({"branch", "live"});
  EXPECT_FALSE(source->read(commit).value());
}

TEST(GitSource, reads_a_bare_repository_without_a_working_tree) {
  const testing::GitRepository work;
  work.write("deep/workers/a.toml", "x = 1");
  work.write("b.toml", "x = 2");
  const std::string commit = work.commit();
  const testing::TemporaryFolder folder;
  work.git({"clone", "-q", "--bare", ".", (folder / "bare.git").string()});
  const auto source = git_source({(folder / "bare.git").string(), "main", "deep/workers"});
  const auto read = source->read("");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->revision, commit);
  ASSERT_EQ((*read)->files.size(), 1u);
  EXPECT_EQ((*read)->files[0].name, "deep/workers/a.toml");
  EXPECT_THAT(source->folders_to_watch(),
              ::testing::Contains(folder.path() / "bare.git/refs/heads"));
}

TEST(GitSource, follows_an_address_through_a_cache_of_its_own) {
  const testing::GitRepository work;
  work.write("a.toml", "x = 1");
  const std::string commit = work.commit();
  const testing::TemporaryFolder folder;
  const auto source =
      git_source({"file://" + work.path().string(), "main", "", folder / "repositories"});
  const auto read = source->read("");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ((*read)->revision, commit);
  EXPECT_FALSE(source->read(commit).value());
}

TEST(GitSource, a_ref_that_looks_like_an_option_never_reaches_git) {
  const auto source = git_source({"/nowhere", "--output=/tmp/x"});
  EXPECT_EQ(source->read("").error().error_class, ErrorClass::config);
}

}  // namespace
}  // namespace muster::pools
