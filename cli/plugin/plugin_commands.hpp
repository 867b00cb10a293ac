// `muster plugin ...`: one function for each verb; each prints what it has to say and throws Exit
// for any code but 0.
#pragma once

#include <filesystem>
#include <string>

#include <muster/error.hpp>

#include "cli/connection.hpp"
#include "host/plugin_loader/cell_spawner.hpp"
#include "host/plugin_loader/plugin_store.hpp"

namespace muster::cli {

struct PluginListing {
  HostOptions host;
  bool as_json = false;
  bool rescan = false;
};
void list_plugins(const PluginListing& options);

struct PluginRollback {
  HostOptions host;
  std::string plugin_id;
  bool as_json = false;
};
void roll_back_plugin(const PluginRollback& options);

struct PluginLog {
  HostOptions host;
  std::string instance_id;
  bool as_json = false;
};
void show_plugin_log(const PluginLog& options);

struct PluginCheck {
  std::filesystem::path path;  // a folder with a manifest, or a library
  std::string service;         // instead of a path: the address of a service behind provider/bridge
  std::filesystem::path config_file, section_file;  // empty: the plugin's own example
  bool as_json = false;
};
void check_plugin(const PluginCheck& options);

struct PluginInstallation {
  HostOptions host;
  std::filesystem::path path;
  std::filesystem::path folder;  // empty: the last plugin folder of the running host
  bool as_json = false;
};
void install_plugin(const PluginInstallation& options);

struct NewPlugin {
  std::string kind, name;
  std::filesystem::path folder;  // empty: ./<name>
  bool as_json = false;
};
void make_new_plugin(const NewPlugin& options);

// ------------------------------------------------------------------------------------------------
// shared by the verbs

// A plugin as it was given, copied to where it can be mapped: a rebuild of the original
// meanwhile does not disturb the check.
Result<plugin_loader::StoredPlugin> copy_of(const std::filesystem::path& path,
                                            const std::filesystem::path& store,
                                            plugin_loader::CellSpawner& spawner);

// muster-cell, beside this program.
std::filesystem::path cell_program();

}  // namespace muster::cli
