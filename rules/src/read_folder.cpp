#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <memory>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <muster/rules/configuration_set.hpp>

namespace muster::rules {
namespace {

namespace fs = std::filesystem;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};
using OpenFolder = std::unique_ptr<DIR, CloseFolder>;

class OpenFile {
 public:
  explicit OpenFile(int number) : number_(number) {}
  ~OpenFile() {
    if (number_ >= 0) ::close(number_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;
  int number() const { return number_; }

 private:
  int number_;
};

constexpr std::string_view leads_out =
    "is a symbolic link that leads out of the folder, or that is absolute; put the file itself "
    "here, or a relative link to another worker configuration in this folder";

// O_NONBLOCK: opening a FIFO must not wait for a writer.
constexpr int how_to_open = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;

// The name of what a link led to. A link to admin-token in the same folder must not show it.
bool is_configuration(int file) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(file);
  const ssize_t length = ::readlink(link.c_str(), path.data(), path.size());
  return length > 0 && static_cast<std::size_t>(length) < path.size() &&
         is_configuration_file({path.data(), static_cast<std::size_t>(length)});
}

// The kernel resolves each part of the link, and refuses one that leaves the folder: there is no
// moment between a check and the opening.
int open_link(int folder, const char* name) {
  open_how how{};
  how.flags = how_to_open;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, folder, name, &how, sizeof how));
}

std::string kind_of(mode_t mode) {
  if (S_ISFIFO(mode)) return "a FIFO";
  if (S_ISSOCK(mode)) return "a socket";
  if (S_ISCHR(mode) || S_ISBLK(mode)) return "a device";
  return S_ISDIR(mode) ? "a folder" : "something else";
}

std::string not_regular(mode_t mode) {
  return "is " + kind_of(mode) + " and not a regular file; remove it or give it another name";
}

// Reads at most one byte more than allowed, which is enough to know that a file is too large.
void read_text(int descriptor, std::size_t max_bytes, SourceFile& file) {
  struct stat about {};
  if (::fstat(descriptor, &about) != 0 || !S_ISREG(about.st_mode)) {
    file.unreadable = not_regular(about.st_mode);
    return;
  }
  std::array<char, 65536> part{};
  while (file.text.size() <= max_bytes) {
    const std::size_t wanted = std::min(part.size(), max_bytes + 1 - file.text.size());
    const ssize_t got = ::read(descriptor, part.data(), wanted);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) file.unreadable = std::string("cannot be read: ") + std::strerror(errno);
    if (got <= 0) return;
    file.text.append(part.data(), static_cast<std::size_t>(got));
  }
}

SourceFile read_entry(int folder, const std::string& name, const fs::path& path,
                      std::size_t max_bytes) {
  SourceFile file{path.string(), {}};
  // Before it is opened: for some devices that alone does something.
  struct stat about {};
  if (::fstatat(folder, name.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode)) {
    file.unreadable = not_regular(about.st_mode);
    return file;
  }
  const OpenFile plain(::openat(folder, name.c_str(), how_to_open | O_NOFOLLOW));
  if (plain.number() >= 0) {
    read_text(plain.number(), max_bytes, file);
    return file;
  }
  if (errno != ELOOP) {
    file.unreadable = std::string("cannot be opened: ") + std::strerror(errno);
    return file;
  }
  const OpenFile linked(open_link(folder, name.c_str()));
  if (linked.number() < 0)
    file.unreadable = errno == EXDEV ? std::string(leads_out)
                                     : std::string("is a symbolic link that cannot be followed: ") +
                                           std::strerror(errno);
  else if (!is_configuration(linked.number()))
    file.unreadable = "is a symbolic link to a file that is no worker configuration";
  else
    read_text(linked.number(), max_bytes, file);
  return file;
}

// Folders with such names are none of ours, also behind links.
bool is_folder(int folder, const dirent& entry) {
  if (entry.d_type == DT_REG) return false;
  struct stat about {};
  return entry.d_type == DT_DIR ||
         (::fstatat(folder, entry.d_name, &about, 0) == 0 && S_ISDIR(about.st_mode));
}

}  // namespace

Result<std::vector<SourceFile>> read_folder(const fs::path& folder, const Limits& limits) {
  const OpenFolder open(::opendir(folder.c_str()));
  if (!open)
    return Error::not_found("cannot read the folder " + folder.string() + ": " +
                            std::strerror(errno));
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = ::readdir(open.get()))
    if (is_configuration_file(entry->d_name) && !is_folder(::dirfd(open.get()), *entry))
      names.emplace_back(entry->d_name);
  if (names.size() > limits.max_files)
    return Error::invalid("the folder " + folder.string() + " holds " +
                          std::to_string(names.size()) + " configuration files, more than the " +
                          std::to_string(limits.max_files) + " allowed");
  std::sort(names.begin(), names.end());
  std::vector<SourceFile> files;
  files.reserve(names.size());
  for (const std::string& name : names)
    files.push_back(read_entry(::dirfd(open.get()), name, folder / name, limits.max_file_bytes));
  return files;
}

}  // namespace muster::rules
