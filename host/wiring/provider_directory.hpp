// The configured providers and strategies: how to call them, and what providers say of themselves.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "host/config/host_configuration.hpp"
#include "host/fleet/question_lanes.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster {

// THREADS: any.
class ProviderDirectory {
 public:
  // `plugins` is borrowed.
  ProviderDirectory(const plugin_loader::PluginCatalog& plugins,
                    std::shared_ptr<const config::HostConfiguration> configuration)
      : plugins_(plugins), configuration_(std::move(configuration)) {}

  void configure(std::shared_ptr<const config::HostConfiguration> configuration);

  // How to call a provider or strategy; without a channel if it is not configured or does not run.
  fleet::Callee find(const std::string& instance_id) const;

  // All that worker configurations are evaluated with. Waits for the providers, as long as their
  // deadlines allow.
  pools::ProviderContext context() const;
  // Of one provider; nothing if none of that id is configured. Waits for it, but not longer than
  // `at_most`.
  std::optional<pools::ProviderFacts> facts(const ProviderId& id,
                                            std::chrono::milliseconds at_most) const;
  Result<Expansion> expand(const ProviderId& id, const ExpandRequest& request) const;
  // Takes a minute at most. `unsupported` of a provider that offers none.
  Result<Diagnosis> diagnose(const ProviderId& id, const DiagnoseRequest& request) const;

 private:
  std::shared_ptr<const config::HostConfiguration> configuration() const;
  pools::ProviderFacts facts_of(const config::PluginInstance& provider,
                                std::chrono::milliseconds at_most) const;

  const plugin_loader::PluginCatalog& plugins_;
  mutable std::mutex mutex_;
  std::shared_ptr<const config::HostConfiguration> configuration_;
};

}  // namespace muster
