// What the handlers of muster's own API need of the host.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "host/demand/service.hpp"
#include "host/endpoints/call.hpp"
#include "host/pools/provider_facts.hpp"
#include "host/pools/service.hpp"

namespace muster::auth {
class ClientStore;
}
namespace muster::documentation {
class Library;
}
namespace muster::events {
class Service;
}
namespace muster::history {
class History;
}
namespace muster::metrics {
class Metrics;
}
namespace muster::plugin_loader {
class PluginCatalog;
}
namespace muster::registration {
class Registrar;
}
namespace muster::store {
class Store;
}
namespace muster::worker_state {
class Service;
}
namespace muster::worker_logs {
class LogStore;
}

namespace muster::api {

// Pointers are borrowed and must outlive the router's last answer. Functions may be called from any
// thread.
struct Services : endpoints::Host {
  // Of the fleet: all are there if it is.
  const store::Store* store = nullptr;
  std::filesystem::path backup_folder = {};  // absolute
  std::size_t most_backups = 0;              // files in it
  events::Service* events = nullptr;
  std::shared_ptr<documentation::Library> documentation = {};
  worker_state::Service* runs = nullptr;
  std::function<pools::ProviderContext()> provider_context = {};  // may wait for providers
  pools::Expand expand = {};
  // Held by the one check of worker configurations that may run.
  std::shared_ptr<std::mutex> configuration_check = std::make_shared<std::mutex>();
  // Asks a provider to try out what its launches need; waits for it, for a minute at most.
  std::function<Result<Diagnosis>(const ProviderId&, const DiagnoseRequest&)> diagnose = {};
  // What a configured provider says of itself and where it can launch; nothing if there is none of
  // that id. Waits for the provider, as long as it is allowed to.
  std::function<std::optional<pools::ProviderFacts>(const ProviderId&, std::chrono::milliseconds)>
      provider_facts = {};
  // Of the worker configurations; nothing if none are configured.
  std::function<std::optional<pools::Status>()> configuration_status = {};
  std::function<void()> reload_worker_configurations = {};
  // See pools::Service::accept_what_is_left.
  std::function<Result<void>()> accept_what_is_left = {};
  // See pools::Service::files.
  std::function<std::shared_ptr<const pools::SourceFiles>(bool refused)> configuration_files = {};
  // See pools::Service::previous_files.
  std::function<std::shared_ptr<const pools::SourceFiles>()> previous_configuration_files = {};
  std::function<std::vector<demand::SourceStatus>()> demand_status = {};

  worker_logs::LogStore* worker_logs = nullptr;  // always there
  const history::History* history = nullptr;     // always there

  registration::Registrar* registrar = nullptr;

  // Of hosts that share a database; none: it has one of its own.
  std::function<std::string()> role = {};           // "leading"
  std::function<Result<json::array>()> hosts = {};  // waits for the database
  std::function<void()> hand_over = {};

  // Of the host itself.
  std::function<std::string()> state = {};             // "ready"; else it takes no requests yet
  std::function<json::object()> status_document = {};  // without the fleet and its events
  plugin_loader::PluginCatalog* plugins = nullptr;
  std::function<std::vector<std::filesystem::path>()> plugin_folders = {};
  auth::ClientStore* clients = nullptr;  // none: because of `no_clients`
  std::string no_clients = {};
  const metrics::Metrics* metrics = nullptr;
  bool metrics_are_open = false;  // everybody may read them
};

}  // namespace muster::api
