#include "agent/folder.hpp"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"

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

// What write_file_atomically() has beside a file until it is whole.
bool is_unfinished(const fs::path& found, const fs::path& file) {
  return found.filename().string().starts_with("." + file.filename().string() + ".");
}

Error unusable(const fs::path& path, const std::string& why) {
  return Error::config("the folder " + path.string() + " cannot be used: " + why);
}

}  // namespace

Result<AgentFolder> AgentFolder::take(const fs::path& path) {
  std::error_code failed;
  fs::create_directories(path.parent_path(), failed);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return unusable(path, std::strerror(errno));
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
    return unusable(path, "it is not a folder");
  if ((status.st_mode & 0077) != 0 && ::chmod(path.c_str(), 0700) != 0)
    return unusable(path, "others may use it, and it is not ours to change that");
  FileDescriptor lock(::open((path / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return unusable(path, std::string("lock: ") + std::strerror(errno));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    std::string pid = all_of(path / "lock");
    pid.erase(pid.find_last_not_of(" \n") + 1);
    return Error::quota("another agent (process " + pid + ") has the folder " + path.string());
  }
  const std::string pid = std::to_string(::getpid()) + "\n";
  // Who holds the lock is known by the lock alone, so a full disk is no reason not to begin.
  if (::ftruncate(lock.get(), 0) == 0) [[maybe_unused]]
    const auto written = ::pwrite(lock.get(), pid.data(), pid.size(), 0);
  return AgentFolder(path, std::move(lock));
}

Result<void> AgentFolder::write(const std::string& credentials_text,
                                const std::string& worker_config_text,
                                const std::map<std::string, std::string>& variables) const {
  if (auto done = write_file_atomically(worker_config(), worker_config_text, 0600); !done)
    return done;
  if (auto done = write_file_atomically(environment(), shell_text(variables), 0600); !done)
    return done;
  return write_file_atomically(credentials(), credentials_text, 0600);
}

void AgentFolder::write_worker_pid(pid_t pid) const {
  (void)write_file_atomically(file("worker.pid"), std::to_string(pid) + "\n", 0600);
}

void AgentFolder::remove_secrets() const {
  for (const fs::path& path : {credentials(), environment(), file("worker.pid")})
    ::unlink(path.c_str());
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(path_, failed))
    for (const fs::path& path : {credentials(), worker_config(), environment()})
      if (is_unfinished(entry.path(), path)) ::unlink(entry.path().c_str());
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
