// One team's bad file does not stop the others: of each file the newest version that can serve is
// taken. docs/decisions/0019-a-bad-file-stops-itself-alone.md says why it is done so.
#pragma once

#include "host/pools/builder.hpp"
#include "host/pools/source.hpp"

namespace muster::pools {

// A file whose newest version, or whose removal, is not in force.
struct HeldFile {
  std::string file;
  std::string reason;
  bool serves = false;  // its last good version; false: there is none that could
  friend bool operator==(const HeldFile&, const HeldFile&) = default;
};

struct Selection {
  // Of the files that serve. Without a configuration if none of them can. Its problems are those of
  // the newest files.
  Outcome outcome;
  std::vector<rules::SourceFile> serving;
  // These, and the last good version of each file that is held back and of which nothing can serve
  // now: its worker types stay its own.
  std::vector<rules::SourceFile> last_good;
  std::vector<HeldFile> held;  // by name
};

// `last_good`: of the selection before this one. THREADS: as Builder.
Selection select_files(Builder& builder, const SourceFiles& newest,
                       const std::vector<rules::SourceFile>& last_good,
                       const ProviderContext& provider_context, const Expand& expand);

}  // namespace muster::pools
