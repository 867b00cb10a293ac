#include "host/store/sqlite_files.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <stdio.h>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <muster/codec.hpp>

#include "lib/base/atomic_file.hpp"

namespace muster::store::sqlite {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view magic("SQLite format 3\0", 16);
constexpr std::size_t header_size = 100;
constexpr std::size_t page_size_at = 16;
constexpr std::size_t application_id_at = 68;

Error not_ours(const fs::path& file, const std::string& what, std::string_view advice) {
  return Error::config(file.string() + " is " + what + ": " + std::string(advice));
}

std::uint32_t big_endian(const unsigned char* bytes) {
  return (std::uint32_t{bytes[0]} << 24) | (std::uint32_t{bytes[1]} << 16) |
         (std::uint32_t{bytes[2]} << 8) | std::uint32_t{bytes[3]};
}

using Header = std::array<unsigned char, header_size>;

// SQLite reads what is missing of a page as zeros. With a log, the rest of the page may be in
// there.
bool whole_pages(const fs::path& file, off_t size, const Header& header) {
  std::error_code failed;
  const auto log = fs::file_size(beside(file, "-wal"), failed);
  if (!failed && log > 0) return true;
  const int said = header[page_size_at] << 8 | header[page_size_at + 1];
  const int page_size = said == 1 ? 65536 : said;
  return page_size != 0 && size % page_size == 0;
}

// "20260102T030405.678Z"
std::string stamp_of(Time time) {
  std::string text = format_time(time);
  std::erase_if(text, [](char letter) { return letter == '-' || letter == ':'; });
  return text;
}

// A name that is free, also for two of the same time.
fs::path free_name(const fs::path& file, const char* word, const Clock& clock) {
  const fs::path name = beside(file, (word + stamp_of(clock.now())).c_str());
  fs::path free = name;
  std::error_code ignored;
  for (int i = 2; fs::exists(free, ignored); ++i)
    free = beside(name, ("-" + std::to_string(i)).c_str());
  return free;
}

Result<void> rename_if_there(const fs::path& from, const fs::path& to) {
  if (::rename(from.c_str(), to.c_str()) != 0 && errno != ENOENT)
    return file_error("rename to " + to.string(), from, errno);
  return {};
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

}  // namespace

Error file_error(std::string_view what, const fs::path& file, int error_number) {
  Error error = system_error(what, file, error_number);
  switch (error_number) {
    case ENOENT:
      return error;
    case ENOSPC:
    case EDQUOT:
    case EFBIG:
      return Error::capacity(error.message + ": make room on this disk");
    case EACCES:
    case EPERM:
    case EROFS:
      return Error::config(error.message +
                           ": the user that runs musterd must be able to write there");
    default:
      return Error::transient(error.message);
  }
}

fs::path beside(const fs::path& file, const char* suffix) {
  return fs::path(file).concat(suffix);
}

Result<FileDescriptor> lock(const fs::path& file) {
  const fs::path name = beside(file, ".lock");
  FileDescriptor held(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!held) return file_error("open", name, errno);
  if (::flock(held.get(), LOCK_EX | LOCK_NB) == 0) return held;
  if (errno != EWOULDBLOCK) return file_error("lock", name, errno);
  return Error::config("the database " + file.string() +
                       " is in use already: stop the musterd that has it open");
}

Result<void> check_header(const fs::path& file, std::int64_t application_id,
                          std::string_view advice) {
  const FileDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!opened) return file_error("open the database", file, errno);
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) return file_error("read", file, errno);
  if (!S_ISREG(status.st_mode)) return not_ours(file, "not a regular file", advice);
  Header header{};
  const ssize_t got = ::pread(opened.get(), header.data(), header.size(), 0);
  if (got < 0) return file_error("read", file, errno);
  // Databases are made elsewhere and renamed into place: an empty one lost its content.
  if (got == 0)
    return Error::internal("the database " + file.string() + " is damaged (it is empty)");
  if (!std::equal(magic.begin(), magic.end(), header.begin(),
                  [](char a, unsigned char b) { return static_cast<unsigned char>(a) == b; }))
    return not_ours(file, "not an SQLite database", advice);
  if (static_cast<std::size_t>(got) < header_size || !whole_pages(file, status.st_size, header))
    return Error::internal("the database " + file.string() + " is damaged (it was cut off)");
  if (big_endian(header.data() + application_id_at) != application_id)
    return not_ours(file, "an SQLite database of another program", advice);
  // It holds what a cloud told us in confidence; a user who may not change the mode is told later
  // that the file cannot be written.
  if ((status.st_mode & 077) != 0) (void)::fchmod(opened.get(), 0600);
  return {};
}

Result<void> sync(const fs::path& path) {
  const FileDescriptor opened(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!opened || ::fsync(opened.get()) != 0) return file_error("sync", path, errno);
  return {};
}

void remove_database(const fs::path& file) {
  for (const char* suffix : {"", "-wal", "-shm", "-journal"})
    ::unlink(beside(file, suffix).c_str());
}

Result<fs::path> put_rebuilt_in_place(const fs::path& file, const Clock& clock, const char* word) {
  const fs::path waiting = beside(file, rebuilt);
  std::error_code ignored;
  if (!fs::exists(waiting, ignored)) return fs::path();
  const fs::path away = free_name(file, word, clock);
  const bool was_there = fs::exists(file, ignored);
  // The log first: a new FILE with an old FILE-wal would be a mixture of both.
  if (auto moved = rename_if_there(beside(file, "-wal"), beside(away, "-wal")); !moved)
    return moved.error();
  ::unlink(beside(file, "-shm").c_str());
  if (auto moved = rename_if_there(file, away); !moved) return moved.error();
  if (auto moved = move_into_place(waiting, file, true); !moved) return moved.error();
  return was_there ? away : fs::path();
}

Result<void> move_into_place(const fs::path& from, const fs::path& to, bool replace) {
  int failed =
      ::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), replace ? 0 : RENAME_NOREPLACE) != 0
          ? errno
          : 0;
  std::error_code ignored;
  if (failed == EINVAL && !replace) {  // a file system that cannot say "but not over another"
    failed = fs::exists(to, ignored) ? EEXIST : ::rename(from.c_str(), to.c_str()) != 0 ? errno : 0;
  }
  if (failed == EEXIST)
    return Error::invalid(to.string() + " exists already: choose another name, or remove it");
  if (failed != 0) return file_error("rename to " + to.string(), from, failed);
  return sync(folder_of(to));
}

}  // namespace muster::store::sqlite
