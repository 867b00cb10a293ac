#include "plugins/base/state_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>

#include "plugins/base/files.hpp"

namespace muster {
namespace {

Result<std::string> read_all(int file, const std::string& path) {
  std::string text;
  char part[65536];
  for (;;) {
    const auto count = ::read(file, part, sizeof part);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return trouble(path, "cannot be read", errno);
    if (count == 0) return text;
    text.append(part, static_cast<std::size_t>(count));
  }
}

}  // namespace

bool StateFile::Identity::same_as(const struct stat& file) const {
  return inode == file.st_ino && size == file.st_size && changed.tv_sec == file.st_mtim.tv_sec &&
         changed.tv_nsec == file.st_mtim.tv_nsec;
}

Result<Descriptor> StateFile::lock(const Context& context) const {
  return lock_file(path_ + ".lock", context);
}

Result<std::optional<std::string>> StateFile::refresh() {
  const Descriptor file(::open(path_.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) {
    if (errno == ENOENT) return std::optional<std::string>();
    return trouble(path_, "cannot be opened", errno);
  }
  struct stat now {};
  if (::fstat(file.get(), &now) != 0) return trouble(path_, "cannot be read", errno);
  if (seen_.same_as(now)) return std::optional<std::string>();
  auto text = read_all(file.get(), path_);
  if (!text) return text.error();
  seen_ = {now.st_ino, now.st_size, now.st_mtim};
  return std::optional<std::string>(std::move(*text));
}

Result<void> StateFile::store(std::string_view text) {
  if (const auto written = write_durably(path_, text); !written) return written;
  struct stat now {};  // of the very file: another writer would need the lock to replace it
  if (::stat(path_.c_str(), &now) != 0) return trouble(path_, "cannot be read", errno);
  seen_ = {now.st_ino, now.st_size, now.st_mtim};
  return {};
}

}  // namespace muster
