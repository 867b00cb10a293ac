// Copies of the store, in one folder of the operator's choice and nowhere else.
#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/api/handlers.hpp"
#include "host/store/store.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/file_descriptor.hpp"

namespace muster::api {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_name = 128;

bool is_backup_name(std::string_view name) {
  const auto is_plain = [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  };
  return !name.empty() && name.size() <= longest_name && is_plain(name.front()) &&
         std::ranges::all_of(
             name, [&](char c) { return is_plain(c) || c == '.' || c == '_' || c == '-'; });
}

// The name in the folder; a whole path counts if it leads right there.
Result<std::string> backup_name(const std::string& file, const fs::path& folder) {
  const fs::path path(file);
  std::string name = path.filename().string();
  if (is_backup_name(name) && (file == name || path.parent_path() == folder)) return name;
  return Error::invalid("`file` must be a name of 1 to " + std::to_string(longest_name) +
                        " letters, digits, dots, dashes and underscores that begins with a letter "
                        "or a digit; backups are written into the folder " +
                        folder.string() + " (store.backupFolder of the host's configuration)");
}

// Makes the folder if it is not there. Nobody else may put a link or a file into it.
Result<void> prepare(const fs::path& folder) {
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    return system_error("make the folder for backups", folder, errno);
  const FileDescriptor open(
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open && (errno == ELOOP || errno == ENOTDIR))
    return Error::invalid("the folder for backups " + folder.string() +
                          " is a symbolic link or no folder; name the folder itself in "
                          "store.backupFolder");
  struct stat about {};
  if (!open || ::fstat(open.get(), &about) != 0)
    return system_error("open the folder for backups", folder, errno);
  if ((about.st_uid != ::geteuid() && about.st_uid != 0) || (about.st_mode & S_IWOTH) != 0)
    return Error::invalid("the folder for backups " + folder.string() +
                          " belongs to another user, or everybody may write there; it must be the "
                          "host's own: chown and chmod it, or name another in store.backupFolder");
  return {};
}

Result<void> check_room(const fs::path& folder, std::size_t most) {
  std::error_code failed;
  std::size_t entries = 0;
  for (fs::directory_iterator entry(folder, failed), end; !failed && entry != end;
       entry.increment(failed))
    ++entries;
  if (failed) return system_error("read", folder, failed.value());
  if (entries < most) return {};
  return Error::throttle("the folder for backups " + folder.string() + " has " +
                         std::to_string(entries) +
                         " files, which is the limit (store.mostBackups of the host's "
                         "configuration); remove old ones");
}

Answer back_up(const Call& call) {
  const Services& services = services_of(call);
  const json::value* given = call.body().if_contains("file");
  const std::string file = given && given->is_string() ? std::string(given->get_string()) : "";
  const auto name = backup_name(file, services.backup_folder);
  if (!name) return to_failure(name.error());
  if (const auto ready = prepare(services.backup_folder); !ready) return to_failure(ready.error());
  if (const auto room = check_room(services.backup_folder, services.most_backups); !room)
    return to_failure(room.error());
  const std::string target = (services.backup_folder / *name).string();
  const auto written = services.store->backup(target);
  if (!written) return to_failure(written.error());
  return json_answer(json::object{{"file", target}});
}

}  // namespace

std::vector<Endpoint> backup_endpoints() {
  return {
      {.name = "backup",
       .method = "POST",
       .path = base + "/backup",
       .scopes = all_of({"muster:backup"}),
       .handler = OnWorkerThreadWithFleet{back_up},
       .input = "BackupRequest",
       .audit = audited({"file"}),
       .output = "Backup",
       .errors = {bad_input, "TooManyRequests", unavailable},
       .category = "host",
       .title = "Copy the store to a new file in the folder for backups, while the host works on"},
  };
}

}  // namespace muster::api
