// Demand from a folder with one file for each task: the smallest queue there is.
//
//   <folder>/<provisionerId>/<workerType>/<name>.task            waits
//   <folder>/<provisionerId>/<workerType>/taken/<name>           waits: somebody took it, and has
//                                                                not begun it
//   <folder>/<provisionerId>/<workerType>/claimed/<name>         somebody does it, unless it is a
//                                                                .log
//
// Only regular files count, links never, and names that begin with a dot are somebody's temporary
// files.
#include <cerrno>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <set>
#include <sys/stat.h>

#include "host/demand/source.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::demand {
namespace {

namespace fs = std::filesystem;

// More than a machine can do in days; beyond it the exact number does not matter.
constexpr std::int64_t most_counted = 100'000;
constexpr std::size_t most_folders = 1'000;

struct Closer {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, Closer>;

enum class Kind { file, folder, other };

Kind kind_of(const OpenFolder& folder, const dirent& entry) {
  if (entry.d_type == DT_REG) return Kind::file;
  if (entry.d_type == DT_DIR) return Kind::folder;
  if (entry.d_type != DT_UNKNOWN) return Kind::other;
  struct stat about {};
  if (::fstatat(::dirfd(folder.get()), entry.d_name, &about, AT_SYMLINK_NOFOLLOW) != 0)
    return Kind::other;
  return S_ISREG(about.st_mode) ? Kind::file : S_ISDIR(about.st_mode) ? Kind::folder : Kind::other;
}

// How many tasks are in it, up to most_counted; nothing if there is no such folder.
Result<std::optional<std::int64_t>> count_tasks(const fs::path& path, bool claimed,
                                                const Context& context) {
  const OpenFolder folder(::opendir(path.c_str()));
  if (!folder) {
    if (errno == ENOENT) return std::optional<std::int64_t>();
    return system_error("read", path, errno);
  }
  std::int64_t count = 0;
  std::int64_t entries = 0;
  while (const dirent* entry = ::readdir(folder.get())) {
    if (++entries % 1'000 == 0 && context.cancelled())
      return Error::cancelled(path.string() + " has too many files to count in time");
    const std::string_view name(entry->d_name);
    if (name.starts_with('.') || (claimed ? name.ends_with(".log") : !name.ends_with(".task")))
      continue;
    if (kind_of(folder, *entry) == Kind::file && ++count == most_counted) break;
  }
  return std::optional(count);
}

std::vector<std::string> folders_in(const fs::path& path, std::size_t most) {
  std::vector<std::string> names;
  const OpenFolder folder(::opendir(path.c_str()));
  while (const dirent* entry = folder ? ::readdir(folder.get()) : nullptr) {
    if (names.size() >= most) break;
    if (entry->d_name[0] != '.' && kind_of(folder, *entry) == Kind::folder)
      names.emplace_back(entry->d_name);
  }
  return names;
}

bool is_folder(const fs::path& path) {
  struct stat about {};
  return ::lstat(path.c_str(), &about) == 0 && S_ISDIR(about.st_mode);
}

class FolderSource final : public DemandSource {
 public:
  explicit FolderSource(fs::path folder) : folder_(std::move(folder)) {}

  Result<Answer> poll(const std::vector<WorkerPoolId>& pools, const Context& context) override {
    std::error_code failed;
    if (!fs::is_directory(folder_, failed))
      return Error::not_found("there is no folder " + folder_.string() + "; make it: mkdir -p " +
                              folder_.string() + "/<provisionerId>/<workerType>");
    Answer answer;
    std::set<std::string> known;
    for (const WorkerPoolId& pool : pools) {
      known.insert(pool.str());
      auto count = count_of(pool, context);
      if (count)
        answer.counts[pool] = *count;
      else if (count.error().error_class == ErrorClass::cancelled)
        return count.error();
      else
        answer.pool_errors[pool] = count.error().message;
    }
    for (const std::string& name : pool_folders())
      if (!known.contains(name) && answer.unknown_pools.size() < most_unknown) {
        const auto waiting = count_tasks(folder_ / name, false, context);
        if (waiting && waiting->value_or(0) > 0) answer.unknown_pools.push_back(name);
      }
    return answer;
  }

  std::vector<WatchedFolder> folders_to_watch() const override {
    std::error_code failed;
    if (!fs::is_directory(folder_, failed))
      return {{folder_.parent_path(), folder_.filename().string()}};
    std::vector<WatchedFolder> all{folder_};
    for (const std::string& name : folders_in(folder_, most_folders)) all.push_back(folder_ / name);
    for (const std::string& name : pool_folders()) {
      all.push_back(folder_ / name);
      if (is_folder(folder_ / name / "claimed")) all.push_back(folder_ / name / "claimed");
    }
    return all;
  }

 private:
  Result<Count> count_of(const WorkerPoolId& pool, const Context& context) const {
    Count count{0, {}, context.now()};
    const std::string& name = pool.str();
    const auto slash = name.find('/');
    // Ids of pools have one slash and no dots alone; other names are ignored.
    const fs::path path = (folder_ / name).lexically_normal();
    if (slash == std::string::npos || path != folder_ / name ||
        !is_folder(folder_ / name.substr(0, slash)) || !is_folder(path))
      return count;
    const auto waiting = count_tasks(path, false, context);
    if (!waiting) return waiting.error();
    count.pending = waiting->value_or(0);
    if (is_folder(path / "taken")) {
      const auto taken = count_tasks(path / "taken", true, context);
      if (!taken) return taken.error();
      count.pending += taken->value_or(0);
    }
    if (!is_folder(path / "claimed")) return count;
    const auto claimed = count_tasks(path / "claimed", true, context);
    if (!claimed) return claimed.error();
    count.claimed = *claimed;
    return count;
  }

  // "<provisionerId>/<workerType>", of those that are there.
  std::vector<std::string> pool_folders() const {
    std::vector<std::string> all;
    for (const std::string& provisioner : folders_in(folder_, most_folders))
      for (const std::string& type : folders_in(folder_ / provisioner, most_folders))
        if (all.size() < most_folders) all.push_back(provisioner + "/" + type);
    return all;
  }

  fs::path folder_;
};

}  // namespace

std::unique_ptr<DemandSource> folder_source(const config::DemandSettings& settings) {
  return std::make_unique<FolderSource>(settings.folder.lexically_normal());
}

}  // namespace muster::demand
