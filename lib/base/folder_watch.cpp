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

void drain(int descriptor) {
  std::uint64_t ignored = 0;
  while (::read(descriptor, &ignored, sizeof ignored) > 0) continue;
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

void FolderWatch::watch(const std::vector<WatchedFolder>& folders) {
  std::vector<Watch> next;
  // Adding a path again costs little and finds a folder that was replaced by another of the same
  // name.
  for (const WatchedFolder& each : folders)
    next.push_back({each, ::inotify_add_watch(inotify_.get(), each.folder.c_str(), interesting)});
  next.swap(watches_);
  for (const Watch& old : next)
    if (old.number >= 0 && std::none_of(watches_.begin(), watches_.end(), [&](const Watch& kept) {
          return kept.number == old.number;
        }))
      ::inotify_rm_watch(inotify_.get(), old.number);
}

bool FolderWatch::counts(int number, std::string_view entry) const {
  // Without an entry it is about the folder itself; a number below zero says that events were lost.
  if (number < 0) return true;
  return std::any_of(watches_.begin(), watches_.end(), [&](const Watch& watch) {
    return watch.number == number &&
           (entry.empty() || watch.what.only.empty() || watch.what.only == entry);
  });
}

// Whether any of the events that are there counts.
bool FolderWatch::drain_changes() const {
  alignas(inotify_event) char buffer[4096];
  bool any = false;
  for (ssize_t got = 0; (got = ::read(inotify_.get(), buffer, sizeof buffer)) > 0;)
    for (const char* at = buffer; at < buffer + got;) {
      const auto* event = reinterpret_cast<const inotify_event*>(at);
      at += sizeof(inotify_event) + event->len;
      if (counts(event->wd, event->len > 0 ? event->name : "")) any = true;
    }
  return any;
}

FolderWatch::Event FolderWatch::wait(std::chrono::milliseconds at_most) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + at_most;
  pollfd entries[2] = {{inotify_.get(), POLLIN, 0}, {wake_.get(), POLLIN, 0}};
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    const int waited = static_cast<int>(std::clamp<long long>(left, 0, 1 << 30));
    if (::poll(entries, 2, waited) <= 0) return Event::timed_out;
    if (entries[1].revents != 0) return drain(wake_.get()), Event::woken;
    if (!drain_changes()) continue;
    for (int i = 0; i < max_unquiet && readable(inotify_.get(), quiet_ms); ++i) drain_changes();
    return Event::changed;
  }
}

void FolderWatch::wake() const {
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto ignored = ::write(wake_.get(), &one, sizeof one);
}

}  // namespace muster
