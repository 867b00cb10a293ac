// A backup takes the place of a host's database.
#include <cerrno>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/store/backup_file.hpp"
#include "host/store/backup_seal.hpp"
#include "host/store/sqlite_copy.hpp"
#include "host/store/sqlite_files.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::store {
namespace fs = std::filesystem;
using sqlite::Access;
using sqlite::beside;
using sqlite::Connection;
namespace {

// Of the data directory, to whom all that is made in it is given.
struct Owner {
  uid_t user = 0;
  gid_t group = 0;
};

Result<Owner> prepare_folder(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0711) != 0 && errno != EEXIST)
    return system_error("make the data directory", folder, errno);
  struct stat about {};
  if (::stat(folder.c_str(), &about) != 0) return system_error("read", folder, errno);
  if (!S_ISDIR(about.st_mode))
    return Error::config("the data directory " + folder.string() + " is not a folder");
  if (::geteuid() != 0 && about.st_uid != ::geteuid())
    return Error::config("the data directory " + folder.string() +
                         " belongs to another user: run this command as that user, or as root");
  return Owner{about.st_uid, about.st_gid};
}

Result<void> give(const fs::path& file, const Owner& owner) {
  if (::geteuid() != 0 || ::lchown(file.c_str(), owner.user, owner.group) == 0) return {};
  return system_error("give to the owner of the data directory", file, errno);
}

// The lock of a host, if one has ever run here. Nothing is held where there is no such file.
Result<FileDescriptor> lock_out_hosts(const fs::path& folder) {
  const fs::path file = folder / "lock";
  FileDescriptor lock(::open(file.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW));
  if (!lock && errno == ENOENT) return FileDescriptor();
  if (!lock) return system_error("open", file, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return lock;
  char pid[16] = {};
  const ssize_t size = ::pread(lock.get(), pid, sizeof pid - 1, 0);
  std::string holder(pid, size > 0 ? static_cast<std::size_t>(size) : 0);
  while (holder.ends_with('\n')) holder.pop_back();
  return Error::config("a host runs in " + folder.string() + " (pid " + holder +
                       "): stop it first, for example with `systemctl stop musterd`");
}

Result<std::string> host_id_of(const fs::path& folder) {
  auto text = read_file(folder / "host-id", 4096);
  if (!text && text.error().error_class == ErrorClass::not_found) return std::string();
  if (!text) return text.error();
  while (text->ends_with('\n')) text->pop_back();
  return text;
}

Result<void> check_permitted(const Restore& restore, const fs::path& database,
                             const BackupFacts& facts, const std::string& host_id) {
  if (restore.force) return {};
  std::error_code ignored;
  for (const char* suffix : {"", "-wal", sqlite::rebuilt})
    if (const fs::path there = beside(database, suffix); fs::exists(there, ignored))
      return Error::config(there.string() +
                           " is there, and the backup would replace it: add --force to replace the "
                           "database (the old one is kept beside it), or name another "
                           "--data-directory");
  if (!host_id.empty() && !facts.host_id.empty() && host_id != facts.host_id)
    return Error::config(
        "the backup is of host " + facts.host_id + ", and " +
        (restore.data_directory / "host-id").string() + " says that this is host " + host_id +
        ": name the data directory of that host, or add --force to go on as " + facts.host_id +
        ". Instances carry the id of their host, and no other host touches them");
  return {};
}

// Nobody knows what happened after the backup was made. A mark beyond it tells the host so, and
// also that numbers up to it were given. If the mark is the backup's own, nothing happened.
Result<void> mark_as_older(const fs::path& database, const Commit& last, Time now) {
  const fs::path file = beside(database, ".mark");
  CommitMark mark(file);
  const auto known = mark.read();
  if (known && (*known == last || known->number > last.number)) return {};
  const Commit beyond{last.number + 1, now};
  mark.write(beyond);
  if (const auto written = mark.read(); written && written->number == beyond.number) return {};
  return Error::transient("the file " + file.string() +
                          " cannot be written: look at its owner and at the disk");
}

Result<void> write_host_id(const fs::path& folder, const std::string& host_id, const Owner& owner) {
  const fs::path file = folder / "host-id";
  if (auto written = write_file_atomically(file, host_id + "\n", 0600); !written) return written;
  return give(file, owner);
}

// A whole copy under a name that nobody looks for.
Result<void> copy_beside(const fs::path& backup, const fs::path& waiting, const Owner& owner) {
  auto source = Connection::open(backup, Access::finished);
  if (!source) return source.error();
  // What counts is the copy: the file may have changed since it was verified.
  const auto unseal = [&](Connection& copy) -> Result<void> {
    if (auto intact = sqlite::check_seal(copy, backup); !intact) return intact.error();
    return sqlite::remove_seal(copy);
  };
  auto copied = sqlite::copy_database(
      **source, waiting, true, [] { return true; }, unseal);
  if (copied) copied = give(waiting, owner);
  if (!copied) sqlite::remove_database(waiting);
  return copied;
}

// The old database and its id stay together if this fails.
Result<void> announce(const fs::path& waiting, const fs::path& database, const Restored& restored,
                      bool takes_over, const Owner& owner, Time now) {
  const fs::path folder = database.parent_path();
  Result<void> done;
  if (takes_over) done = write_host_id(folder, restored.facts.host_id, owner);
  if (done) done = mark_as_older(database, restored.facts.last, now);
  if (done) done = give(beside(database, ".mark"), owner);
  if (done) done = sqlite::move_into_place(waiting, beside(database, sqlite::rebuilt), true);
  std::error_code ignored;
  if (done || fs::exists(beside(database, sqlite::rebuilt), ignored)) return done;
  sqlite::remove_database(waiting);
  if (takes_over && restored.old_host_id.empty())
    fs::remove(folder / "host-id", ignored);
  else if (takes_over)
    (void)write_host_id(folder, restored.old_host_id, owner);
  return done;
}

}  // namespace

Result<Restored> restore_backup(const Restore& restore, const Clock& clock) {
  Restored restored;
  auto facts = verify_backup(restore.backup);
  if (!facts) return facts.error();
  restored.facts = std::move(*facts);
  const auto owner = prepare_folder(restore.data_directory);
  if (!owner) return owner.error();
  std::error_code ignored;
  const fs::path folder = fs::canonical(restore.data_directory, ignored);
  const fs::path database = folder / "muster.db";
  const auto hosts = lock_out_hosts(folder);
  if (!hosts) return hosts.error();
  const auto lock = sqlite::lock(database);
  if (!lock) return lock.error();
  if (auto given = give(beside(database, ".lock"), *owner); !given) return given.error();
  const auto host_id = host_id_of(folder);
  if (!host_id) return host_id.error();
  if (auto permitted = check_permitted(restore, database, restored.facts, *host_id); !permitted)
    return permitted.error();
  // The copy comes first, as it needs the room: if it fails the folder is as it was.
  const fs::path waiting = beside(database, ".restoring");
  if (auto copied = copy_beside(restore.backup, waiting, *owner); !copied) return copied.error();
  const bool takes_over = *host_id != restored.facts.host_id && !restored.facts.host_id.empty();
  if (takes_over) restored.old_host_id = *host_id;
  if (auto announced = announce(waiting, database, restored, takes_over, *owner, clock.now());
      !announced)
    return announced.error();
  auto kept = sqlite::put_rebuilt_in_place(database, clock, sqlite::replaced);
  if (!kept) return kept.error();
  restored.kept = std::move(*kept);
  restored.database = database;
  restored.secrets_key_missing = !fs::exists(folder / "secrets.key", ignored);
  return restored;
}

}  // namespace muster::store
