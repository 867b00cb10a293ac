#include "host/plugin_loader/kept_copy.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <openssl/evp.h>

namespace muster::plugin_loader {
namespace {

namespace fs = std::filesystem;

constexpr off_t max_library_size = off_t{1} << 30;

struct File {
  explicit File(int descriptor) : fd(descriptor) {}
  ~File() {
    if (fd >= 0) ::close(fd);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd;
};

std::string why() {
  return std::strerror(errno);
}

// O_NONBLOCK, so that a pipe named x.so does not stop the host for ever.
Result<std::string> read_library(const fs::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return Error::invalid(path.string() + " cannot be read: " + why());
  struct stat status {};
  if (::fstat(file.fd, &status) != 0)
    return Error::invalid(path.string() + " cannot be read: " + why());
  if (!S_ISREG(status.st_mode)) return Error::invalid(path.string() + " is no regular file");
  if (status.st_size == 0) return Error::invalid(path.string() + " is empty");
  if (status.st_size > max_library_size)
    return Error::invalid(path.string() + " is larger than 1 GiB");
  std::string bytes(static_cast<std::size_t>(status.st_size), '\0');
  std::size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t count = ::read(file.fd, bytes.data() + got, bytes.size() - got);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Error::invalid(path.string() + " changed while it was read");
    got += static_cast<std::size_t>(count);
  }
  return bytes;
}

Result<void> write_durably(const fs::path& path, std::string_view bytes, mode_t mode) {
  const fs::path fresh = path.string() + ".new." + std::to_string(::getpid());
  {
    const File file(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode));
    if (file.fd < 0) return Error::internal(fresh.string() + " cannot be written: " + why());
    std::size_t put = 0;
    while (put < bytes.size()) {
      const ssize_t count = ::write(file.fd, bytes.data() + put, bytes.size() - put);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) {
        const std::string reason = why();
        ::unlink(fresh.c_str());
        return Error::internal(path.string() + " cannot be written: " + reason);
      }
      put += static_cast<std::size_t>(count);
    }
    if (::fchmod(file.fd, mode) != 0 || ::fsync(file.fd) != 0)
      return Error::internal(path.string() + " cannot be written: " + why());
  }
  if (::rename(fresh.c_str(), path.c_str()) != 0)
    return Error::internal(path.string() + " cannot be put into place: " + why());
  return {};
}

Error wrong_hash(const fs::path& library, const std::string& expected, const std::string& found) {
  return Error::invalid("the manifest expects sha256 " + expected + " but " +
                        library.filename().string() + " has " + found +
                        "; copy the library first and the manifest last");
}

}  // namespace

std::string sha256_hex(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  static constexpr char hex[] = "0123456789abcdef";
  std::string text;
  for (unsigned int i = 0; i < size; ++i) {
    text += hex[digest[i] >> 4];
    text += hex[digest[i] & 15];
  }
  return text;
}

Result<void> refuse_writable_by_others(const fs::path& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0)
    return Error::invalid(path.string() + " cannot be read: " + why());
  if (status.st_mode & S_IWOTH)
    return Error::invalid(path.string() + " is writable by everybody; run: chmod o-w " +
                          path.string());
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return Error::invalid(path.string() + " belongs to user " + std::to_string(status.st_uid) +
                          ", neither to root nor to the user that the host runs as");
  return {};
}

Result<KeptCopy> keep_copy(const fs::path& folder, const fs::path& store) {
  auto manifest = read_manifest(folder / manifest_name);
  if (!manifest) return manifest.error();
  const fs::path dropped = folder / manifest->file;
  for (const fs::path& path : {folder, folder / manifest_name, dropped})
    if (const auto safe = refuse_writable_by_others(path); !safe) return safe.error();
  const auto bytes = read_library(dropped);
  if (!bytes) return bytes.error();
  const std::string found = sha256_hex(*bytes);
  if (found != manifest->sha256) return wrong_hash(dropped, manifest->sha256, found);

  std::error_code code;
  const fs::path home = fs::absolute(store) / found;
  fs::create_directories(home, code);
  if (code) return Error::internal(home.string() + " cannot be made: " + code.message());
  const fs::path library = home / manifest->file;
  const auto kept =
      fs::exists(library, code) ? read_library(library) : Result<std::string>(Error::not_found(""));
  if (!kept || *kept != *bytes)
    if (const auto written = write_durably(library, *bytes, 0755); !written) return written.error();
  if (const auto written = write_durably(home / manifest_name, write_manifest(*manifest), 0644);
      !written)
    return written.error();
  return KeptCopy{library, std::move(*manifest)};
}

Result<KeptCopy> find_kept_copy(const std::string& sha256, const fs::path& store) {
  const fs::path home = fs::absolute(store) / sha256;
  auto manifest = read_manifest(home / manifest_name);
  if (!manifest) return manifest.error();
  const fs::path library = home / manifest->file;
  const auto bytes = read_library(library);
  if (!bytes) return bytes.error();
  const std::string found = sha256_hex(*bytes);
  if (found != sha256) return wrong_hash(library, sha256, found);
  return KeptCopy{library, std::move(*manifest)};
}

}  // namespace muster::plugin_loader
