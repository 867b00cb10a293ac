// How far the store had come, noted beside it: FILE.mark holds the number and the time of the last
// commit that was acknowledged. A log that is damaged or gone takes commits with it without a word;
// the mark shows that they were there. It is never ahead of the store; after a power cut it is
// behind by what the kernel had not written yet, some 30 seconds.
#pragma once

#include <filesystem>
#include <optional>

#include <muster/context.hpp>
#include <muster/error.hpp>

#include "lib/base/file_descriptor.hpp"

namespace muster::store {

struct Commit {
  std::int64_t number = 0;  // 0: there was none yet
  Time at{};

  friend bool operator==(const Commit&, const Commit&) = default;
};

// Commits that were acknowledged and that the store does not have: all after `have`, up to
// `expected`.
struct MissingCommits {
  Commit have;
  Commit expected;

  friend bool operator==(const MissingCommits&, const MissingCommits&) = default;
};

// "the database ... ends with change 7 of <time>, but change 9 of <time> was acknowledged: ..."
std::string to_string(const MissingCommits& missing, const std::filesystem::path& file);

// THREADS: one at a time.
class CommitMark {
 public:
  explicit CommitMark(std::filesystem::path file) : file_(std::move(file)) {}

  // Nothing if there is none, or none that can be understood.
  std::optional<Commit> read() const;

  // Without a sync, which would cost as much as the commit. A mark that cannot be written is no
  // reason to refuse a commit: the old one stays.
  void write(const Commit& commit);

 private:
  std::filesystem::path file_;
  FileDescriptor opened_;
};

}  // namespace muster::store
