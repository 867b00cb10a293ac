#include "plugins/provider/local/processes.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "plugins/base/files.hpp"

namespace muster::local {
namespace {

namespace fs = std::filesystem;

std::optional<pid_t> number_in(std::string_view text) {
  pid_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number <= 1) return std::nullopt;
  return number;
}

std::optional<pid_t> pid_in(const fs::path& file) {
  const auto text = read_if_there(file, 4096);
  return text && *text ? number_in(**text) : std::nullopt;
}

// Files of /proc have no size and may be gone at any moment: empty then.
std::string read_proc(pid_t pid, const char* name) {
  const std::string path = "/proc/" + std::to_string(pid) + "/" + name;
  const Descriptor open(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[16384];
  while (open && text.size() < (4 << 20)) {
    const auto count = ::read(open.get(), part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    text.append(part, static_cast<std::size_t>(count));
  }
  return text;
}

// Texts that end with a zero byte each, as in cmdline and environ: whether they follow each other.
bool has_items(const std::string& items, const std::string& wanted) {
  const std::string whole = std::string(1, '\0') + wanted + '\0';
  return (std::string(1, '\0') + items + '\0').find(whole) != std::string::npos;
}

struct Status {
  char state = '?';
  pid_t group = 0;
  std::uint64_t started = 0;  // in ticks since the machine's start

  bool ended() const { return state == 'Z' || state == 'X'; }
};

// The name of a process may hold anything, brackets too: what follows stands after the last one.
std::optional<Status> status_of(pid_t pid) {
  const std::string text = read_proc(pid, "stat");
  const auto bracket = text.rfind(')');
  if (bracket == std::string::npos) return std::nullopt;
  Status status;
  const int read = std::sscanf(text.c_str() + bracket + 1,
                               " %c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                               "%*d %*d %" SCNu64,
                               &status.state, &status.group, &status.started);
  if (read != 3) return std::nullopt;
  return status;
}

std::vector<pid_t> all_processes() {
  std::vector<pid_t> found;
  DIR* const folder = ::opendir("/proc");
  if (!folder) return found;
  while (const dirent* entry = ::readdir(folder))
    if (const auto pid = number_in(entry->d_name)) found.push_back(*pid);
  ::closedir(folder);
  return found;
}

Descriptor pin(pid_t pid) {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

bool signal_pinned(const Descriptor& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

bool has_open(pid_t pid, const struct stat& file) {
  const std::string path = "/proc/" + std::to_string(pid) + "/fd";
  DIR* const folder = ::opendir(path.c_str());
  if (!folder) return false;
  bool found = false;
  while (const dirent* entry = found ? nullptr : ::readdir(folder)) {
    struct stat other {};
    found = ::stat((path + "/" + entry->d_name).c_str(), &other) == 0 &&
            other.st_ino == file.st_ino && other.st_dev == file.st_dev;
  }
  ::closedir(folder);
  return found;
}

std::chrono::nanoseconds in_one(const timespec& time) {
  return std::chrono::seconds(time.tv_sec) + std::chrono::nanoseconds(time.tv_nsec);
}

// When a process began, on the wall as the wall is now. Whole seconds would be off by one, by
// chance.
std::optional<std::chrono::nanoseconds> began(const Status& status) {
  timespec wall{}, since_start{};
  if (::clock_gettime(CLOCK_REALTIME, &wall) != 0 ||
      ::clock_gettime(CLOCK_BOOTTIME, &since_start) != 0)
    return std::nullopt;
  const auto ticks = ::sysconf(_SC_CLK_TCK);
  return in_one(wall) - in_one(since_start) +
         std::chrono::milliseconds(status.started * 1000 / static_cast<std::uint64_t>(ticks));
}

// Files are dated by a clock that moves in steps.
constexpr auto step_of_dates = std::chrono::milliseconds(50);

}  // namespace

bool WorkerProcesses::has_our_mark(pid_t pid) const {
  const std::string folder = folder_.string();
  return has_items(read_proc(pid, "environ"), folder_variable + ("=" + folder)) ||
         has_items(read_proc(pid, "cmdline"),
                   std::string("--config") + '\0' + folder + "/agent.json");
}

bool WorkerProcesses::is_agent(pid_t pid) const {
  struct stat lock {};
  return (::stat((folder_ / "lock").c_str(), &lock) == 0 && has_open(pid, lock)) ||
         has_our_mark(pid);
}

bool WorkerProcesses::signal_agent(int signal) const {
  if (look_at_lock(folder_ / "lock") != LockState::held) return false;
  const auto pid = pid_in(folder_ / "lock");
  if (!pid) return false;
  const Descriptor process = pin(*pid);
  return process && is_agent(*pid) && signal_pinned(process, signal);
}

std::vector<WorkerProcesses::Found> WorkerProcesses::marked() const {
  std::vector<Found> found;
  for (const pid_t pid : all_processes()) {
    const auto status = status_of(pid);
    if (status && !status->ended() && pid != ::getpid() && has_our_mark(pid))
      found.push_back({pid, status->started});
  }
  return found;
}

// Of the implementation, if the number that was written down still means it: one of its members
// bears our mark, or its leader is older than the note of it. (A number is not given to anybody
// else while it names a group.)
std::vector<WorkerProcesses::Found> WorkerProcesses::members_of_group() const {
  const auto group = pid_in(folder_ / "worker.pid");
  struct stat note {};
  if (!group || ::stat((folder_ / "worker.pid").c_str(), &note) != 0) return {};
  std::vector<Found> members;
  bool ours = false;
  for (const pid_t pid : all_processes()) {
    const auto status = status_of(pid);
    if (!status || status->group != *group || status->ended()) continue;
    members.push_back({pid, status->started});
    const auto leader = pid == *group ? began(*status) : std::nullopt;
    ours = ours || has_our_mark(pid) || (leader && *leader <= in_one(note.st_mtim) + step_of_dates);
  }
  return ours ? members : std::vector<Found>();
}

bool WorkerProcesses::agent_is_gone() const {
  const auto pid = pid_in(folder_ / "lock");
  if (!pid) return false;  // it has not written it yet
  const auto status = status_of(*pid);
  return !status || status->ended();
}

bool WorkerProcesses::anybody() const {
  return !marked().empty();
}

std::size_t WorkerProcesses::kill_all() const {
  std::size_t killed = 0;
  // Those that are killed may have started others in the meantime.
  for (int round = 0; round < 200; ++round) {
    std::vector<Found> found = marked();
    for (const Found& member : members_of_group())
      if (std::ranges::none_of(found, [&](const Found& one) { return one.pid == member.pid; }))
        found.push_back(member);
    if (found.empty()) break;
    for (const Found& one : found) {
      const Descriptor process = pin(one.pid);
      const auto status = status_of(one.pid);
      if (process && status && status->started == one.started && signal_pinned(process, SIGKILL))
        ++killed;
    }
    ::usleep(1000);
  }
  return killed;
}

}  // namespace muster::local
