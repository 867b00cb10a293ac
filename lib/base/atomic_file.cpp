#include "lib/base/atomic_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/file_descriptor.hpp"

namespace muster {
namespace fs = std::filesystem;
namespace {

// Returns 0 or errno.
int write_all(int descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t written = ::write(descriptor, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

Result<void> sync_folder(const fs::path& folder) {
  const FileDescriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor || ::fsync(descriptor.get()) != 0) return system_error("sync", folder, errno);
  return {};
}

}  // namespace

Error system_error(std::string_view what, const fs::path& file, int error_number) {
  std::string message =
      std::string(what) + " " + file.string() + ": " + std::strerror(error_number);
  switch (error_number) {
    case ENOENT:
      return Error::not_found(std::move(message));
    case EACCES:
    case EPERM:
      return Error::auth(std::move(message));
    case EMFILE:
    case ENFILE:
    case ENOMEM:
    case ENOSPC:
    case EDQUOT:
    case EIO:  // the file is not to blame
      return Error::transient(std::move(message));
    default:
      return Error::internal(std::move(message));
  }
}

Result<void> write_file_atomically(const fs::path& file, std::string_view content, mode_t mode) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  std::string temporary = (folder / ("." + file.filename().string() + ".XXXXXX")).string();
  const FileDescriptor descriptor(::mkostemp(temporary.data(), O_CLOEXEC));  // mode 0600
  if (!descriptor) return system_error("create a temporary file in", folder, errno);
  int failed = write_all(descriptor.get(), content);
  if (failed == 0 && ::fchmod(descriptor.get(), mode) != 0) failed = errno;
  if (failed == 0 && ::fsync(descriptor.get()) != 0) failed = errno;
  if (failed == 0 && ::rename(temporary.c_str(), file.c_str()) != 0) failed = errno;
  if (failed != 0) {
    ::unlink(temporary.c_str());
    return system_error("write", file, failed);
  }
  return sync_folder(folder);
}

Result<std::string> read_file(const fs::path& file, std::size_t max_size) {
  // O_NONBLOCK: opening a FIFO must not wait for a writer.
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!descriptor) return system_error("open", file, errno);
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return system_error("read", file, errno);
  if (!S_ISREG(status.st_mode)) return Error::invalid(file.string() + " is not a regular file");
  std::string content;
  char part[16 * 1024];
  for (;;) {
    const ssize_t got = ::read(descriptor.get(), part, sizeof part);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return system_error("read", file, errno);
    if (got == 0) return content;
    content.append(part, static_cast<std::size_t>(got));
    if (content.size() > max_size)
      return Error::invalid(file.string() + " is larger than " + std::to_string(max_size) +
                            " bytes");
  }
}

}  // namespace muster
