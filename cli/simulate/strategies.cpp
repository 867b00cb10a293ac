#include "cli/simulate/strategies.hpp"

#include <muster/testing/fake_host.hpp>

#include "host/plugin_loader/manifest.hpp"
#include "host/plugin_loader/plugin_scan.hpp"

namespace muster::cli {

struct Strategies::Loaded {
  testing::FakeContext context;
  std::unique_ptr<Channel> channel;
  std::unique_ptr<StrategyClient> client;
};

Strategies::Strategies(std::vector<std::filesystem::path> plugin_folders)
    : folders_(std::move(plugin_folders)) {
  std::vector<plugin_loader::PluginFolder> folders;
  for (const auto& path : folders_) folders.push_back({path, true});
  for (const plugin_loader::Dropped& dropped : plugin_loader::scan(folders).dropped) {
    const auto manifest =
        plugin_loader::read_manifest(dropped.folder / plugin_loader::manifest_name);
    if (manifest) libraries_.try_emplace(manifest->id(), dropped.folder / manifest->file);
  }
}

Strategies::~Strategies() = default;

std::vector<std::string> Strategies::installed() const {
  constexpr std::string_view kind = "strategy/";
  std::vector<std::string> names;
  for (const auto& [id, library] : libraries_)
    if (id.starts_with(kind)) names.push_back(id.substr(kind.size()));
  return names;
}

Result<void> Strategies::load(const std::string& name, const GivenStrategy& strategy) {
  if (by_name_.contains(name)) return {};
  const auto library = libraries_.find(strategy.plugin);
  if (library == libraries_.end()) {
    std::string looked;
    for (const auto& folder : folders_) looked += (looked.empty() ? "" : " and ") + folder.string();
    return Error::not_found("the plugin " + strategy.plugin + " of the strategy " + name +
                            " was not found; looked in " + looked);
  }
  const auto plugin = testing::open_plugin(library->second.string());
  if (!plugin)
    return Error::invalid("the plugin " + strategy.plugin +
                          " cannot be loaded: " + plugin.error().message);
  auto loaded = std::make_unique<Loaded>();
  auto channel =
      testing::DirectChannel::create(**plugin, json::write(strategy.config), loaded->context);
  if (!channel)
    return Error::invalid("the strategy " + name +
                          " refuses its configuration: " + channel.error().message);
  loaded->channel = std::move(*channel);
  loaded->client = std::make_unique<StrategyClient>(*loaded->channel);
  by_name_.emplace(name, loaded->client.get());
  loaded_.emplace(name, std::move(loaded));
  return {};
}

}  // namespace muster::cli
