// Files as they are in a git revision, read from git's objects with the program git: nothing is
// checked out, no hook runs, nobody is asked for a password, and nothing in the repository changes.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>

namespace muster::git {

struct File {
  std::string name;  // within its folder
  std::string text;
  std::string unreadable = {};  // why there is no text
};

struct ReadLimits {
  std::size_t files = 10'000;
  std::size_t file_bytes = 1'048'576;
};

// Whether a text may be given to git as a branch, a tag or a commit: nothing that git would take
// for an option, for a range or for a search.
bool is_plain_ref(std::string_view ref);

// Whether git would fetch from there ("https://...", "git@host:path") or just open a folder.
bool is_remote(std::string_view location);

// A value: a path and how to call git there. THREADS: any, and any number at once.
class Repository {
 public:
  using Time = std::optional<std::chrono::milliseconds>;  // that each call of git may take

  // The checkout around a folder; fails as `not_found` if there is none. The folder itself need not
  // exist any more.
  static Result<Repository> around(const std::filesystem::path& folder, Time time = {});
  // A repository, bare or with a checkout, exactly there.
  static Result<Repository> at(const std::filesystem::path& path, Time time = {});

  // A bare one that this host keeps for a remote one; made if it is not there. fetch() brings one
  // ref of the remote and answers the commit that it names.
  static Result<Repository> cache(const std::filesystem::path& path, Time time);
  Result<std::string> fetch(const std::string& url, const std::string& ref) const;

  // The commit that a revision names; nothing if it names none.
  std::optional<std::string> commit(const std::string& revision) const;

  // The files directly in `folder` ("" is the root) at a commit whose names `wanted` likes, by
  // name. A folder that is not there fails as `not_found`. Symbolic links lead to files of the same
  // folder that `wanted` likes; others are `unreadable`, whatever they lead to. Submodules are no
  // files. Fails as `invalid` past a limit, and as `transient`
  // if an object is missing, as in a repository into which somebody pushes right now.
  Result<std::vector<File>> read(const std::string& commit, const std::string& folder,
                                 bool (*wanted)(std::string_view),
                                 const ReadLimits& limits = {}) const;

  const std::filesystem::path& root() const { return root_; }  // of the checkout, or the bare one
  // Where refs are kept: a watch of this folder sees every push.
  Result<std::filesystem::path> refs_folder() const;

 private:
  Repository(std::filesystem::path root, Time time) : root_(std::move(root)), time_(time) {}
  Result<std::vector<std::string>> objects(const std::vector<std::string>& ids,
                                           std::size_t max_bytes) const;

  std::filesystem::path root_;
  Time time_;
};

}  // namespace muster::git
