// What operators see of plugins: in the API, in `muster plugin list`, in the log.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <muster/codec.hpp>

namespace muster::plugin_loader {

enum class PluginState { checking, active, draining, retired, rejected, stuck, quarantined };
constexpr auto enum_names(PluginState) {
  return std::array<std::string_view, 7>{"checking", "active", "draining",   "retired",
                                         "rejected", "stuck",  "quarantined"};
}

struct VersionStatus {
  std::string version;
  std::string sha256;
  PluginState state = PluginState::checking;
  std::string reason = {};  // of a rejection or a quarantine
  Time since{};             // in this state
  std::string folder = {};  // where it was dropped
  std::string isolation = {};
  std::int64_t abi_minor = 0;
  std::string built_with = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("version", &VersionStatus::version), required("sha256", &VersionStatus::sha256),
        required("state", &VersionStatus::state), optional("reason", &VersionStatus::reason),
        required("since", &VersionStatus::since), optional("folder", &VersionStatus::folder),
        optional("isolation", &VersionStatus::isolation),
        optional("abiMinor", &VersionStatus::abi_minor),
        optional("builtWith", &VersionStatus::built_with));
  }
};

struct InstanceStatus {
  std::string instance_id;
  PluginState state = PluginState::active;  // active, stuck (being restarted), quarantined, or
                                            // rejected: it could not be started
  std::string reason = {};
  std::string version = {};
  std::string isolation = {};
  std::optional<std::int64_t> pid = {};  // of its cell
  std::int64_t restarts = 0;
  std::int64_t calls = 0;
  std::int64_t failed_calls = 0;
  std::string last_failure = {};

  static constexpr auto fields(auto visit) {
    return visit(
        required("instanceId", &InstanceStatus::instance_id),
        required("state", &InstanceStatus::state), optional("reason", &InstanceStatus::reason),
        optional("version", &InstanceStatus::version),
        optional("isolation", &InstanceStatus::isolation), optional("pid", &InstanceStatus::pid),
        optional("restarts", &InstanceStatus::restarts), optional("calls", &InstanceStatus::calls),
        optional("failedCalls", &InstanceStatus::failed_calls),
        optional("lastFailure", &InstanceStatus::last_failure));
  }
};

struct PluginStatus {
  std::string plugin_id;  // "provider/simulated"
  PluginState state = PluginState::checking;
  std::string description = {};
  std::vector<VersionStatus> versions = {};  // newest first
  std::vector<InstanceStatus> instances = {};

  static constexpr auto fields(auto visit) {
    return visit(required("pluginId", &PluginStatus::plugin_id),
                 required("state", &PluginStatus::state),
                 optional("description", &PluginStatus::description),
                 required("versions", &PluginStatus::versions),
                 required("instances", &PluginStatus::instances));
  }
};

struct PluginList {
  std::vector<PluginStatus> plugins;

  static constexpr auto fields(auto visit) {
    return visit(required("plugins", &PluginList::plugins));
  }
};

}  // namespace muster::plugin_loader
