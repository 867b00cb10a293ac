#include "plugins/base/files.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>

namespace muster {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const auto count = ::write(file, content.data(), content.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    content.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

Result<void> sync_folder(const fs::path& folder) {
  const Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!open || ::fsync(open.get()) != 0) return trouble(folder, "cannot be synced", errno);
  return {};
}

Result<Descriptor> open_lock(const fs::path& file) {
  Descriptor open(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!open) return trouble(file, "cannot be opened", errno);
  return open;
}

}  // namespace

Error trouble(const fs::path& file, const char* what, int error_number) {
  const std::string message =
      file.string() + " " + what + ": " + std::string(std::strerror(error_number));
  const bool full = error_number == ENOSPC || error_number == EDQUOT || error_number == EFBIG;
  return full ? Error::capacity(message) : Error::transient(message);
}

Result<void> write_durably(const fs::path& file, std::string_view content, mode_t mode) {
  const fs::path fresh = file.string() + ".new";
  ::unlink(fresh.c_str());  // of a crash; its mode may be another
  const auto failed = [&](const char* what) {
    const int why = errno;
    ::unlink(fresh.c_str());
    return trouble(file, what, why);
  };
  {
    const Descriptor open(
        ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode));
    if (!open) return trouble(file, "cannot be made", errno);
    if (!write_all(open.get(), content) || ::fsync(open.get()) != 0)
      return failed("cannot be written");
  }
  if (::rename(fresh.c_str(), file.c_str()) != 0) return failed("cannot be replaced");
  return sync_folder(file.parent_path());
}

Result<std::optional<std::string>> read_if_there(const fs::path& file, std::size_t most) {
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!open) {
    if (errno == ENOENT || errno == ENOTDIR) return std::optional<std::string>();
    return trouble(file, "cannot be opened", errno);
  }
  struct stat about {};
  if (::fstat(open.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return Error::config(file.string() + " is not a regular file");
  std::string text;
  char part[16384];
  for (;;) {
    const auto count = ::read(open.get(), part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return trouble(file, "cannot be read", errno);
    if (count == 0) return std::optional(std::move(text));
    text.append(part, static_cast<std::size_t>(count));
    if (text.size() > most)
      return Error::config(file.string() + " is larger than " + std::to_string(most) + " bytes");
  }
}

bool is_there(const fs::path& file) {
  struct stat about {};
  return ::lstat(file.c_str(), &about) == 0;
}

Result<Descriptor> lock_file(const fs::path& file, const Context& context) {
  auto open = open_lock(file);
  if (!open) return open;
  while (::flock(open->get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return trouble(file, "cannot be locked", errno);
    if (context.cancelled())
      return Error::cancelled("another process held " + file.string() + " until the deadline");
    std::this_thread::sleep_for(1ms);
  }
  return open;
}

Result<std::optional<Descriptor>> try_lock_file(const fs::path& file) {
  auto open = open_lock(file);
  if (!open) return open.error();
  if (::flock(open->get(), LOCK_EX | LOCK_NB) != 0) return std::optional<Descriptor>();
  return std::optional<Descriptor>(std::move(*open));
}

LockState look_at_lock(const fs::path& file) {
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!open) return errno == ENOENT || errno == ENOTDIR ? LockState::missing : LockState::held;
  return ::flock(open.get(), LOCK_SH | LOCK_NB) == 0 ? LockState::free : LockState::held;
}

}  // namespace muster
