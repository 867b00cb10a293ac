#include "lib/git/repository.hpp"

#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/git/process.hpp"
#include "tests/support/git_repository.hpp"

namespace muster::git {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

bool is_toml(std::string_view name) {
  return name.ends_with(".toml");
}

std::vector<std::string> names_of(const std::vector<File>& files) {
  std::vector<std::string> names;
  for (const File& file : files) names.push_back(file.name);
  return names;
}

TEST(Process, one_that_takes_too_long_is_killed_with_all_that_it_started) {
  const auto begin = std::chrono::steady_clock::now();
  const auto done =
      run_process({"sh", "-c", "sleep 100 & sleep 100"}, own_environment(), {}, {200ms});
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().error_class, ErrorClass::transient);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s);
}

TEST(Process, one_that_says_too_much_is_killed) {
  const auto done = run_process({"yes"}, own_environment(), {}, {10s, 100'000});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, ::testing::HasSubstr("says too much"));
}

TEST(Process, one_that_is_not_there_is_not_found) {
  EXPECT_EQ(run_process({"/nowhere/none"}, {}).error().error_class, ErrorClass::not_found);
}

TEST(Process, one_that_ends_before_it_has_read_does_no_harm) {
  const auto done = run_process({"true"}, own_environment(), std::string(1'000'000, 'x'), {10s});
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->exit_code, 0);
}

TEST(Process, input_and_output_flow_at_the_same_time) {
  const std::string text(3'000'000, 'x');
  const auto done = run_process({"cat"}, own_environment(), text, {30s});
  ASSERT_TRUE(done);
  EXPECT_EQ(done->out, text);
}

TEST(Repository, refs_that_git_would_misunderstand_are_none) {
  for (const char* bad : {"", "-x", "--upload-pack=touch /tmp/x", "a..b", "a b", "a:b", "a^", "a~1",
                          "@{1}", "/a", "a\\b", "a*", "a\n", "a//b", "a[", "a?"})
    EXPECT_FALSE(is_plain_ref(bad)) << bad;
  for (const char* good : {"main", "HEAD", "refs/heads/a/b", "v1.2-rc_3", "d2e4b63", "@", "grün"})
    EXPECT_TRUE(is_plain_ref(good)) << good;
}

TEST(Repository, an_address_is_told_from_a_path) {
  for (const char* remote : {"https://h/x.git", "ssh://h/x", "git@h:x.git", "file:///x", "h:x"})
    EXPECT_TRUE(is_remote(remote)) << remote;
  for (const char* path : {"/srv/x.git", "./a:b", "x.git", "../x"})
    EXPECT_FALSE(is_remote(path)) << path;
}

TEST(Repository, what_is_none_is_not_found) {
  testing::TemporaryFolder folder;
  EXPECT_EQ(Repository::at(folder / "none").error().error_class, ErrorClass::not_found);
  EXPECT_EQ(Repository::at(folder.path()).error().error_class, ErrorClass::not_found);
  const testing::GitRepository checkout;
  checkout.write("inside/x", "");
  EXPECT_EQ(Repository::at(checkout / "inside").error().error_class, ErrorClass::not_found);
}

TEST(Repository, links_out_of_the_folder_submodules_and_other_files_are_not_read) {
  const testing::GitRepository work;
  work.write("f/a.toml", "a");
  work.write("f/sub/b.toml", "b");
  work.write("f/readme.md", "c");
  fs::create_symlink("/etc/passwd", work / "f/passwd.toml");
  fs::create_symlink("../secret.toml", work / "f/above.toml");
  fs::create_symlink("readme.md", work / "f/other.toml");
  fs::create_symlink("a.toml", work / "f/link.toml");
  fs::create_symlink("loop.toml", work / "f/loop.toml");
  work.write("secret.toml", "s");
  work.commit();
  work.git({"update-index", "--add", "--cacheinfo",
            "160000," + work.git({"rev-parse", "HEAD"}) + ",f/module.toml"});
  work.git({"commit", "-q", "-m", "submodule"});
  const auto repository = Repository::at(work.path());
  ASSERT_TRUE(repository) << repository.error().message;
  const auto files = repository->read(*repository->commit("main"), "f", is_toml);
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ(names_of(*files), (std::vector<std::string>{"a.toml", "above.toml", "link.toml",
                                                        "loop.toml", "other.toml", "passwd.toml"}));
  for (const File& file : *files) {
    const bool good = file.name == "a.toml" || file.name == "link.toml";
    EXPECT_EQ(file.text, good ? "a" : "") << file.name;
    EXPECT_EQ(file.unreadable.empty(), good) << file.name;
  }
}

TEST(Repository, large_files_and_too_many_are_refused) {
  const testing::GitRepository work;
  work.write("a.toml", std::string(100, 'a'));
  work.write("b.toml", "b");
  work.commit();
  const auto repository = Repository::at(work.path());
  const auto commit = *repository->commit("main");
  EXPECT_THAT(repository->read(commit, "", is_toml, {10, 99}).error().message,
              ::testing::HasSubstr("a.toml has 100 bytes"));
  EXPECT_EQ(repository->read(commit, "", is_toml, {1, 100}).error().error_class,
            ErrorClass::invalid);
  EXPECT_TRUE(repository->read(commit, "", is_toml, {2, 100}));
}

TEST(Repository, a_folder_or_a_ref_that_is_not_there_is_not_found) {
  const testing::GitRepository work;
  work.commit();
  const auto repository = Repository::at(work.path());
  EXPECT_FALSE(repository->commit("other"));
  EXPECT_FALSE(repository->commit("--help"));
  EXPECT_EQ(repository->read(*repository->commit("main"), "none", is_toml).error().error_class,
            ErrorClass::not_found);
}

TEST(Repository, one_into_which_somebody_pushes_right_now_is_tried_again_later) {
  const testing::GitRepository work;
  work.write("a.toml", "some text");
  const std::string commit = work.commit();
  const std::string blob = work.git({"rev-parse", "HEAD:a.toml"});
  fs::remove(work / (".git/objects/" + blob.substr(0, 2) + "/" + blob.substr(2)));
  const auto repository = Repository::at(work.path());
  const auto files = repository->read(commit, "", is_toml);
  ASSERT_FALSE(files);
  EXPECT_EQ(files.error().error_class, ErrorClass::transient);
}

TEST(Repository, hooks_and_the_callers_git_variables_have_no_say) {
  const testing::GitRepository work;
  work.write("a.toml", "a");
  work.commit();
  ::setenv("GIT_DIR", "/nowhere", 1);
  const auto repository = Repository::at(work.path());
  const bool found = repository && repository->commit("main");
  ::unsetenv("GIT_DIR");
  EXPECT_TRUE(found);
}

TEST(Repository, a_remote_one_is_fetched_into_a_cache_and_followed) {
  const testing::GitRepository work;
  work.write("w/a.toml", "1");
  const std::string first = work.commit();
  const testing::TemporaryFolder folder;
  const auto cache = Repository::cache(folder / "cache.git", 30s);
  ASSERT_TRUE(cache) << cache.error().message;
  const std::string url = "file://" + work.path().string();
  EXPECT_EQ(cache->fetch(url, "main").value(), first);
  EXPECT_EQ(cache->read(first, "w", is_toml).value().at(0).text, "1");
  work.write("w/a.toml", "2");
  work.git({"checkout", "-q", "--orphan", "other"});  // as after a forced push
  const std::string second = work.commit();
  work.git({"branch", "-f", "main", second});
  EXPECT_EQ(cache->fetch(url, "main").value(), second);
  EXPECT_EQ(cache->read(second, "w", is_toml).value().at(0).text, "2");
  EXPECT_EQ(cache->fetch(url, "gone").error().error_class, ErrorClass::transient);
  EXPECT_EQ(cache->fetch(url, "--upload-pack=false").error().error_class, ErrorClass::config);
  EXPECT_EQ(cache->fetch("--upload-pack=false", "main").error().error_class, ErrorClass::config);
  EXPECT_EQ(cache->fetch("ext::sh -c touch% x", "main").error().error_class, ErrorClass::transient);
}

}  // namespace
}  // namespace muster::git
