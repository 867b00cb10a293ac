// Paths of files in a tarball: what they may look like, and that no two of them are the same file
// on any system that somebody unpacks the tarball on.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "host/documentation/tarball.hpp"

namespace muster::documentation {

// A path without links, dots and surprises: relative, of UTF-8 without control characters and
// without characters that hide or turn others.
Result<void> check_path(std::string_view path, const Limits& limits);

// All paths of one tarball. THREADS: one at a time.
class PathSet {
 public:
  enum class Kind { file, folder };
  // Fails if the path is there already, also in other letter case, or is a file there and a folder
  // here. A folder may come again.
  Result<void> add(std::string_view path, Kind kind);

 private:
  struct Known {
    std::string path;
    Kind kind;
    bool listed;  // as an entry of its own
  };
  std::map<std::string, Known> known_;  // by the path in small letters
};

}  // namespace muster::documentation
