// The configured providers and what their plugins say of themselves.
#pragma once

#include <mutex>
#include <vector>

#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/taskcluster_api/parts.hpp"
#include "host/wiring/host_status.hpp"

namespace muster {

// A plugin's description is long, and registrations ask often, so the list is up to 250 ms old.
// Everything is borrowed. THREADS: any.
class KnownProviders {
 public:
  KnownProviders(const PublishedStatus& status, const plugin_loader::PluginCatalog& plugins)
      : status_(status), plugins_(plugins) {}

  // Sorted by id.
  std::vector<taskcluster_api::ProviderInfo> get();

 private:
  std::vector<taskcluster_api::ProviderInfo> read() const;

  const PublishedStatus& status_;
  const plugin_loader::PluginCatalog& plugins_;
  std::mutex mutex_;
  SteadyTime read_at_{};
  std::vector<taskcluster_api::ProviderInfo> providers_;
};

}  // namespace muster
