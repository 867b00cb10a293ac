// The fleet and everything it lives on, as the host runs them: the store, the worker
// configurations, the sources of demand, the providers that come and go.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "host/config/host_configuration.hpp"
#include "host/demand/service.hpp"
#include "host/events/service.hpp"
#include "host/fleet/service.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/pools/service.hpp"
#include "host/store/memory_store.hpp"
#include "host/store/scrub.hpp"
#include "host/wiring/open_store.hpp"
#include "host/wiring/operation_meters.hpp"
#include "host/wiring/provider_directory.hpp"
#include "host/wiring/provider_reporter.hpp"
#include "host/wiring/status_event_source.hpp"
#include "host/worker_state/service.hpp"

namespace muster {

// THREADS: every method but start() from any.
class FleetRuntime {
 public:
  struct Parts {
    std::shared_ptr<const config::HostConfiguration> configuration;
    std::filesystem::path data_directory;
    plugin_loader::PluginCatalog* plugins = nullptr;  // borrowed
    std::shared_ptr<const Clock> clock;
    TimeWatch* time_watch = nullptr;  // borrowed
    Log log = {};
    std::string url = {};               // where workers find the host
    std::optional<HostLead> lead = {};  // with a store that several hosts share
    // Asked before anything of the store is used; an error ends the start.
    std::function<Result<void>(const store::Store&)> check_store = {};
    // The state as it is in the store, if this host has it already. Borrowed until start() returns.
    const store::MemoryStore* warm = nullptr;
  };

  // Opens the store and goes on with the fleet that is in it. `internal`: the store is damaged;
  // `config`: it is not ours, or of a newer muster.
  static Result<std::unique_ptr<FleetRuntime>> start(Parts parts);
  ~FleetRuntime();

  // The providers of a new configuration, before the plugins get it: so the fleet learns why one of
  // them is down.
  void providers_configured(std::shared_ptr<const config::HostConfiguration> configuration);
  // The rest of it, after the plugins got it.
  void configuration_changed(const std::shared_ptr<const config::HostConfiguration>& configuration);

  // Writes to the audit log that the host's configuration was read again, with the changed keys.
  void audit_reload(const std::string& changed);

  fleet::Service& fleet() { return *fleet_; }
  events::Service& events() { return *events_; }
  worker_state::Service& runs() { return *runs_; }
  const store::Store& store() const { return *opened_.store; }
  const OperationMeters& meters() const { return meters_; }
  // Adds rows to those that a damaged store is written anew from: of what others keep there. Called
  // on the committer's thread.
  void add_to_rebuilds(std::function<void(store::Batch&)> rows);
  // See ProviderDirectory.
  pools::ProviderContext provider_context() const { return providers_.context(); }
  std::optional<pools::ProviderFacts> provider_facts(const ProviderId& id,
                                                     std::chrono::milliseconds at_most) const {
    return providers_.facts(id, at_most);
  }
  Result<Expansion> expand(const ProviderId& id, const ExpandRequest& request) const {
    return providers_.expand(id, request);
  }
  Result<Diagnosis> diagnose(const ProviderId& id, const DiagnoseRequest& request) const {
    return providers_.diagnose(id, request);
  }
  // Of the worker configurations; nothing if none are configured.
  std::optional<pools::Status> configuration_status() const;
  void reload_worker_configurations() const;
  // See pools::Service.
  Result<void> accept_what_is_left() const;
  // See pools::Service::files.
  std::shared_ptr<const pools::SourceFiles> configuration_files(bool refused) const;
  // See pools::Service::previous_files.
  std::shared_ptr<const pools::SourceFiles> previous_configuration_files() const;
  std::vector<demand::SourceStatus> demand_status() const;

  void stop(std::chrono::milliseconds patience);

 private:
  explicit FleetRuntime(Parts parts);
  Result<void> open();
  Result<std::unique_ptr<fleet::Fleet>> load_fleet(const fleet::Settings& settings,
                                                   const std::string& host_id) const;
  void watch_store();
  std::function<Time(Time, std::chrono::milliseconds)> patience_of(const Listening& at_start) const;
  std::function<Result<void>(store::Batch)> rebuilds();
  Result<void> rebuild_store(store::Batch of_fleet);
  void start_worker_configurations();
  bool has_configured_pools();
  void configure_teams(const config::HostConfiguration& configuration);
  void start_demand();
  Result<void> start_runs();
  void list_pools();
  std::shared_ptr<const config::HostConfiguration> configuration() const;

  Parts parts_;
  OperationMeters meters_;
  OpenedStore opened_;
  std::unique_ptr<events::Service> events_;
  std::unique_ptr<fleet::Service> fleet_;
  std::unique_ptr<worker_state::Service> runs_;

  ProviderDirectory providers_;
  ProviderReporter reporter_;
  StatusEventSource status_events_;

  mutable std::mutex mutex_;  // guards parts_.configuration and the three below
  std::function<void(store::Batch&)> rows_of_others_;
  std::unique_ptr<pools::Service> worker_configurations_;
  std::unique_ptr<demand::DemandService> demand_;

  std::unique_ptr<store::Scrub> scrub_;
  std::vector<plugin_loader::PluginSubscription> subscriptions_;  // last: they call all of it
};

}  // namespace muster
