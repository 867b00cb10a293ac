// Tells when something in a set of folders may have changed.
#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"

namespace muster {

// inotify. THREADS: watch() and wait() from one thread, wake() from any.
class FolderWatch {
 public:
  static Result<FolderWatch> open();

  // The folders to watch from now on. Those that are watched already stay watched without a gap.
  void watch(const std::vector<std::filesystem::path>& folders);

  enum class Event { changed, woken, timed_out };
  // After a change it waits for a moment of quiet, so that one copy of many files is one event.
  Event wait(std::chrono::milliseconds at_most);
  void wake() const;

 private:
  FolderWatch(FileDescriptor inotify, FileDescriptor wake)
      : inotify_(std::move(inotify)), wake_(std::move(wake)) {}

  FileDescriptor inotify_, wake_;
  std::map<std::filesystem::path, int> watches_;
};

}  // namespace muster
