// Where worker configurations come from: a folder, or a git repository of which no checkout is
// needed.
#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/rules/configuration_set.hpp>

#include "lib/base/folder_watch.hpp"

namespace muster::pools {

struct SourceFiles {
  std::string revision;  // the git commit, or a digest of the files
  std::vector<rules::SourceFile> files;
};

// Borrowed by one thread at a time.
class Source {
 public:
  virtual ~Source() = default;

  // As operators would name it.
  virtual std::string name() const = 0;

  // Nothing if the revision is still `known`. Blocks for I/O, bounded by time and size. Fails as
  // `invalid` if the source is wrong in a way that only its owner can repair, otherwise with an
  // error that may go away: the ref has vanished, the network is down, somebody is pushing.
  virtual Result<std::optional<SourceFiles>> read(const std::string& known) = 0;

  // Folders in which something happens when the source changes; may be empty.
  virtual std::vector<WatchedFolder> folders_to_watch() const = 0;

  // Whether files can be seen half changed, so that a reader should wait until they are quiet.
  virtual bool changes_piecemeal() const = 0;
};

std::unique_ptr<Source> folder_source(std::filesystem::path folder, rules::Limits limits = {});

struct GitSourceSettings {
  std::string location;                    // a path, or an address that git fetches from
  std::string ref = "HEAD";                // branch, tag or commit
  std::string folder = {};                 // inside the repository; empty: its root
  std::filesystem::path cache = {};        // where copies of remote repositories are kept
  std::chrono::milliseconds time{60'000};  // that each call of git may take
};
std::unique_ptr<Source> git_source(GitSourceSettings settings, rules::Limits limits = {});

// Of names and texts; the same files, the same digest.
std::string digest_of(const std::vector<rules::SourceFile>& files);

}  // namespace muster::pools
