#include "agent/folder.hpp"

#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster::agent {
namespace fs = std::filesystem;
namespace {

constexpr std::size_t registration_key_letters = 43;  // as random_token() makes it

std::string all_of(const fs::path& file) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  char part[4096];
  for (ssize_t got = 0; opened && (got = ::read(opened.get(), part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(got));
  return text;
}

bool is_shell_name(const std::string& name) {
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) return false;
  for (const char c : name)
    if (!(c == '_' || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z')))
      return false;
  return true;
}

// With what write_file_atomically() has beside a file until it is whole: ".name.XXXXXX".
bool holds_secrets(const char* name) {
  for (const char* secret : {"credentials.json", "environment.sh", "worker.pid"})
    if (std::strcmp(name, secret) == 0) return true;
  for (const char* unfinished : {".credentials.json.", ".environment.sh.", ".worker-config.json."})
    if (std::strncmp(name, unfinished, std::strlen(unfinished)) == 0) return true;
  return false;
}

// As the kernel writes it; the C library has no such type for us.
struct DirectoryEntry {
  std::uint64_t inode;
  std::int64_t next;
  unsigned short length;
  unsigned char type;
  char name[1];
};

// Who is killed leaves the lock to its guard, for the moment that it needs to clean up.
bool take_lock(int lock, const fs::path& file) {
  for (int attempt = 0; attempt < 250; ++attempt) {
    if (::flock(lock, LOCK_EX | LOCK_NB) == 0) return true;
    pid_t holder = 0;
    const std::string text = all_of(file);
    std::from_chars(text.data(), text.data() + text.size(), holder);
    if (holder <= 1 || ::kill(holder, 0) == 0 || errno != ESRCH) return false;
    ::usleep(20'000);
  }
  return false;
}

Error unusable(const fs::path& path, const std::string& why) {
  return Error::config("the folder " + path.string() + " cannot be used: " + why);
}

}  // namespace

Result<AgentFolder> AgentFolder::take(const fs::path& path, const std::optional<RunAs>& reader) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return unusable(path, std::strerror(errno));
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return unusable(path, "it is not a folder");
  const mode_t mode = reader ? 0711 : 0700;
  if ((status.st_mode & 0777) != mode && ::chmod(path.c_str(), mode) != 0)
    return unusable(path, "others may use it, and it is not ours to change that");
  if (const auto ours = check_ownership(path, "the agent's folder", OthersMay::read); !ours)
    return ours.error();
  FileDescriptor lock(::open((path / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return unusable(path, std::string("lock: ") + std::strerror(errno));
  if (!take_lock(lock.get(), path / "lock")) {
    std::string pid = all_of(path / "lock");
    pid.erase(pid.find_last_not_of(" \n") + 1);
    return Error::quota("another agent (process " + pid + ") has the folder " + path.string());
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Who holds the lock is known by the lock alone, so a full disk is no reason not to begin.
  if (::ftruncate(lock.get(), 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(lock.get(), pid.data(), pid.size(), 0);
  return AgentFolder(path, std::move(lock), reader);
}

bool AgentFolder::hand_over(const fs::path& file) const {
  return !reader_ || ::lchown(file.c_str(), reader_->uid, reader_->gid) == 0;
}

// It is the reader's before it has its name: nobody finds a file there that is not for them.
Result<void> AgentFolder::write_for_reader(const fs::path& path, const std::string& text) const {
  if (!reader_) return write_file_atomically(path, text, 0600);
  const fs::path ready = path_ / ("." + path.filename().string() + ".ready");
  if (auto done = write_file_atomically(ready, text, 0600); !done) return done;
  if (hand_over(ready) && ::rename(ready.c_str(), path.c_str()) == 0) return {};
  const int why = errno;
  ::unlink(ready.c_str());
  return system_error("write", path, why);
}

Result<void> AgentFolder::write(const std::string& credentials_text,
                                const std::string& worker_config_text,
                                const std::map<std::string, std::string>& variables) const {
  if (auto done = write_for_reader(worker_config(), worker_config_text); !done) return done;
  if (auto done = write_for_reader(environment(), shell_text(variables)); !done) return done;
  return write_for_reader(credentials(), credentials_text);
}

void AgentFolder::write_worker_pid(pid_t pid) const {
  (void)write_file_atomically(file("worker.pid"), std::to_string(pid) + "\n", 0600);
}

void AgentFolder::remove_secrets() const {
  remove_secret_files(path_.c_str());
}

void remove_secret_files(const char* folder) {
  const int opened = ::open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened < 0) return;
  alignas(DirectoryEntry) char entries[8192];
  for (;;) {
    const long got = ::syscall(SYS_getdents64, opened, entries, sizeof entries);
    if (got <= 0) break;
    for (long at = 0; at < got;) {
      const auto* entry = reinterpret_cast<const DirectoryEntry*>(entries + at);
      if (holds_secrets(entry->name)) ::unlinkat(opened, entry->name, 0);
      at += entry->length;
    }
  }
  ::close(opened);
}

Secret AgentFolder::registration_key() const {
  std::string kept = all_of(file("registration-key"));
  kept.erase(kept.find_last_not_of(" \n") + 1);
  if (kept.size() == registration_key_letters) return Secret(std::move(kept));
  Secret made = random_token();
  (void)write_file_atomically(file("registration-key"), made.reveal() + "\n", 0600);
  return made;
}

void AgentFolder::write_status(const std::string& text) const {
  (void)write_file_atomically(file("status.json"), text, 0600);
}

int AgentFolder::end_leftovers() const {
  const std::string mark = "MUSTER_REPORTS=" + reports().string();
  int found = 0;
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator("/proc", failed)) {
    const std::string name = entry.path().filename().string();
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size() || pid == ::getpid()) continue;
    const std::string environ_text = '\0' + all_of(entry.path() / "environ");
    if (environ_text.find('\0' + mark + '\0') == std::string::npos) continue;
    if (::kill(pid, SIGKILL) == 0) ++found;
  }
  return found;
}

std::string shell_text(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!is_shell_name(name)) continue;
    text += name + "='";
    for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    text += "'\n";
  }
  return text;
}

}  // namespace muster::agent
