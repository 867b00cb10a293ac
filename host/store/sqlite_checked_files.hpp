// The way from SQLite to the file of a database and to its log, on which every page that is read is
// compared with what was written into it. SQLite itself has no sums for the pages of a file, and
// looks at those of the log only after a crash.
#pragma once

#include <memory>
#include <string>

#include <sqlite3.h>

#include "host/store/page_sums.hpp"
#include "host/store/sqlite_connection.hpp"

namespace muster::store::sqlite {

// For the connections of one database; outlives them. THREADS: any.
class CheckedFiles {
 public:
  CheckedFiles();
  ~CheckedFiles();
  CheckedFiles(const CheckedFiles&) = delete;
  CheckedFiles& operator=(const CheckedFiles&) = delete;

  // For Connection::open().
  const char* name() const { return name_.c_str(); }

  // There is another file of the same name now.
  void replaced();

  // Compares the next pages of the file and of its log, `most` of each, through this connection;
  // begins anew at the end. Fails as `internal`. THREADS: one at a time.
  Result<void> compare_next(Connection& reader, std::int64_t most);

 private:
  struct Vfs;
  Result<void> compare(Connection& reader, int which, PageSums& sums, std::int64_t& next,
                       std::int64_t most);

  std::string name_;
  PageSums pages_, log_;
  std::int64_t next_page_ = 0, next_frame_ = 0;
  std::unique_ptr<Vfs> vfs_;
};

}  // namespace muster::store::sqlite
