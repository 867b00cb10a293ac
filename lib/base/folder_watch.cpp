#include "lib/base/folder_watch.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "lib/base/atomic_file.hpp"

namespace muster {
namespace {

constexpr std::uint32_t interesting = IN_CREATE | IN_MOVED_TO | IN_CLOSE_WRITE | IN_DELETE |
                                      IN_MOVED_FROM | IN_ATTRIB | IN_DELETE_SELF | IN_MOVE_SELF |
                                      IN_ONLYDIR;
constexpr int quiet_ms = 20;
constexpr int max_unquiet =
    25;  // somebody who never stops writing does not keep us waiting for ever

bool drain(int descriptor) {
  alignas(inotify_event) char buffer[4096];
  bool any = false;
  while (::read(descriptor, buffer, sizeof buffer) > 0) any = true;
  return any;
}

bool readable(int descriptor, int timeout_ms) {
  pollfd entry{descriptor, POLLIN, 0};
  return ::poll(&entry, 1, timeout_ms) > 0;
}

}  // namespace

Result<FolderWatch> FolderWatch::open() {
  FileDescriptor inotify(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  if (!inotify) return system_error("inotify_init", "", errno);
  FileDescriptor wake(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake) return system_error("eventfd", "", errno);
  return FolderWatch(std::move(inotify), std::move(wake));
}

void FolderWatch::watch(const std::vector<std::filesystem::path>& folders) {
  std::erase_if(watches_, [&](const auto& watch) {
    if (std::find(folders.begin(), folders.end(), watch.first) != folders.end()) return false;
    ::inotify_rm_watch(inotify_.get(), watch.second);
    return true;
  });
  // Adding a path again costs little and finds a folder that was replaced by another of the same
  // name.
  for (const auto& folder : folders)
    watches_[folder] = ::inotify_add_watch(inotify_.get(), folder.c_str(), interesting);
}

FolderWatch::Event FolderWatch::wait(std::chrono::milliseconds at_most) {
  pollfd entries[2] = {{inotify_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  if (::poll(entries, 2, static_cast<int>(at_most.count())) <= 0) return Event::timed_out;
  if (entries[1].revents != 0) return drain(wake_.get()), Event::woken;
  drain(inotify_.get());
  for (int i = 0; i < max_unquiet && readable(inotify_.get(), quiet_ms); ++i) drain(inotify_.get());
  return Event::changed;
}

void FolderWatch::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace muster
