#include "host/plugin_loader/described_plugins.hpp"

#include "host/plugin_loader/cell_channel.hpp"

namespace muster::plugin_loader {
namespace {

constexpr std::chrono::seconds longest_start(20);
constexpr std::int64_t most_memory = std::int64_t{512} << 20;

struct Found {
  Manifest manifest;
  std::filesystem::path library;
};

// By id; what is no plugin is a problem.
std::map<std::string, Found> find_plugins(const std::vector<std::filesystem::path>& folders,
                                          std::vector<std::string>& problems) {
  std::vector<PluginFolder> all;
  for (const auto& path : folders) all.push_back({path, true});
  std::map<std::string, Found> found;
  for (const Dropped& dropped : scan(all).dropped) {
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
                        Found{*manifest, std::filesystem::absolute(dropped.folder / manifest->file)});
  }
  return found;
}

Result<StartReply> ask(const Manifest& manifest, const std::filesystem::path& library,
                       std::vector<json::object> configs, CellSpawner& spawner) {
  StartRequest request{.library = library.string(),
                       .kind = manifest.kind,
                       .name = manifest.name,
                       .version = manifest.version,
                       .configs = std::move(configs),
                       .only_check = true,
                       .limits = {}};
  request.limits.memory_bytes = most_memory;
  const HostServices services{[] { return std::chrono::floor<Time::duration>(std::chrono::system_clock::now()); },
                              [](LogLevel, std::string_view) {}};
  auto opened = open_cell(spawner, request, services, longest_start);
  if (!opened) return opened.error();
  return std::move(opened->start);
}

}  // namespace

DescribedPlugins describe_plugins(const std::vector<std::filesystem::path>& folders,
                                  CellSpawner& spawner, const std::string& kind) {
  DescribedPlugins described;
  for (auto& [id, found] : find_plugins(folders, described.problems)) {
    if (!kind.empty() && found.manifest.kind != kind) continue;
    auto reply = ask(found.manifest, found.library, {}, spawner);
    if (reply)
      described.plugins.emplace(id, DescribedPlugin{found.manifest, found.library,
                                                    std::move(reply->description)});
    else
      described.problems.push_back("the plugin " + id + " of " +
                                   found.library.parent_path().string() +
                                   " cannot be asked: " + reply.error().message);
  }
  return described;
}

std::vector<std::string> plugin_ids(const std::vector<std::filesystem::path>& folders) {
  std::vector<std::string> problems, ids;
  for (const auto& [id, found] : find_plugins(folders, problems)) ids.push_back(id);
  return ids;
}

Result<void> try_config(const DescribedPlugin& plugin, const json::object& config,
                        CellSpawner& spawner) {
  const auto reply = ask(plugin.manifest, plugin.library, {config}, spawner);
  if (!reply) return reply.error();
  return {};
}

}  // namespace muster::plugin_loader
