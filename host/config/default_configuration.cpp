#include "host/config/default_configuration.hpp"

#include <cerrno>
#include <cstdlib>
#include <sys/stat.h>
#include <unistd.h>

#include <muster/json.hpp>

#include "host/config/embedded.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::config {
namespace fs = std::filesystem;
namespace {

// JSON's strings are TOML's basic strings, for all that a path can hold.
std::string toml_string(const fs::path& path) {
  return json::write(json::value(json::string(path.string())));
}

void fill_in(std::string& text, std::string_view placeholder, const std::string& value) {
  for (std::size_t at = 0; (at = text.find(placeholder, at)) != std::string::npos;
       at += value.size())
    text.replace(at, placeholder.size(), value);
}

fs::path workers_in(const fs::path& data_directory) {
  return data_directory / "workers";
}

fs::path in_home(const fs::path& home) {
  return home / ".local/state/muster";
}

// Whether a host has used the folder as its data directory.
bool has_lock(const fs::path& folder) {
  std::error_code failed;
  return fs::exists(folder / "lock", failed);
}

// Where root's workers, who are another user, find tasks and leave what they print.
Result<void> give_to_workers(const fs::path& tasks, const RunAs& user) {
  const fs::path provisioner = tasks.parent_path();
  if (::chmod(provisioner.parent_path().c_str(), 0711) != 0 ||
      ::chmod(provisioner.c_str(), 0711) != 0 || ::lchown(tasks.c_str(), user.uid, user.gid) != 0)
    return system_error("give to the workers", tasks, errno);
  return {};
}

fs::path tasks_in(const fs::path& data_directory) {
  return data_directory / "tasks";
}

}  // namespace

std::string process_environment(const char* name) {
  const char* const value = std::getenv(name);
  return value ? value : "";
}

fs::path shipped_plugin_folder(const fs::path& executable) {
  const fs::path prefix = executable.parent_path().parent_path();
  const fs::path usual = prefix / "lib/muster/plugins";
  std::error_code failed;
  for (const char* library : {"lib/" MUSTER_LIBRARY_ARCHITECTURE, "lib64"})
    if (const fs::path other = prefix / library / "muster/plugins";
        !fs::is_directory(usual, failed) && fs::is_directory(other, failed))
      return other.lexically_normal();
  return usual.lexically_normal();
}

Defaults defaults_for(const fs::path& executable, const Environment& environment, bool as_root) {
  Defaults defaults;
  const std::string by_systemd = environment("STATE_DIRECTORY");
  const std::string state = environment("XDG_STATE_HOME");
  const std::string home = environment("HOME");
  if (!by_systemd.empty())
    defaults.data_directory = by_systemd.substr(0, by_systemd.find(':'));
  else if (fs::path(state).is_absolute())
    defaults.data_directory = fs::path(state) / "muster";
  else if (fs::path(home).is_absolute() && !(as_root && !has_lock(in_home(home))))
    defaults.data_directory = in_home(home);
  else
    defaults.data_directory = "/var/lib/muster";
  defaults.plugin_folders = {shipped_plugin_folder(executable),
                             defaults.data_directory / "plugins.d"};
  return defaults;
}

Defaults with_overrides(Defaults defaults, const std::optional<fs::path>& data_directory,
                        const std::optional<ListenAddress>& listen) {
  defaults.listen = listen;
  if (!data_directory) return defaults;
  const fs::path before = defaults.data_directory / "plugins.d";
  for (fs::path& folder : defaults.plugin_folders)
    if (folder == before) folder = *data_directory / "plugins.d";
  defaults.data_directory = *data_directory;
  defaults.data_directory_was_given = true;
  return defaults;
}

std::string default_configuration_text(const Defaults& defaults) {
  std::string text = default_text;
  fill_in(text, "${dataDirectory}", toml_string(defaults.data_directory));
  fill_in(text, "${workers}", toml_string(workers_in(defaults.data_directory)));
  fill_in(text, "${tasks}", toml_string(tasks_in(defaults.data_directory)));
  fill_in(text, "${local}", toml_string(defaults.data_directory / "local"));
  fill_in(text, "${exampleWorker}",
          toml_string(defaults.plugin_folders.front().parent_path() / "example-worker"));
  std::string folders;
  for (const fs::path& folder : defaults.plugin_folders)
    folders += (folders.empty() ? "" : ", ") + toml_string(folder);
  fill_in(text, "${pluginFolders}", "[" + folders + "]");
  return text;
}

Result<bool> write_first_files(const fs::path& data_directory,
                               const std::optional<RunAs>& worker_user) {
  const fs::path workers = workers_in(data_directory);
  const fs::path tasks = tasks_in(data_directory) / "worker-manager" / "default";
  std::error_code failed;
  if (!fs::is_directory(data_directory, failed))
    return Error::not_found("there is no folder " + data_directory.string());
  if (fs::exists(fs::symlink_status(workers, failed))) return false;
  std::string text = default_workers_text;
  fill_in(text, "${poolTasks}", toml_string(tasks));
  fs::create_directories(tasks, failed);
  if (failed) return system_error("make", tasks, failed.value());
  if (worker_user)
    if (const auto given = give_to_workers(tasks, *worker_user); !given) return given.error();
  // Under another name first: a start that is cut off here is still the first one next time.
  const fs::path fresh = workers.string() + ".new";
  fs::create_directories(fresh, failed);
  if (failed) return system_error("make", fresh, failed.value());
  if (const auto written = write_file_atomically(fresh / "default.toml", text); !written)
    return written.error();
  fs::rename(fresh, workers, failed);
  if (failed) return system_error("make", workers, failed.value());
  return true;
}

}  // namespace muster::config
