// The copy that this host keeps of a remote repository.
#include "lib/git/git_call.hpp"

namespace muster::git {
namespace {

namespace fs = std::filesystem;
constexpr const char* kept_ref = "refs/muster/source";

}  // namespace

Result<Repository> Repository::cache(const fs::path& path, Time time) {
  std::error_code failed;
  fs::create_directories(path, failed);
  if (failed) return Error::config("cannot make " + path.string() + ": " + failed.message());
  // Harmless where there is one already.
  const auto made = call_git(path, {"init", "--quiet", "--bare", "--template=", "."}, time);
  if (!made) return made.error();
  if (made->exit_code != 0) return Error::transient(complaint_of(*made));
  return Repository(path, time);
}

Result<std::string> Repository::fetch(const std::string& url, const std::string& ref) const {
  if (url.empty() || url.starts_with('-'))
    return Error::config("\"" + url + "\" is not the address of a repository");
  if (!is_plain_ref(ref)) return Error::config("\"" + ref + "\" is not a branch, tag or commit");
  const auto fetched =
      call_git(root_,
               {"fetch", "--quiet", "--force", "--no-tags", "--depth=1", "--no-write-fetch-head",
                "--no-recurse-submodules", "--", url, "+" + ref + ":" + kept_ref},
               time_);
  if (!fetched) return fetched.error();
  if (fetched->exit_code != 0) return Error::transient(complaint_of(*fetched));
  const auto commit_id = commit(kept_ref);
  if (!commit_id) return Error::transient("git: " + ref + " of " + url + " is not a commit");
  return *commit_id;
}

}  // namespace muster::git
