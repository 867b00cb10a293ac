// What can be said of worker configurations without a host: with what plugins say of themselves,
// and with `facts.toml`, if it is there.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/provider_types.hpp>
#include <muster/rules/configuration_set.hpp>

namespace muster::pools {

// Plugins that are installed. Their schemas are those that a host checks with.
struct InstalledPlugins {
  std::vector<ProviderDescription> providers = {};
  std::vector<std::string> strategies = {};                   // names
  bool has_all_strategies = false;                            // false: a host may configure others
  std::optional<std::vector<std::string>> provider_ids = {};  // of a host, if they are known

  // A plugin, "provider/local", and what it says of itself. Fails if that makes no sense.
  Result<void> add(const std::string& plugin_id, const json::object& description);
};

// Every error that a host with these plugins would refuse the files for, as far as that is certain
// without asking its providers, in the host's words and at the same places; and warnings. With
// facts, every launch document is checked as a host does it. Without, each rule's values are
// checked where the rule applies; then nobody knows which sections must be there. Sorted.
rules::Problems check_offline(std::span<const rules::SourceFile> files,
                              const InstalledPlugins& plugins, const rules::Limits& limits = {});

}  // namespace muster::pools
