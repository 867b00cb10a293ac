// What the host serves, and whom it tells of trouble.
#include "host/api/api.hpp"
#include "host/daemon.hpp"
#include "host/taskcluster_api/api.hpp"
#include "host/wiring/fleet_metrics.hpp"
#include "host/wiring/registration_dependencies.hpp"
#include "host/wiring/taskcluster_api_parts.hpp"

namespace muster {

void Daemon::add_all_routes(const std::string& public_url) {
  const FleetAccess fleet{fleet_.get(), no_fleet_};
  registrar_ = std::make_unique<registration::Registrar>(
      registration_dependencies({status_, *plugins_, auth_.authority(), fleet, public_url, log_}));
  const auto notifications = [this] {
    return notifications_ ? notifications_->status_json() : json::object();
  };
  ApiDependencies dependencies{status_,  *plugins_, auth_, *registrar_,   *workers_,
                               metrics_, fleet,     log_,  notifications, &worker_logs_};
  dependencies.history = history_.get();
  describe_hosts(dependencies);
  api::add_routes(*router_, api_services(dependencies));
  if (fleet_)
    history_sampler_ =
        std::make_unique<HistorySampler>(fleet_->fleet(), fleet_->store(), history_, log_);
  taskcluster_api::add_routes(
      *router_, taskcluster_api_parts({status_, *plugins_, auth_.authority(), *registrar_,
                                       *workers_, fleet, public_url, log_}));
  metrics_.add_source([this](metrics::Page& page) {
    page.gauge("muster_build_info", "1; the label says which version runs", 1,
               {{"version", MUSTER_VERSION}});
    metrics::write_process_metrics(page);
    server_->write_metrics(page);
    page.gauge("muster_configuration_host_problems",
               "Mistakes in the host's configuration that keep it from serving",
               static_cast<double>(status_.get()->configuration_problems.size()));
    auth_.write_metrics(page);
    if (registrar_) registrar_->meters().write(page);
    if (fleet_) write_fleet_metrics(*fleet_, page);
    if (notifications_) write_notification_metrics(notifications_->numbers(), page);
  });
}

// Also without a fleet: that there is none is something to tell.
void Daemon::start_notifications(const std::string& url) {
  conditions_ = std::make_unique<NotificationConditions>(NotificationConditions::Parts{
      .fleet = fleet_.get(),
      .no_fleet = no_fleet_,
      .status = &status_,
      .auth = &auth_,
      .clock = &clock_,
      .certificate_expires = [this] { return server_->certificate_expires(); }});
  notifications_ = std::make_unique<notifications::Service>(
      notifications::Service::Parts{.file = data_directory_->path() / "notifications.json",
                                    .clock = std::make_shared<SystemClock>(),
                                    .log = log_,
                                    .url = url,
                                    .observe = [this] { return conditions_->observe(); }},
      configuration_->notifications);
}

}  // namespace muster
