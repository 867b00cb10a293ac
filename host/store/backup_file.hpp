// Backups as files, without a host: is this one good, and put it in place.
#pragma once

#include <filesystem>
#include <string>

#include <muster/error.hpp>

#include "host/store/commit_mark.hpp"
#include "host/store/migrations.hpp"
#include "lib/base/clock.hpp"

namespace muster::store {

// What a good backup holds.
struct BackupFacts {
  std::int64_t bytes = 0;
  std::size_t version = 0;        // of its tables
  std::size_t known_version = 0;  // of the tables of this muster; never less
  std::string muster;             // the version that made the tables
  std::string host_id;            // empty: the host had not started yet
  Commit last;
  std::int64_t pools = 0, workers = 0, clients = 0, requests = 0;
  bool sealed = false;  // it carries a digest, and its content is what was written
};

// Reads the whole file and writes nothing. Fails as `config` if it is no backup of muster or was
// written by a newer one, and as `internal` if it is damaged.
Result<BackupFacts> verify_backup(const std::filesystem::path& file,
                                  std::span<const Migration> steps = migrations());

struct Restore {
  std::filesystem::path backup;
  std::filesystem::path data_directory;  // made if its parent exists
  bool force = false;                    // replace a database, or that of another host
};

struct Restored {
  BackupFacts facts;
  std::filesystem::path database;
  std::filesystem::path kept;        // the old database under its new name; empty: none
  std::string old_host_id;           // who the folder's host was, if it was another one
  bool secrets_key_missing = false;  // secrets in the backup cannot be decrypted
};

// Verifies the backup, then puts a copy in place, all or nothing, also over a crash. Files belong
// to the owner of the data directory. The host is told that changes may be missing, so that it
// compares with what the providers list before it launches. Fails as `config` and changes nothing
// if a host uses the folder (whatever `force` says), or without `force` if the folder has a
// database or belongs to another host.
Result<Restored> restore_backup(const Restore& restore, const Clock& clock);

}  // namespace muster::store
