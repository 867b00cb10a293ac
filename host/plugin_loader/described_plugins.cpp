#include "host/plugin_loader/described_plugins.hpp"

#include "host/plugin_loader/cell_channel.hpp"
#include "host/plugin_loader/cell_instance.hpp"

namespace muster::plugin_loader {
namespace {

constexpr std::chrono::seconds longest_start(20);
constexpr std::int64_t most_memory = std::int64_t{512} << 20;

struct Found {
  Manifest manifest;
  std::filesystem::path library;
  bool shipped = false;
};

// By id; what is no plugin is a problem.
std::map<std::string, Found> find_plugins(const std::vector<PluginFolder>& folders,
                                          std::vector<std::string>& problems) {
  std::map<std::string, Found> found;
  for (const Dropped& dropped : scan(folders).dropped) {
    if (!dropped.library_without_manifest.empty()) {
      problems.push_back(dropped.library_without_manifest.string() + " has no " + manifest_name +
                         " beside it; run: muster plugin install");
      continue;
    }
    const auto manifest = read_manifest(dropped.folder / manifest_name);
    if (!manifest)
      problems.push_back(manifest.error().message);
    else
      found.try_emplace(manifest->id(),
                        Found{*manifest, std::filesystem::absolute(dropped.folder / manifest->file),
                              dropped.shipped});
  }
  return found;
}

HostServices silent_services() {
  return {[] { return std::chrono::floor<Time::duration>(std::chrono::system_clock::now()); },
          [](LogLevel, std::string_view) {}};
}

StartRequest request_for(const Manifest& manifest, const std::filesystem::path& library,
                         std::vector<json::object> configs) {
  StartRequest request{.library = library.string(),
                       .kind = manifest.kind,
                       .name = manifest.name,
                       .version = manifest.version,
                       .configs = std::move(configs),
                       .only_check = true,
                       .limits = {}};
  request.limits.memory_bytes = most_memory;
  return request;
}

Result<json::object> describe(const Found& found, CellSpawner& spawner) {
  const StartRequest request = request_for(found.manifest, found.library, {});
  if (found.shipped) {
    auto started = CellInstance::start(request, silent_services());
    if (!started) return started.error();
    return std::move(started->reply.description);
  }
  auto opened = open_cell(spawner, request, silent_services(), longest_start);
  if (!opened) return opened.error();
  return std::move(opened->start.description);
}

}  // namespace

DescribedPlugins describe_plugins(const std::vector<PluginFolder>& folders, CellSpawner& spawner,
                                  const std::string& kind) {
  DescribedPlugins described;
  for (auto& [id, found] : find_plugins(folders, described.problems)) {
    if (!kind.empty() && found.manifest.kind != kind) continue;
    auto description = describe(found, spawner);
    if (description)
      described.plugins.emplace(
          id, DescribedPlugin{found.manifest, found.library, std::move(*description)});
    else
      described.problems.push_back("the plugin " + id + " of " +
                                   found.library.parent_path().string() +
                                   " cannot be asked: " + description.error().message);
  }
  return described;
}

std::vector<std::string> plugin_ids(const std::vector<PluginFolder>& folders) {
  std::vector<std::string> problems, ids;
  for (const auto& [id, found] : find_plugins(folders, problems)) ids.push_back(id);
  return ids;
}

Result<void> try_config(const DescribedPlugin& plugin, const json::object& config,
                        CellSpawner& spawner) {
  const auto opened = open_cell(spawner, request_for(plugin.manifest, plugin.library, {config}),
                                silent_services(), longest_start);
  if (!opened) return opened.error();
  return {};
}

}  // namespace muster::plugin_loader
