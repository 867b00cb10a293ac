// What the catalog keeps of one plugin.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "host/plugin_loader/cell_protocol.hpp"
#include "host/plugin_loader/plugin_instance.hpp"
#include "host/plugin_loader/plugin_store.hpp"

namespace muster::plugin_loader {

// A provider or strategy as the operator configured it.
struct InstanceSpec {
  std::string instance_id;
  std::string plugin_id;  // "provider/simulated"
  json::object config = {};
  std::optional<Isolation> isolation =
      {};  // else the manifest's, else by where the plugin came from
  CellLimits limits = {};
  std::chrono::milliseconds deadline{30'000};      // of each call, if its caller has no shorter one
  std::chrono::milliseconds start_budget{10'000};  // of create()
  std::int64_t concurrency = 1;  // so many lanes, each an instance of the plugin of its own

  friend bool operator==(const InstanceSpec&, const InstanceSpec&) = default;
};

struct PluginVersion {
  StoredPlugin stored;
  bool shipped = false;
  VersionStatus status = {};
  std::string description = {};                        // one sentence
  std::shared_ptr<const json::object> described = {};  // all that describe() said
  json::object example_config = {};
  std::vector<std::weak_ptr<Backend>> draining = {};  // backends of it that were swapped out

  bool is_drained() const {
    for (const auto& backend : draining)
      if (!backend.expired()) return false;
    return true;
  }
  std::string label() const {
    return stored.manifest.id() + "@" + stored.manifest.sha256.substr(0, 16);
  }
};

struct PluginRecord {
  struct Serving {
    InstanceSpec spec;
    std::shared_ptr<PluginInstance> instance;
  };

  std::string plugin_id;
  std::deque<std::shared_ptr<PluginVersion>> versions = {};  // newest first, a handful
  std::shared_ptr<PluginVersion> active = {};
  std::map<std::string, Serving> instances = {};
  std::map<std::string, Error> failed = {};  // instances, by lane, that could not be started as
                                             // they are configured now
};

}  // namespace muster::plugin_loader
