// The folder that holds everything a host must not lose, and the lock that keeps a second host out
// of it.
#pragma once

#include <filesystem>

#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"

namespace muster {

// Owns the lock for as long as it lives. The lock is the kernel's (flock), so it ends with the
// process however that ends, and a pid left in the file means nothing without it. The descriptor is
// close-on-exec: a cell that outlives its host by a moment does not keep the next host out.
class DataDirectory {
 public:
  static constexpr std::string_view in_use = "dataDirectoryInUse";

  // Makes the folder (mode 0711: cells of other users reach their plugin through it, secrets have
  // modes of their own, not its parents: a mistyped path must not begin an empty fleet somewhere)
  // and takes the lock. Fails as `config` if it is another user's, or if others may write in it.
  // Waits for nothing but a first host that has not yet written its pid, and that for at most a
  // fifth of a second. Fails with code `in_use` and the other host's pid.
  static Result<DataDirectory> open(const std::filesystem::path& folder);

  const std::filesystem::path& path() const { return path_; }

 private:
  DataDirectory(std::filesystem::path path, FileDescriptor lock)
      : path_(std::move(path)), lock_(std::move(lock)) {}

  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace muster
