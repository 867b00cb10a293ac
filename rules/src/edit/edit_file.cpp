#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <muster/rules/edit.hpp>

namespace muster::rules {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  int operator*() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_;
};

Error system_error(const std::string& what, const std::filesystem::path& file) {
  const int code = errno;
  std::string message = what + " " + file.string() + ": " + std::strerror(code) + ".";
  if (code == ENOENT) return Error::not_found(std::move(message));
  if (code == EACCES || code == EPERM || code == EROFS) return Error::auth(std::move(message));
  return Error::transient(std::move(message));
}

Result<std::string> read_all(int descriptor, const std::filesystem::path& file) {
  std::string text;
  char buffer[65536];
  for (off_t offset = 0;;) {
    const auto count = ::pread(descriptor, buffer, sizeof buffer, offset);
    if (count == 0) return text;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return system_error("Cannot read", file);
    text.append(buffer, static_cast<std::size_t>(count));
    offset += count;
  }
}

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const auto count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

bool same_inode(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// The file, open and locked. The lock is on the file itself, so that no lock file litters a
// checkout; since an edit replaces the file, a lock counts only while the name still leads to it.
Result<Descriptor> open_locked(const std::filesystem::path& file,
                               std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!descriptor) return system_error("Cannot open", file);
    struct stat held = {}, named = {};
    if (::fstat(*descriptor, &held) != 0) return system_error("Cannot read", file);
    if (!S_ISREG(held.st_mode)) return Error::invalid(file.string() + " is not a regular file.");
    while (::flock(*descriptor, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return system_error("Cannot lock", file);
      if (std::chrono::steady_clock::now() >= deadline)
        return Error::transient(file.string() +
                                " is being edited by another program; try again later.");
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    if (::stat(file.c_str(), &named) != 0) return system_error("Cannot read", file);
    if (same_inode(held, named)) return descriptor;
  }
}

// A file beside the given one that is removed unless it takes its place.
class Replacement {
 public:
  explicit Replacement(const std::filesystem::path& file) : file_(file) {
    // Hidden, and without the ending of a worker configuration: no program reads it by mistake.
    name_ = (file.parent_path() / ("." + file.filename().string() + ".XXXXXX")).string();
    descriptor_ = Descriptor(::mkostemp(name_.data(), O_CLOEXEC));
  }
  ~Replacement() {
    if (descriptor_ && !placed_) ::unlink(name_.c_str());
  }
  Replacement(const Replacement&) = delete;
  Replacement& operator=(const Replacement&) = delete;

  std::optional<Error> fill(std::string_view text, const struct stat& like) {
    if (!descriptor_) return system_error("Cannot write beside", file_);
    struct stat own = {};
    if (::fstat(*descriptor_, &own) != 0) return system_error("Cannot read", name_);
    if ((own.st_uid != like.st_uid || own.st_gid != like.st_gid) &&
        ::fchown(*descriptor_, like.st_uid, like.st_gid) != 0)
      return system_error("Cannot keep the owner of", file_);
    // After the owner, for a change of owner clears some bits of the mode.
    if (::fchmod(*descriptor_, like.st_mode & 07777) != 0)
      return system_error("Cannot keep the mode of", file_);
    if (!write_all(*descriptor_, text) || ::fsync(*descriptor_) != 0)
      return system_error("Cannot write beside", file_);
    return std::nullopt;
  }

  std::optional<Error> take_place() {
    if (::rename(name_.c_str(), file_.c_str()) != 0) return system_error("Cannot replace", file_);
    placed_ = true;
    const auto folder = file_.parent_path();
    Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!opened || ::fsync(*opened) != 0) return system_error("Cannot make durable", folder);
    return std::nullopt;
  }

 private:
  const std::filesystem::path& file_;
  std::string name_;
  Descriptor descriptor_;
  bool placed_ = false;
};

struct EditAttempt {
  FileEdit edit;
  bool overtaken = false;  // a program that does not lock wrote meanwhile
};

Result<EditAttempt> attempt(const std::filesystem::path& file, std::span<const Edit> edits,
                            const EditFileOptions& options,
                            std::chrono::steady_clock::time_point deadline) {
  const auto opened = open_locked(file, deadline);
  if (!opened) return opened.error();
  auto before = read_all(**opened, file);
  if (!before) return before.error();
  auto after = edit_text(*before, edits);
  if (!after) return after.error();
  EditAttempt result{{std::move(*before), std::move(*after)}};
  if (options.dry_run || result.edit.before == result.edit.after) return result;

  // Renaming over a write-protected file would succeed, against its owner's wish.
  if (::access(file.c_str(), W_OK) != 0) return system_error("Cannot write", file);
  struct stat like = {};
  if (::fstat(**opened, &like) != 0) return system_error("Cannot read", file);
  Replacement replacement(file);
  if (auto error = replacement.fill(result.edit.after, like)) return *error;

  // The last look before the swap, at the name and not at what we hold open.
  const Descriptor again(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!again) return system_error("Cannot open", file);
  const auto now = read_all(*again, file);
  if (!now) return now.error();
  if (*now != result.edit.before) {
    result.overtaken = true;
    return result;
  }
  if (auto error = replacement.take_place()) return *error;
  return result;
}

// Messages name the file as the caller did, not as it is called behind links.
Error as_named(Error error, const std::filesystem::path& real, const std::filesystem::path& file) {
  if (const auto at = error.message.find(real.string()); at != std::string::npos)
    error.message.replace(at, real.string().size(), file.string());
  return error;
}

}  // namespace

Result<FileEdit> edit_file(const std::filesystem::path& file, std::span<const Edit> edits,
                           const EditFileOptions& options) {
  std::error_code code;
  const auto real = std::filesystem::canonical(file, code);  // a link stays a link
  if (code) {
    errno = code.value();
    return system_error("Cannot open", file);
  }
  const auto deadline = std::chrono::steady_clock::now() + options.lock_deadline;
  constexpr int attempts = 20;
  for (int i = 0; i < attempts; ++i) {
    auto result = attempt(real, edits, options, deadline);
    if (!result) return as_named(result.error(), real, file);
    if (!result->overtaken) return std::move(result->edit);
  }
  return Error::transient(file.string() + " keeps changing while it is edited; try again later.");
}

}  // namespace muster::rules
