#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <muster/rules/document.hpp>
#include <muster/rules/edit.hpp>

namespace muster::rules {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class edit_file_in_a_folder : public testing::Test {
 protected:
  edit_file_in_a_folder() {
    auto name = (fs::temp_directory_path() / "muster-edit-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~edit_file_in_a_folder() override { fs::remove_all(folder_); }

  static void write(const fs::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
  }
  static std::string read(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::size_t file_count() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

  fs::path folder_;
  const std::string text_ = "[[rules]]\nruleId = 'a'\n[rules.values]\nn = 1";
  const std::vector<Edit> edits_ = {SetValue{"a", {"n"}, "2"}};
};

TEST_F(edit_file_in_a_folder, what_cannot_be_edited_is_said_in_a_sentence) {
  EXPECT_EQ(edit_file(folder_ / "none.toml", edits_).error().error_class, ErrorClass::not_found);
  EXPECT_THAT(edit_file(folder_, edits_).error().message, HasSubstr("not a regular file"));
  ::mkfifo((folder_ / "pipe.toml").c_str(), 0600);
  EXPECT_THAT(edit_file(folder_ / "pipe.toml", edits_).error().message,
              HasSubstr("not a regular file"));
  fs::create_symlink("gone", folder_ / "dangling.toml");
  EXPECT_FALSE(edit_file(folder_ / "dangling.toml", edits_));
}

TEST_F(edit_file_in_a_folder, a_refused_edit_leaves_the_file_alone) {
  write(folder_ / "a.toml", text_);
  const auto before = fs::last_write_time(folder_ / "a.toml");
  EXPECT_FALSE(edit_file(folder_ / "a.toml", std::vector<Edit>{RemoveRule{"b"}}));
  EXPECT_EQ(read(folder_ / "a.toml"), text_);
  EXPECT_EQ(fs::last_write_time(folder_ / "a.toml"), before);
  EXPECT_EQ(file_count(), 1U);
}

TEST_F(edit_file_in_a_folder, a_dry_run_writes_nothing) {
  write(folder_ / "a.toml", text_);
  const auto result = edit_file(folder_ / "a.toml", edits_, {.dry_run = true});
  ASSERT_TRUE(result);
  EXPECT_THAT(result->after, HasSubstr("n = 2"));
  EXPECT_EQ(read(folder_ / "a.toml"), text_);
}

TEST_F(edit_file_in_a_folder, mode_links_and_the_folder_stay_as_they_were) {
  write(folder_ / "a.toml", text_);
  fs::permissions(folder_ / "a.toml", fs::perms(0640));
  fs::create_symlink("a.toml", folder_ / "link.toml");
  ASSERT_TRUE(edit_file(folder_ / "link.toml", edits_));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.toml"));
  EXPECT_EQ(read(folder_ / "a.toml"), "[[rules]]\nruleId = 'a'\n[rules.values]\nn = 2");
  EXPECT_EQ(fs::status(folder_ / "a.toml").permissions(), fs::perms(0640));
  EXPECT_EQ(file_count(), 2U);
}

TEST_F(edit_file_in_a_folder, the_owner_stays) {
  write(folder_ / "a.toml", text_);
  if (::geteuid() == 0) {  // only root can make a file of somebody else
    ASSERT_EQ(::chown((folder_ / "a.toml").c_str(), 1234, 2345), 0);
  }
  struct stat before = {};
  ASSERT_EQ(::stat((folder_ / "a.toml").c_str(), &before), 0);
  ASSERT_TRUE(edit_file(folder_ / "a.toml", edits_));
  struct stat now = {};
  ASSERT_EQ(::stat((folder_ / "a.toml").c_str(), &now), 0);
  EXPECT_EQ(now.st_uid, before.st_uid);
  EXPECT_EQ(now.st_gid, before.st_gid);
}

TEST_F(edit_file_in_a_folder, a_lock_that_is_held_too_long_is_an_error) {
  write(folder_ / "a.toml", text_);
  const int held = ::open((folder_ / "a.toml").c_str(), O_RDONLY);
  ASSERT_EQ(::flock(held, LOCK_EX), 0);
  const auto result =
      edit_file(folder_ / "a.toml", edits_, {.lock_deadline = std::chrono::milliseconds(20)});
  ::close(held);
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("being edited by another program"));
  EXPECT_TRUE(edit_file(folder_ / "a.toml", edits_));
}

TEST_F(edit_file_in_a_folder, several_processes_at_once_lose_no_edit) {
  write(folder_ / "a.toml", text_);
  constexpr int processes = 4, edits_each = 25;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const auto child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      int failures = 0;
      for (int i = 0; i < edits_each; ++i) {
        const auto key = "p" + std::to_string(p) + "-" + std::to_string(i);
        const std::vector<Edit> edit = {SetValue{"a", {key}, std::to_string(i)}};
        failures +=
            !edit_file(folder_ / "a.toml", edit, {.lock_deadline = std::chrono::minutes(1)});
      }
      ::_exit(failures == 0 ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  const auto text = read(folder_ / "a.toml");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3 + processes * edits_each);
  for (int p = 0; p < processes; ++p)
    for (int i = 0; i < edits_each; ++i)
      EXPECT_THAT(text, HasSubstr("\np" + std::to_string(p) + "-" + std::to_string(i) + " = "));
  EXPECT_EQ(file_count(), 1U);
}

}  // namespace
}  // namespace muster::rules
