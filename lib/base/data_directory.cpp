#include "lib/base/data_directory.hpp"

#include <cerrno>
#include <charconv>
#include <chrono>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"
#include "lib/base/file_ownership.hpp"

namespace muster {
namespace fs = std::filesystem;
namespace {

// 0: not (yet) written.
long pid_in(int lock) {
  char text[32];
  const ssize_t size = ::pread(lock, text, sizeof text, 0);
  long pid = 0;
  if (size > 0) std::from_chars(text, text + size, pid);
  return pid;
}

std::string holder_of(int lock) {
  using namespace std::chrono_literals;
  for (int attempt = 0; attempt < 20; ++attempt) {
    if (const long pid = pid_in(lock)) return "pid " + std::to_string(pid);
    std::this_thread::sleep_for(10ms);  // between its flock and its write
  }
  return "a process that has not written its pid";
}

Result<void> make_private_folder(const fs::path& folder) {
  constexpr mode_t mode = 0711;  // whatever the umask
  const bool made = ::mkdir(folder.c_str(), mode) == 0;
  if ((!made && errno != EEXIST) || (made && ::chmod(folder.c_str(), mode) != 0))
    return system_error("make the data directory", folder, errno);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return system_error("read", folder, errno);
  if (!S_ISDIR(status.st_mode))
    return Error::config("the data directory " + folder.string() + " is not a folder");
  return check_ownership(status, folder, "the data directory", OthersMay::read, ::geteuid());
}

}  // namespace

Result<DataDirectory> DataDirectory::open(const fs::path& folder) {
  if (const auto made = make_private_folder(folder); !made) return made.error();
  std::error_code ignored;
  fs::path path = fs::canonical(folder, ignored);
  if (path.empty()) path = fs::absolute(folder);
  const fs::path file = path / "lock";
  FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!lock) return system_error("open", file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return system_error("lock", file, errno);
    return Error::config("the data directory " + path.string() + " is in use by another musterd, " +
                         holder_of(lock.get()) +
                         ": stop that one first, or give this one a dataDirectory of its own")
        .with_code(std::string(in_use));
  }
  // The pid is for people: a full disk is no reason not to start.
  const std::string pid = std::to_string(::getpid()) + "\n";
  const ssize_t written = ::pwrite(lock.get(), pid.data(), pid.size(), 0);
  const bool whole = written == static_cast<ssize_t>(pid.size());
  if (!whole && errno != ENOSPC && errno != EDQUOT) return system_error("write", file, errno);
  if (::ftruncate(lock.get(), whole ? written : 0) != 0) return system_error("write", file, errno);
  return DataDirectory(std::move(path), std::move(lock));
}

}  // namespace muster
