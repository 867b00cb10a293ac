// A git repository for a test, made with the program git.
#pragma once

#include <fstream>
#include <stdexcept>

#include "lib/git/process.hpp"
#include "tests/support/temporary_folder.hpp"

namespace muster::testing {

class GitRepository {
 public:
  GitRepository() {
    git({"init", "-q", "-b", "main", "."});
    git({"config", "user.name", "test"});
    git({"config", "user.email", "test@example.com"});
  }

  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }

  std::string git(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"git", "-C", path().string()});
    std::vector<std::string> environment = muster::git::own_environment();
    std::erase_if(environment, [](const std::string& v) { return v.starts_with("GIT_"); });
    const auto done = muster::git::run_process(arguments, environment);
    if (!done || done->exit_code != 0)
      throw std::runtime_error("git failed: " + (done ? done->err : done.error().message));
    std::string out = done->out;
    while (out.ends_with('\n')) out.pop_back();
    return out;
  }

  void write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((folder_ / name).parent_path());
    std::ofstream(folder_ / name, std::ios::binary) << text;
  }

  // Answers the commit.
  std::string commit() const {
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "change"});
    return git({"rev-parse", "HEAD"});
  }

 private:
  TemporaryFolder folder_;
};

}  // namespace muster::testing
