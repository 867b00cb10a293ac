#include "host/store/sqlite_checked_files.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <span>

namespace muster::store::sqlite {
namespace {

// Of every database that this host makes. In one with other pages nothing is compared.
constexpr std::int64_t page_size = 4096;
constexpr std::int64_t log_header = 32;
constexpr std::int64_t frame_header = 24;
constexpr PageLayout in_file{0, page_size, page_size};
constexpr PageLayout in_log{log_header + frame_header, frame_header + page_size, page_size};

// What SQLite sees; the file of the system follows it in memory.
struct CheckedFile {
  sqlite3_file base;
  PageSums* sums;
};

CheckedFile* checked(sqlite3_file* file) {
  return reinterpret_cast<CheckedFile*>(file);
}

sqlite3_file* real(sqlite3_file* file) {
  return reinterpret_cast<sqlite3_file*>(checked(file) + 1);
}

std::span<const unsigned char> bytes_of(const void* bytes, int size) {
  return {static_cast<const unsigned char*>(bytes), static_cast<std::size_t>(size)};
}

int read_checked(sqlite3_file* file, void* bytes, int size, sqlite3_int64 offset) {
  const int code = real(file)->pMethods->xRead(real(file), bytes, size, offset);
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return code;
  const bool fits = checked(file)->sums->fits(offset, bytes_of(bytes, size), code == SQLITE_OK);
  return fits ? code : SQLITE_IOERR_DATA;
}

int write_checked(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  return checked(file)->sums->written(offset, bytes_of(bytes, size), [&] {
    return real(file)->pMethods->xWrite(real(file), bytes, size, offset);
  });
}

int truncate_checked(sqlite3_file* file, sqlite3_int64 size) {
  checked(file)->sums->cut_off(size);
  return real(file)->pMethods->xTruncate(real(file), size);
}

int close_real(sqlite3_file* file) {
  return real(file)->pMethods->xClose(real(file));
}

// Calls the method of the same place of the system's file.
template <auto method>
struct Forward;
template <class... Arguments, int (*sqlite3_io_methods::*method)(sqlite3_file*, Arguments...)>
struct Forward<method> {
  static int call(sqlite3_file* file, Arguments... arguments) {
    return (real(file)->pMethods->*method)(real(file), arguments...);
  }
};

void shm_barrier(sqlite3_file* file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

using Methods = sqlite3_io_methods;

// Version 2: with the shared memory of the log, without the mapping of files into memory, which
// would read past the comparison.
constexpr Methods methods{
    .iVersion = 2,
    .xClose = close_real,
    .xRead = read_checked,
    .xWrite = write_checked,
    .xTruncate = truncate_checked,
    .xSync = Forward<&Methods::xSync>::call,
    .xFileSize = Forward<&Methods::xFileSize>::call,
    .xLock = Forward<&Methods::xLock>::call,
    .xUnlock = Forward<&Methods::xUnlock>::call,
    .xCheckReservedLock = Forward<&Methods::xCheckReservedLock>::call,
    .xFileControl = Forward<&Methods::xFileControl>::call,
    .xSectorSize = Forward<&Methods::xSectorSize>::call,
    .xDeviceCharacteristics = Forward<&Methods::xDeviceCharacteristics>::call,
    .xShmMap = Forward<&Methods::xShmMap>::call,
    .xShmLock = Forward<&Methods::xShmLock>::call,
    .xShmBarrier = shm_barrier,
    .xShmUnmap = Forward<&Methods::xShmUnmap>::call,
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

std::string next_name() {
  static std::atomic<int> made = 0;
  return "muster-checked-" + std::to_string(++made);
}

}  // namespace

struct CheckedFiles::Vfs {
  sqlite3_vfs vfs;
  sqlite3_vfs* real;
  CheckedFiles* files;

  static int open(sqlite3_vfs* self, const char* name, sqlite3_file* file, int flags, int* out) {
    const auto* known = static_cast<const Vfs*>(self->pAppData);
    PageSums* sums = (flags & SQLITE_OPEN_MAIN_DB) != 0 ? &known->files->pages_
                     : (flags & SQLITE_OPEN_WAL) != 0   ? &known->files->log_
                                                        : nullptr;
    if (!sums) return known->real->xOpen(known->real, name, file, flags, out);
    auto* made = new (file) CheckedFile{{nullptr}, sums};
    const int code =
        known->real->xOpen(known->real, name, muster::store::sqlite::real(file), flags, out);
    // With methods, SQLite closes the file also after an error.
    if (muster::store::sqlite::real(file)->pMethods) made->base.pMethods = &methods;
    return code;
  }
};

CheckedFiles::CheckedFiles()
    : name_(next_name()), pages_(in_file), log_(in_log), vfs_(std::make_unique<Vfs>()) {
  sqlite3_initialize();
  vfs_->real = sqlite3_vfs_find(nullptr);
  vfs_->files = this;
  vfs_->vfs = *vfs_->real;
  vfs_->vfs.pNext = nullptr;
  vfs_->vfs.zName = name_.c_str();
  vfs_->vfs.szOsFile += static_cast<int>(sizeof(CheckedFile));
  vfs_->vfs.pAppData = vfs_.get();
  vfs_->vfs.xOpen = &Vfs::open;
  sqlite3_vfs_register(&vfs_->vfs, 0);
}

CheckedFiles::~CheckedFiles() {
  sqlite3_vfs_unregister(&vfs_->vfs);
}

void CheckedFiles::replaced() {
  pages_.forget();
  log_.forget();
}

Result<void> CheckedFiles::compare_next(Connection& reader, std::int64_t most) {
  // SQLite opens the log at the first read.
  if (auto read = reader.run("SELECT 1 FROM sqlite_schema LIMIT 1"); !read) return read;
  if (auto compared = compare(reader, SQLITE_FCNTL_FILE_POINTER, pages_, next_page_, most);
      !compared)
    return compared;
  return compare(reader, SQLITE_FCNTL_JOURNAL_POINTER, log_, next_frame_, most);
}

Result<void> CheckedFiles::compare(Connection& reader, int which, PageSums& sums,
                                   std::int64_t& next, std::int64_t most) {
  sqlite3_file* file = nullptr;
  sqlite3_file_control(reader.handle(), "main", which, static_cast<void*>(&file));
  if (!file || file->pMethods != &methods) return {};  // there is no log now
  std::array<unsigned char, page_size> bytes{};
  const PageLayout& layout = sums.layout();
  sqlite3_int64 size = 0;
  if (const int code = file->pMethods->xFileSize(file, &size); code != SQLITE_OK)
    return reader.error(code);
  // Of a file that was cut off, the pages that are missing count, too.
  const std::int64_t pages =
      std::max<std::int64_t>((size - layout.first) / layout.stride, sums.pages());
  for (std::int64_t i = 0; i < std::min(most, pages); ++i) {
    if (next >= pages) next = 0;
    const std::int64_t offset = layout.first + next++ * layout.stride;
    int code = SQLITE_OK;
    const bool fits = sums.still_fits(offset, bytes, [&] {
      code = real(file)->pMethods->xRead(real(file), bytes.data(), page_size, offset);
      return code == SQLITE_OK;
    });
    if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) return reader.error(code);
    if (!fits) return reader.error(SQLITE_IOERR_DATA);
  }
  return {};
}

}  // namespace muster::store::sqlite
