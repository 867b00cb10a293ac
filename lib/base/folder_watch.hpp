// Tells when something in a set of folders may have changed.
#pragma once

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"

namespace muster {

// A folder, or one entry of it: a change of another entry is none.
struct WatchedFolder {
  WatchedFolder(std::filesystem::path path, std::string only_entry = {})
      : folder(std::move(path)), only(std::move(only_entry)) {}

  std::filesystem::path folder;
  std::string only;  // empty: every entry counts
  friend bool operator==(const WatchedFolder&, const WatchedFolder&) = default;
};

// inotify. THREADS: watch() and wait() from one thread, wake() from any.
class FolderWatch {
 public:
  static Result<FolderWatch> open();

  // The folders to watch from now on. Those that are watched already stay watched without a gap.
  void watch(const std::vector<WatchedFolder>& folders);

  enum class Event { changed, woken, timed_out };
  // `changed` if what is watched may have changed; events about other entries are passed over.
  // After a change it waits for a moment of quiet, so that one copy of many files is one event.
  Event wait(std::chrono::milliseconds at_most);
  void wake() const;

 private:
  FolderWatch(FileDescriptor inotify, FileDescriptor wake)
      : inotify_(std::move(inotify)), wake_(std::move(wake)) {}

  struct Watch {
    WatchedFolder what;
    int number = -1;  // inotify's; the same for two names of one folder
  };
  bool drain_changes() const;
  bool counts(int number, std::string_view entry) const;

  FileDescriptor inotify_, wake_;
  std::vector<Watch> watches_;
};

}  // namespace muster
