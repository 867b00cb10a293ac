#include "plugins/state_file/state_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

namespace muster {
namespace {

using namespace std::chrono_literals;

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return descriptor_; }
  bool open() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }

 private:
  int descriptor_;
};

Error trouble(const std::string& path, const char* what) {
  return Error::transient(path + " " + what + ": " + std::strerror(errno));
}

Result<std::string> read_all(int file, const std::string& path) {
  std::string text;
  char part[65536];
  for (;;) {
    const auto count = ::read(file, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return trouble(path, "cannot be read");
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(file, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

StateFile::Lock::~Lock() {
  if (file_ >= 0) ::close(file_);
}

bool StateFile::Identity::same_as(const struct stat& file) const {
  return inode == file.st_ino && size == file.st_size && changed.tv_sec == file.st_mtim.tv_sec &&
         changed.tv_nsec == file.st_mtim.tv_nsec;
}

Result<StateFile::Lock> StateFile::lock(const Context& context) const {
  const std::string path = path_ + ".lock";
  File file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file.open()) return trouble(path, "cannot be opened");
  while (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return trouble(path, "cannot be locked");
    if (context.cancelled())
      return Error::cancelled("another process held " + path + " until the deadline");
    std::this_thread::sleep_for(1ms);
  }
  return Lock(file.release());
}

Result<std::optional<std::string>> StateFile::refresh() {
  const File file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.open()) {
    if (errno == ENOENT) return std::optional<std::string>();
    return trouble(path_, "cannot be opened");
  }
  struct stat now {};
  if (::fstat(file.get(), &now) != 0) return trouble(path_, "cannot be looked at");
  if (seen_.same_as(now)) return std::optional<std::string>();
  auto text = read_all(file.get(), path_);
  if (!text) return text.error();
  seen_ = {now.st_ino, now.st_size, now.st_mtim};
  return std::optional<std::string>(std::move(*text));
}

Result<void> StateFile::store(std::string_view text) {
  const std::string fresh = path_ + ".new";
  const File file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file.open()) return trouble(fresh, "cannot be opened");
  struct stat now {};
  if (!write_all(file.get(), text) || ::fsync(file.get()) != 0 || ::fstat(file.get(), &now) != 0)
    return trouble(fresh, "cannot be written");
  if (::rename(fresh.c_str(), path_.c_str()) != 0) return trouble(path_, "cannot be replaced");
  const std::string folder = path_.substr(0, path_.rfind('/') + 1);
  const File parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (parent.open()) ::fsync(parent.get());
  seen_ = {now.st_ino, now.st_size, now.st_mtim};
  return {};
}

}  // namespace muster
