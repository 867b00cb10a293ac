#include "plugins/provider/local/limits.hpp"

#include <cerrno>
#include <cmath>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "plugins/base/files.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

constexpr auto cgroup2_magic = 0x63677270;

bool is_cgroup2(const fs::path& folder) {
  struct statfs about {};
  return ::statfs(folder.c_str(), &about) == 0 && about.f_type == cgroup2_magic;
}

bool is_delegated(const fs::path& folder) {
  char mark = 0;
  return (::getxattr(folder.c_str(), "trusted.delegate", &mark, 1) == 1 && mark == '1') ||
         (::getxattr(folder.c_str(), "user.delegate", &mark, 1) == 1 && mark == '1');
}

fs::path own_cgroup() {
  const auto text = read_if_there("/proc/self/cgroup", 65536);
  if (!text || !*text) return {};
  const std::string lines = "\n" + **text;
  const auto at = lines.find("\n0::/");
  if (at == std::string::npos) return {};
  const auto begin = at + 4;
  const std::string path = lines.substr(begin + 1, lines.find('\n', begin) - begin - 1);
  for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"})
    if (is_cgroup2(root)) return fs::path(root) / path;
  return {};
}

bool set(const fs::path& file, const std::string& value) {
  const Descriptor open(::open(file.c_str(), O_WRONLY | O_CLOEXEC));
  return open &&
         ::write(open.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

// What the group cannot hold, the process alone is held to, or nothing holds it.
void hold(Limits& limits, const char* name, const char* file, const std::string& value) {
  if (!limits.cgroup.empty() && set(limits.cgroup / file, value))
    limits.in_words[name] = std::string("cgroup ") + file;
}

}  // namespace

fs::path cgroup_of_workers(const Settings& settings) {
  if (!settings.cgroup.empty()) return settings.cgroup;
  const fs::path own = own_cgroup();
  return !own.empty() && is_delegated(own) && ::access(own.c_str(), W_OK) == 0 ? own : fs::path();
}

Result<Limits> make_limits(const Section& section, const fs::path& all_workers,
                           const std::string& worker, bool configured) {
  Limits limits;
  if (!all_workers.empty()) {
    if (configured && !is_cgroup2(all_workers))
      return Error::config("cgroup: " + all_workers.string() + " is not a cgroup of version 2");
    // Fails while processes are in the group itself; what is not enabled is not held by it.
    for (const char* controller : {"+memory", "+pids", "+cpu"})
      set(all_workers / "cgroup.subtree_control", controller);
    const fs::path group = all_workers / ("muster-" + worker);
    if (::mkdir(group.c_str(), 0755) == 0 || errno == EEXIST)
      limits.cgroup = group;
    else if (configured)
      return trouble(group, "cannot be made", errno);
  }
  if (section.memory) {
    hold(limits, "memory", "memory.max", std::to_string(*section.memory));
    if (!limits.in_words.contains("memory")) {
      limits.rlimits.emplace_back(RLIMIT_DATA, static_cast<rlim_t>(*section.memory));
      limits.in_words["memory"] = "rlimit data of each process";
    }
  }
  if (section.cpus) {
    limits.in_words["cpus"] = "not held: no cgroup can";
    hold(limits, "cpus", "cpu.max",
         std::to_string(std::llround(*section.cpus * 100'000)) + " 100000");
  }
  if (section.processes) {
    limits.in_words["processes"] = "not held: no cgroup can";
    hold(limits, "processes", "pids.max", std::to_string(*section.processes));
  }
  if (section.open_files) {
    limits.rlimits.emplace_back(RLIMIT_NOFILE, static_cast<rlim_t>(*section.open_files));
    limits.in_words["openFiles"] = "rlimit of each process";
  }
  limits.rlimits.emplace_back(RLIMIT_CORE, 0);
  limits.in_words["ending"] = limits.cgroup.empty() ? "process group" : "cgroup";
  return limits;
}

bool end_cgroup(const fs::path& cgroup) {
  if (cgroup.empty() || !is_there(cgroup)) return true;
  set(cgroup / "cgroup.kill", "1");
  // Those that were killed leave the group a moment later.
  for (int attempt = 0; attempt < 50; ++attempt) {
    if (::rmdir(cgroup.c_str()) == 0 || errno == ENOENT) return true;
    ::usleep(1000);
  }
  return false;
}

}  // namespace muster::local
