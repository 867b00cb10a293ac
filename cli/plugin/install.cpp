// muster plugin install
#include <cstdio>

#include <muster/codec.hpp>
#include <muster/enum_name.hpp>

#include "cli/exit_code.hpp"
#include "cli/plugin/plugin_commands.hpp"
#include "cli/plugin/scratch_folder.hpp"
#include "host/plugin_loader/contract_subject.hpp"
#include "host/plugin_loader/plugin_status.hpp"
#include "lib/base/atomic_file.hpp"

namespace muster::cli {
namespace {

namespace fs = std::filesystem;
using plugin_loader::manifest_name;
using plugin_loader::PluginList;
using plugin_loader::PluginState;
using plugin_loader::StoredPlugin;
using plugin_loader::VersionStatus;

constexpr std::size_t max_library_size = std::size_t{1} << 30;

Result<fs::path> last_plugin_folder(const Result<json::value>& plugins) {
  if (!plugins) return plugins.error();
  const auto* folders = plugins->as_object().if_contains("pluginFolders");
  if (!folders || !folders->is_array() || folders->get_array().empty() ||
      !folders->get_array().back().is_string())
    return Error::invalid("the host has no plugin folder; give one with --folder");
  return fs::path(std::string(folders->get_array().back().get_string()));
}

// The library first, the manifest last: the folder never holds half a plugin.
Result<void> put_into(const fs::path& home, const StoredPlugin& copy) {
  std::error_code code;
  fs::create_directories(home, code);
  // Whatever the umask: a host takes no plugin from a folder that a group may write.
  if (!code) fs::permissions(home, fs::perms(0755), code);
  if (code) return Error::invalid(home.string() + " cannot be created: " + code.message());
  const auto bytes = read_file(copy.library, max_library_size);
  if (!bytes) return bytes.error();
  if (const auto put = write_file_atomically(home / copy.manifest.file, *bytes, 0755); !put)
    return put.error();
  return write_file_atomically(home / manifest_name, plugin_loader::write_manifest(copy.manifest));
}

// What the host made of it; nothing if it does not know it.
std::optional<VersionStatus> found_in(const PluginList& list, const StoredPlugin& copy) {
  for (const auto& plugin : list.plugins) {
    if (plugin.plugin_id != copy.manifest.id()) continue;
    for (const auto& version : plugin.versions)
      if (version.sha256 == copy.manifest.sha256) return version;
  }
  return std::nullopt;
}

std::string tell_host(HostClient& host, const StoredPlugin& copy, bool& refused) {
  const auto answer = host.post("/api/muster/v1/plugins/rescan");
  if (!answer) return "the host does not answer: " + answer.error().message;
  const auto list = from_value<PluginList>(*answer);
  const auto version = list ? found_in(*list, copy) : std::nullopt;
  if (!version) return "the host does not watch that folder";
  refused = version->state == PluginState::rejected;
  return "the host says: " + name_of(version->state) +
         (version->reason.empty() ? "" : ", " + version->reason);
}

}  // namespace

fs::path cell_program() {
  return fs::read_symlink("/proc/self/exe").parent_path() / "muster-cell";
}

Result<StoredPlugin> copy_of(const fs::path& path, const fs::path& store,
                             plugin_loader::CellSpawner& spawner) {
  std::error_code code;
  if (fs::is_directory(path, code)) return plugin_loader::store_plugin(path, store);
  const auto bytes = read_file(path, max_library_size);
  if (!bytes) return bytes.error();
  const fs::path library =
      store / "library.so";  // a copy, since the original may be rebuilt at any time
  if (const auto written = write_file_atomically(library, *bytes, 0755); !written)
    return written.error();
  auto manifest = plugin_loader::manifest_of(library, spawner);
  if (!manifest) return manifest.error();
  return StoredPlugin{library, std::move(*manifest)};
}

void install_plugin(const PluginInstallation& options) {
  const ScratchFolder scratch;
  plugin_loader::CellSpawner spawner(cell_program());
  const auto copy = copy_of(options.path, scratch.path(), spawner);
  if (!copy) fail(Error::invalid("the plugin is refused: " + copy.error().message));
  if (const auto opened = plugin_loader::manifest_of(copy->library, spawner); !opened)
    fail(Error::invalid("the plugin is refused: " + opened.error().message));

  const auto address = find_host(options.host, process_environment);
  std::optional<HostClient> host;
  if (address) host.emplace(*address);
  fs::path folder = options.folder;
  if (folder.empty()) {
    if (!host)
      fail(Error::invalid(address.error().message + "; or give a plugin folder with --folder"));
    const auto last = last_plugin_folder(host->get("/api/muster/v1/plugins"));
    if (!last) fail(last.error());
    folder = *last;
  }
  const fs::path home = folder / copy->manifest.kind / copy->manifest.name;
  if (const auto put = put_into(home, *copy); !put) fail(put.error());
  bool refused = false;
  const std::string told = host ? tell_host(*host, *copy, refused)
                                : "no host is running here; a host loads it when it starts";
  if (options.as_json) {
    std::printf("%s\n", json::write_pretty(json::object{{"plugin", copy->manifest.id()},
                                                        {"version", copy->manifest.version},
                                                        {"folder", home.string()},
                                                        {"host", told}})
                            .c_str());
  } else {
    std::printf("%s %s is in %s\n%s\n", copy->manifest.id().c_str(), copy->manifest.version.c_str(),
                home.c_str(), told.c_str());
  }
  if (refused) throw Exit{exit_failed};
}

}  // namespace muster::cli
