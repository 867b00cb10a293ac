// A file in which a provider keeps what must outlive its process, for several processes in turn.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "plugins/base/descriptor.hpp"

struct stat;

namespace muster {

// The old and the new version of a plugin during a swap, or several instances of one provider, may
// use the same file: a writer holds the lock on <path>.lock, reads what others changed,
// and has the change on the disk before it answers. THREADS: one at a time.
class StateFile {
 public:
  explicit StateFile(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }

  // The file's text if it is not what was read or written last; nothing: it is, or there is none
  // yet. Needs no lock: the file is always a whole one.
  Result<std::optional<std::string>> refresh();

  // All or nothing, durable: a new file is renamed over the old one. Needs the lock.
  Result<void> store(std::string_view text);

  // The next refresh() reads, whatever the file looks like.
  void distrust() { seen_ = {}; }

  // Released with the object. Gives up as `cancelled` when the context says so.
  Result<Descriptor> lock(const Context& context) const;

 private:
  // Changes whenever another process replaces the file.
  struct Identity {
    ino_t inode = 0;
    off_t size = -1;
    timespec changed{};

    bool same_as(const struct stat& file) const;
  };

  std::string path_;
  Identity seen_;
};

}  // namespace muster
