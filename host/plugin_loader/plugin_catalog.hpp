// All plugins of the host: finds them in the plugin folders, checks each in a child process, starts
// the configured instances, swaps versions under load, and goes back to the version before.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "host/plugin_loader/active_versions.hpp"
#include "host/plugin_loader/cell_channel.hpp"
#include "host/plugin_loader/crash_record.hpp"
#include "host/plugin_loader/instance_lanes.hpp"
#include "host/plugin_loader/instance_record.hpp"
#include "host/plugin_loader/plugin_changes.hpp"
#include "host/plugin_loader/plugin_instance.hpp"
#include "host/plugin_loader/plugin_record.hpp"
#include "host/plugin_loader/plugin_scan.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/folder_watch.hpp"
#include "lib/base/log.hpp"

namespace muster::plugin_loader {

struct LoaderSettings {
  std::vector<PluginFolder> folders;  // later ones win
  std::filesystem::path store;        // the host's own copies, and which of them serve
  std::filesystem::path cell_program;
  std::chrono::milliseconds start_budget{10'000};  // for the check, and for create()
  std::chrono::milliseconds rescan_every{60'000};
  std::int64_t check_memory_bytes = std::int64_t{512} << 20;
  SupervisionPolicy supervision = {};
};

class PluginCatalog {
 public:
  // Loads nothing yet. `crash_record` may be null.
  static Result<std::unique_ptr<PluginCatalog>> open(LoaderSettings settings,
                                                     std::shared_ptr<const Clock> clock, Log log,
                                                     std::shared_ptr<CrashRecord> crash_record);
  ~PluginCatalog();

  // The instances that should run, at the start and after a reload of the configuration; then a
  // rescan. Instances that did not change are not disturbed. One whose plugin is not there yet
  // starts when it is dropped in. A plugin that no instance uses is kept ready by one of its own,
  // made from the example configuration of its description. An instance that cannot be started
  // stops no other one. Errors, one for each of them, are also in the log and in list().
  std::vector<Error> configure(std::vector<PluginFolder> folders,
                               std::vector<InstanceSpec> instances);

  // Watches the plugin folders from now on, on a thread of its own.
  void start_watching();

  // Applies what changed in the plugin folders. Returns when it is done. THREADS: any; they
  // take turns.
  void rescan();

  // Back to the version that served before, until another one is dropped in.
  Result<void> rollback(const std::string& plugin_id);

  PluginList list() const;

  // `listener`, which is borrowed, learns of every change from now on; see PluginListener. THREADS:
  // any.
  [[nodiscard]] PluginSubscription subscribe(PluginListener& listener) {
    return feed_->subscribe(listener);
  }

  // What a running instance is; nothing if there is none of that id (yet), or if it is quarantined.
  struct Running {
    json::object description;  // as describe() said it
    std::string version;       // of the plugin, with its content's hash
  };
  std::optional<Running> running(const std::string& instance_id) const;

  // Why an instance does not run as it is configured; nothing if it does, or if there is none of
  // that id. THREADS: any.
  std::optional<std::string> failure_of(const std::string& instance_id) const;

  // How its calls went and what it wrote lately; null if there was none of that id. THREADS: any.
  std::shared_ptr<const InstanceRecord> record(const std::string& instance_id) const {
    return records_->find(instance_id);
  }

  // The way to call an instance: as many calls at once as its `concurrency` says. Null if there is
  // none of that id (yet). Always the same object, valid across swaps, restarts and reloads; its
  // calls fail once the instance is no longer configured or the catalog is gone.
  std::shared_ptr<Channel> channel(const std::string& instance_id) const;

 private:
  PluginCatalog(LoaderSettings settings, std::shared_ptr<const Clock> clock, Log log,
                std::shared_ptr<CrashRecord> crash_record, ActiveVersions active,
                FolderWatch watch);

  // Showing; in plugin_listing.cpp.
  PluginList list_now() const;  // with state_ held
  PluginSnapshot snapshot() const;

  // Finding; in plugin_catalog.cpp.
  void apply_folder_changes();
  void apply_dropped(const Dropped& dropped, std::set<std::string>& taken);
  void fall_back(PluginRecord& plugin);
  void watch_folders();
  std::vector<PluginFolder> folders() const;
  PluginRecord& record_of(const std::string& plugin_id);
  void list_version(PluginRecord& plugin, const std::shared_ptr<PluginVersion>& version);

  // Deploying; in plugin_deployment.cpp.
  // What an instance that cannot be started means: nothing of the version serves, or all but it.
  enum class Failing { all, alone };
  Result<void> deploy(PluginRecord& plugin, const std::shared_ptr<PluginVersion>& version,
                      Failing failing = Failing::all);
  Result<std::shared_ptr<Backend>> check_and_make(const InstanceSpec& spec,
                                                  const PluginVersion& version);
  void log_failed(const std::string& plugin_id, const std::string& instance_id,
                  const Error& error) const;
  void retry_failed();
  void forget_seen(PluginRecord& plugin);
  bool has_instances(const std::string& plugin_id) const;
  Result<StartReply> check(const PluginVersion& version, std::vector<json::object> configs);
  std::vector<Error> start_instances(PluginRecord& plugin);
  Result<std::shared_ptr<Backend>> make(const InstanceSpec& spec, const PluginVersion& version);
  Recipe recipe_for(const InstanceSpec& spec, const PluginVersion& version) const;
  Isolation isolation_for(const InstanceSpec& spec, const PluginVersion& version) const;
  std::vector<InstanceSpec> specs_for(const std::string& plugin_id,
                                      const PluginVersion& version) const;
  void serve(PluginRecord& plugin, const InstanceSpec& spec, const PluginVersion& version,
             std::shared_ptr<Backend> backend);
  void keep_only(PluginRecord& plugin, const std::vector<InstanceSpec>& specs);
  void connect_lanes();
  void set_state(PluginVersion& version, PluginState state, std::string reason = {});

  LoaderSettings settings_;  // the folders change with the configuration
  const std::shared_ptr<const Clock> clock_;
  const Log log_;
  const std::shared_ptr<CrashRecord> crash_record_;
  const std::shared_ptr<CellSpawner> spawner_;
  const std::shared_ptr<PluginChangeFeed> feed_;
  const std::shared_ptr<InstanceRecords> records_ = std::make_shared<InstanceRecords>();
  const std::shared_ptr<Retirement> retirement_;

  // One scan, deployment, configuration or rollback at a time. Only the holder changes what state_
  // guards, so it reads that without a lock; everybody else reads it under state_, which is never
  // held during I/O.
  std::mutex deploying_;
  mutable std::mutex state_;
  std::vector<InstanceSpec> instances_;
  std::map<std::string, std::unique_ptr<PluginRecord>> plugins_;
  std::map<std::string, std::shared_ptr<InstanceLanes>> channels_;  // by instance id
  std::map<std::filesystem::path, VersionStatus> refused_files_;  // no plugins, in a plugin folder
  ActiveVersions active_;
  std::map<std::filesystem::path, std::string>
      seen_;  // signatures of what was taken up, or refused, before

  FolderWatch watch_;
  std::atomic<bool> leaving_{false};
  std::thread watcher_;
};

}  // namespace muster::plugin_loader
