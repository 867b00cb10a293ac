// All worker configurations of a folder (or of a git revision) together: what one file cannot know.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/error.hpp>
#include <muster/rules/document.hpp>
#include <muster/rules/evaluate.hpp>
#include <muster/rules/facts.hpp>

namespace muster::rules {

struct SourceFile {
  std::string name;  // as shown in messages; its stem is the configuration's id
  std::string text;
  std::string unreadable = {};  // why there is no text: a problem of this file, not of the others
};

// True for files that load_folder reads: `*.toml` and `*.json` that are not hidden, except
// `muster.toml` and `host.toml`, which configure the daemon, and `simulation.toml`, which says what
// `muster simulate` assumes.
bool is_configuration_file(std::string_view file_name);

// The name beside the worker configurations that lists providers and placements (facts.hpp).
inline constexpr std::string_view facts_file_name = "facts.toml";

// Reads the configuration files directly inside the folder, in the order of their names. File names
// are `folder / name`. Fails if the folder cannot be read or holds too many. A FIFO, a socket, a
// device, a symbolic link that leads out of the folder or to a file that is no worker
// configuration, or a file that may not be read is `unreadable`; it is not waited for, and the
// others are read.
Result<std::vector<SourceFile>> read_folder(const std::filesystem::path& folder,
                                            const Limits& limits = {});

// One launch document to be: a worker type at a placement of a provider.
struct Combination {
  std::string worker_type;
  std::string provider_id;
  std::size_t placement = 0;  // index into Provider::placements
  Facts facts;                // workerType, provider and what the placement adds
};

// The names of files by the worker types that they had before.
using WorkerTypeOwners = std::map<std::string, std::string, std::less<>>;

// A value; const functions are thread-safe.
class ConfigurationSet {
 public:
  // Parses all files, on all cores if they are many; among them `facts.toml`, if there. A file with
  // errors has no document, the others do. `known` given: used instead of `facts.toml`. Of two
  // files that claim the same worker type, the one that is its owner in `owners` keeps it, else the
  // first.
  static ConfigurationSet from_files(std::span<const SourceFile> files, const Limits& limits = {},
                                     std::optional<KnownFacts> known = {},
                                     const WorkerTypeOwners& owners = {});

  // By id.
  const std::map<std::string, std::shared_ptr<const Document>, std::less<>>& documents() const {
    return documents_;
  }
  // Documents that were read but cannot be used beside the others, for problems() says why.
  const std::vector<std::shared_ptr<const Document>>& rejected() const { return rejected_; }
  // What could be read of files with errors: to look for more errors, and for nothing else.
  const std::vector<std::shared_ptr<const Document>>& incomplete() const { return incomplete_; }

  const std::optional<KnownFacts>& known() const { return known_; }
  const Limits& limits() const { return limits_; }

  // Of parsing, of unknown condition names, of worker types or ids that occur twice.
  const Problems& problems() const { return problems_; }

  const Document* find(std::string_view id) const;
  const Document* find_by_worker_type(std::string_view worker_type) const;

  // Every launch document of the configuration: worker types × opted-in providers × placements.
  // A worker type that names no providers gets all known ones. Empty if nothing is known of
  // providers. Cut at Limits::max_combinations, about which check() complains.
  std::vector<Combination> combinations(const Document& document) const;
  std::size_t count_combinations(const Document& document) const;

 private:
  void add(std::shared_ptr<const Document> document);
  void add_incomplete(std::shared_ptr<const Document> document);
  Problems conflicts_of(const Document& document) const;
  void report(Problems problems);

  std::map<std::string, std::shared_ptr<const Document>, std::less<>> documents_;
  std::vector<std::shared_ptr<const Document>> rejected_, incomplete_;
  std::map<std::string, std::string, std::less<>> worker_types_;  // → id
  std::optional<KnownFacts> known_;
  Problems problems_;
  Limits limits_;
};

// read_folder and from_files.
Result<ConfigurationSet> load_folder(const std::filesystem::path& folder,
                                     const Limits& limits = {});

// The problem of a file that is past a limit on work (limits.hpp). check() looks no further at it,
// and nobody should.
inline constexpr const char* too_much_work_code = "tooMuchWork";
Problem too_much_work(const Document& document, const std::string& what, std::size_t most);

// Everything that can be said about the set: its problems(), pool settings (pool_settings.hpp), the
// limit on combinations, and lint (lint.hpp). Sorted. Uses all cores if the documents are many.
Problems check(const ConfigurationSet& set);

}  // namespace muster::rules
