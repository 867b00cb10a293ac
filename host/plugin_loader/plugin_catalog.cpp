#include "host/plugin_loader/plugin_catalog.hpp"

#include <algorithm>
#include <system_error>

namespace muster::plugin_loader {
namespace {

constexpr std::size_t max_versions = 8;

// Copies that neither serve nor can be rolled back to. Only at the start, when nothing of them is
// mapped.
void delete_old_copies(const std::filesystem::path& store, const ActiveVersions& versions) {
  std::set<std::string> wanted;
  for (const auto& [id, version] : versions)
    wanted.insert({version.active, version.previous, version.skipped});
  std::error_code ignored;
  std::vector<std::filesystem::path> old;
  for (const auto& entry : std::filesystem::directory_iterator(store, ignored))
    if (entry.path().filename().string().size() == 64 && entry.is_directory(ignored) &&
        !wanted.contains(entry.path().filename().string()))
      old.push_back(entry.path());
  for (const auto& folder : old) std::filesystem::remove_all(folder, ignored);
}

}  // namespace

Result<std::unique_ptr<PluginCatalog>> PluginCatalog::open(
    LoaderSettings settings, std::shared_ptr<const Clock> clock, Log log,
    std::shared_ptr<CrashRecord> crash_record) {
  std::error_code code;
  std::filesystem::create_directories(settings.store, code);
  if (code) return Error::config(settings.store.string() + " cannot be made: " + code.message());
  if (!std::filesystem::exists(settings.cell_program, code))
    return Error::config("the program for cells is not at " + settings.cell_program.string());
  auto active = load_active_versions(settings.store);
  if (!active) return active.error();
  delete_old_copies(settings.store, *active);
  auto watch = FolderWatch::open();
  if (!watch) return watch.error();
  return std::unique_ptr<PluginCatalog>(new PluginCatalog(std::move(settings), std::move(clock),
                                                          std::move(log), std::move(crash_record),
                                                          std::move(*active), std::move(*watch)));
}

PluginCatalog::PluginCatalog(LoaderSettings settings, std::shared_ptr<const Clock> clock, Log log,
                             std::shared_ptr<CrashRecord> crash_record, ActiveVersions active,
                             FolderWatch watch)
    : settings_(std::move(settings)),
      clock_(std::move(clock)),
      log_(std::move(log)),
      crash_record_(std::move(crash_record)),
      spawner_(std::make_shared<CellSpawner>(settings_.cell_program)),
      feed_(std::make_shared<PluginChangeFeed>([this] { return snapshot(); })),
      retirement_(std::make_shared<Retirement>(
          [feed = std::weak_ptr(feed_)] { note_change(feed); })),  // a version may be drained now
      active_(std::move(active)),
      watch_(std::move(watch)) {}

PluginCatalog::~PluginCatalog() {
  leaving_ = true;
  watch_.wake();
  if (watcher_.joinable()) watcher_.join();
  feed_->stop();
  for (const auto& [id, plugin] : plugins_)
    for (const auto& [name, serving] : plugin->instances) serving.instance->stop();
}

std::vector<Error> PluginCatalog::configure(std::vector<PluginFolder> folders,
                                            std::vector<InstanceSpec> instances) {
  const std::lock_guard deploying(deploying_);
  {
    const std::lock_guard lock(state_);
    settings_.folders = std::move(folders);
    instances_ = lanes_of(std::move(instances));
  }
  std::vector<Error> errors;
  for (const auto& [id, plugin] : plugins_) {
    if (!plugin->active) {
      forget_seen(*plugin);  // with another configuration it may start
      continue;
    }
    for (Error& error : start_instances(*plugin)) errors.push_back(std::move(error));
  }
  apply_folder_changes();
  return errors;
}

void PluginCatalog::forget_seen(PluginRecord& plugin) {
  const std::lock_guard lock(state_);
  plugin.failed.clear();
  for (const auto& version : plugin.versions) seen_.erase(version->status.folder);
  plugin.versions.clear();
}

void PluginCatalog::rescan() {
  const std::lock_guard deploying(deploying_);
  retry_failed();
  apply_folder_changes();
}

void PluginCatalog::apply_folder_changes() {
  const Scan found = scan(settings_.folders, settings_.store);
  std::set<std::string> taken;
  std::map<std::filesystem::path, VersionStatus> refused;
  for (const Dropped& dropped : found.dropped) {
    const auto manifest =
        dropped.library_without_manifest.empty()
            ? read_manifest(dropped.folder / manifest_name)
            : Result<Manifest>(Error::invalid("there is no " + std::string(manifest_name) +
                                              " for " + dropped.library_without_manifest.string() +
                                              "; run: muster plugin install " +
                                              dropped.library_without_manifest.string()));
    if (manifest) {
      apply_dropped(dropped, taken);
      continue;
    }
    const auto path = dropped.library_without_manifest.empty() ? dropped.folder
                                                               : dropped.library_without_manifest;
    const auto known = refused_files_.find(path);
    if (known == refused_files_.end() || known->second.reason != manifest.error().message)
      log_.error("a plugin is refused",
                 {{"folder", path.string()}, {"reason", manifest.error().message}});
    refused[path] = {.version = "",
                     .sha256 = "",
                     .state = PluginState::rejected,
                     .reason = manifest.error().message,
                     .since = known == refused_files_.end() ? clock_->now() : known->second.since,
                     .folder = path.string()};
  }
  const std::lock_guard lock(state_);
  feed_->changed();
  refused_files_ = std::move(refused);
  std::erase_if(seen_, [&](const auto& seen) {
    return std::none_of(found.dropped.begin(), found.dropped.end(),
                        [&](const Dropped& dropped) { return dropped.folder == seen.first; });
  });
  for (const auto& [id, plugin] : plugins_)
    if (plugin->active && !taken.contains(id) && plugin->active->status.reason.empty())
      plugin->active->status.reason = "its folder is gone; it serves until the host is restarted";
}

void PluginCatalog::apply_dropped(const Dropped& dropped, std::set<std::string>& taken) {
  const auto manifest = read_manifest(dropped.folder / manifest_name);
  if (!manifest || !taken.insert(manifest->id()).second)
    return;  // one of a later plugin folder wins
  if (std::exchange(seen_[dropped.folder], dropped.signature) == dropped.signature) return;
  PluginRecord& plugin = record_of(manifest->id());
  const auto stored = store_plugin(dropped.folder, settings_.store);
  const auto version = std::make_shared<PluginVersion>(
      PluginVersion{stored ? *stored : StoredPlugin{{}, *manifest}, dropped.shipped});
  version->status = {
      .version = manifest->version, .sha256 = manifest->sha256, .folder = dropped.folder.string()};
  set_state(*version, PluginState::checking);
  if (stored && active_[plugin.plugin_id].skipped == manifest->sha256) {
    if (!plugin.active) fall_back(plugin);  // rolled back before the host was restarted
    if (plugin.active) return;
  }
  if (stored && plugin.active && plugin.active->stored.manifest.sha256 == manifest->sha256) {
    const std::lock_guard lock(state_);
    plugin.active->status.reason.clear();
    return;
  }
  list_version(plugin, version);
  const auto deployed = stored ? deploy(plugin, version) : Result<void>(stored.error());
  if (deployed) return;
  if (deployed.error().error_class == ErrorClass::transient)
    seen_.erase(dropped.folder);  // worth another try
  if (!plugin.active) fall_back(plugin);
  // If no version can serve all instances, this one serves those that it can.
  const bool serves_some = stored && !plugin.active && has_instances(plugin.plugin_id) &&
                           deploy(plugin, version, Failing::alone);
  if (!serves_some) set_state(*version, PluginState::rejected, deployed.error().message);
}

bool PluginCatalog::has_instances(const std::string& plugin_id) const {
  return std::ranges::find(instances_, plugin_id, &InstanceSpec::plugin_id) != instances_.end();
}

// What failed for a reason that may go away, such as a service that did not answer.
void PluginCatalog::retry_failed() {
  for (const auto& [id, plugin] : plugins_) {
    const bool is_worth_it =
        plugin->active && std::ranges::any_of(plugin->failed, [](const auto& failed) {
          return failed.second.error_class == ErrorClass::transient;
        });
    if (is_worth_it) start_instances(*plugin);
  }
}

// After a restart of the host, the version that served before it serves again if the one in the
// folder cannot.
void PluginCatalog::fall_back(PluginRecord& plugin) {
  const std::string sha256 = active_[plugin.plugin_id].active;
  if (sha256.empty() ||
      (!plugin.versions.empty() && plugin.versions.front()->stored.manifest.sha256 == sha256))
    return;
  const auto stored = find_stored_plugin(sha256, settings_.store);
  if (!stored)
    return log_.error("the version that served before is lost",
                      {{"plugin", plugin.plugin_id}, {"reason", stored.error().message}});
  const auto version = std::make_shared<PluginVersion>(PluginVersion{*stored});
  version->status = {.version = stored->manifest.version, .sha256 = sha256};
  set_state(*version, PluginState::checking);
  {
    const std::lock_guard lock(state_);
    plugin.versions.push_back(version);
  }
  if (const auto deployed = deploy(plugin, version); !deployed)
    set_state(*version, PluginState::rejected, deployed.error().message);
}

Result<void> PluginCatalog::rollback(const std::string& plugin_id) {
  const std::lock_guard deploying(deploying_);
  const auto found = plugins_.find(plugin_id);
  if (found == plugins_.end() || !found->second->active)
    return Error::not_found("there is no active plugin \"" + plugin_id +
                            "\"; see: muster plugin list");
  PluginRecord& plugin = *found->second;
  const ActiveVersion before = active_[plugin_id];
  if (before.previous.empty())
    return Error::invalid("the host has no earlier version of " + plugin_id + " to go back to");
  const auto stored = find_stored_plugin(before.previous, settings_.store);
  if (!stored) return stored.error();
  const auto version =
      std::make_shared<PluginVersion>(PluginVersion{*stored, plugin.active->shipped});
  version->status = {.version = stored->manifest.version, .sha256 = before.previous};
  set_state(*version, PluginState::checking);
  if (const auto deployed = deploy(plugin, version); !deployed) return deployed.error();
  list_version(plugin, version);
  const std::lock_guard lock(state_);
  active_[plugin_id].skipped = before.active;
  return store_active_versions(settings_.store, active_);
}

void PluginCatalog::list_version(PluginRecord& plugin,
                                 const std::shared_ptr<PluginVersion>& version) {
  const std::lock_guard lock(state_);
  feed_->changed();
  plugin.versions.push_front(version);
  if (plugin.versions.size() > max_versions) plugin.versions.pop_back();
}

PluginRecord& PluginCatalog::record_of(const std::string& plugin_id) {
  const std::lock_guard lock(state_);
  auto& plugin = plugins_[plugin_id];
  if (!plugin) plugin = std::make_unique<PluginRecord>(PluginRecord{plugin_id});
  return *plugin;
}

std::vector<PluginFolder> PluginCatalog::folders() const {
  const std::lock_guard lock(state_);
  return settings_.folders;
}

void PluginCatalog::start_watching() {
  watcher_ = std::thread([this] { watch_folders(); });
}

void PluginCatalog::watch_folders() {
  while (!leaving_) {
    // Watch first, then look: what appears in between is seen by one of the two.
    std::vector<std::filesystem::path> watched;
    do {
      watched = scan(folders(), settings_.store).to_watch;
      watch_.watch({watched.begin(), watched.end()});
      rescan();
    } while (!leaving_ && scan(folders(), settings_.store).to_watch != watched);
    if (!leaving_) watch_.wait(settings_.rescan_every);
  }
}

std::shared_ptr<Channel> PluginCatalog::channel(const std::string& instance_id) const {
  const std::lock_guard lock(state_);
  const auto found = channels_.find(instance_id);
  return found == channels_.end() ? nullptr : found->second;
}

}  // namespace muster::plugin_loader
