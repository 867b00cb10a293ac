#include "host/wiring/api_services.hpp"

#include "host/documentation/library.hpp"
#include "host/wiring/host_plugins.hpp"

namespace muster {
namespace {

void add_fleet(api::Services& services, FleetRuntime& fleet) {
  services.fleet = &fleet.fleet();
  services.store = &fleet.store();
  services.events = &fleet.events();
  services.documentation = std::make_shared<documentation::Library>(documentation::Library::Parts{
      .store = &fleet.store(),
      .commit = [&service = fleet.fleet()](store::Batch rows, events::Event audit) {
        return service.change<void>([rows = std::move(rows), audit = std::move(audit)](
                                        fleet::Fleet& state, fleet::Now now) -> Result<void> {
          state.keep_rows(rows, now);
          state.emit_event(audit, now);
          return {};
        });
      }});
  services.runs = &fleet.runs();
  services.provider_context = [&fleet] { return fleet.provider_context(); };
  services.expand = [&fleet](const ProviderId& id, const ExpandRequest& request) {
    return fleet.expand(id, request);
  };
  services.diagnose = [&fleet](const ProviderId& id, const DiagnoseRequest& request) {
    return fleet.diagnose(id, request);
  };
  services.provider_facts = [&fleet](const ProviderId& id, std::chrono::milliseconds at_most) {
    return fleet.provider_facts(id, at_most);
  };
  services.configuration_status = [&fleet] { return fleet.configuration_status(); };
  services.reload_worker_configurations = [&fleet] { fleet.reload_worker_configurations(); };
  services.accept_what_is_left = [&fleet] { return fleet.accept_what_is_left(); };
  services.configuration_files = [&fleet](bool refused) {
    return fleet.configuration_files(refused);
  };
  services.previous_configuration_files = [&fleet] { return fleet.previous_configuration_files(); };
  services.demand_status = [&fleet] { return fleet.demand_status(); };
}

}  // namespace

api::Services api_services(const ApiDependencies& host) {
  api::Services services;
  if (host.fleet.fleet) add_fleet(services, *host.fleet.fleet);
  const auto configuration = host.status.get()->configuration;
  services.backup_folder = configuration->store.backup_folder;
  services.most_backups = configuration->store.most_backups;
  services.problem = host.fleet.problem;
  services.authority = &host.auth.authority();
  services.worker_logs = host.worker_logs;
  services.history = host.history;
  services.registrar = &host.registrar;
  services.workers = &host.workers;
  services.clock = std::make_shared<SystemClock>();
  services.log = host.log;
  services.state = [&status = host.status] { return std::string(to_string(status.get()->state)); };
  services.status_document = [&status = host.status, &plugins = host.plugins,
                              clock = services.clock, notifications = host.notifications] {
    const auto now = status.get();
    json::object document =
        status_document(*now, *clock, plugin_summary(*now->configuration, plugins.list()));
    if (notifications) document["notifications"] = notifications();
    return document;
  };
  services.role = host.role;
  services.hosts = host.hosts;
  services.hand_over = host.hand_over;
  services.plugins = &host.plugins;
  services.plugin_folders = [&status = host.status] {
    return status.get()->configuration->plugin_folders;
  };
  services.clients = host.auth.book();
  services.no_clients = host.auth.why_store_unavailable();
  services.metrics = &host.metrics;
  services.metrics_are_open = !configuration->http.metrics_need_token;
  return services;
}

}  // namespace muster
