// The host as a running process: what it holds, in the order in which it is built up, and what
// signals do to it.
#pragma once

#include <atomic>
#include <memory>
#include <optional>

#include "host/command_line.hpp"
#include "host/config/read_configuration.hpp"
#include "host/leadership/keeper.hpp"
#include "host/notifications/service.hpp"
#include "host/plugin_loader/plugin_catalog.hpp"
#include "host/registration/registrar.hpp"
#include "host/wiring/api_services.hpp"
#include "host/wiring/fleet_runtime.hpp"
#include "host/wiring/follower_front.hpp"
#include "host/wiring/follower_state.hpp"
#include "host/wiring/history_sampler.hpp"
#include "host/wiring/host_auth.hpp"
#include "host/wiring/host_status.hpp"
#include "host/wiring/notification_conditions.hpp"
#include "host/worker_logs/log_store.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/data_directory.hpp"
#include "lib/base/exit_code.hpp"
#include "lib/base/log.hpp"
#include "lib/base/service_notifier.hpp"
#include "lib/base/signals.hpp"
#include "lib/http/router.hpp"
#include "lib/http/server.hpp"
#include "lib/http/worker_threads.hpp"
#include "lib/metrics/metrics.hpp"

namespace muster {

// Everything runs on the thread that calls run(), except HTTP handlers.
class Daemon {
 public:
  // `report` has a configuration; its warnings are logged.
  Daemon(const CommandLine& command_line, config::Defaults defaults, const config::Report& report);
  ~Daemon();

  // Starts, serves until it is told to stop, drains. May be called once.
  ExitCode run();

  // After run(): this host does not lead any more, and is to be started again as one that follows.
  // How long it stands back then, so that another one gets the lead; nothing: it ends.
  std::optional<std::chrono::milliseconds> begins_again() const { return begins_again_; }

 private:
  std::optional<ExitCode> start();          // an exit code if that is not possible; it was logged
  ExitCode cannot_start(const Error& why);  // which it logs
  std::optional<ExitCode> open_data_directory();
  std::optional<ExitCode> load_plugins();
  std::optional<ExitCode> listen();
  std::optional<ExitCode> start_fleet(const std::string& url);
  // With a database that several hosts share.
  void follow(const std::string& url);
  void describe_hosts(ApiDependencies& dependencies);
  void lead();
  // False: the host is to begin again.
  bool check_role();
  void hand_over();  // THREADS: any
  ExitCode step_down();
  void give_lead_back();
  bool shares_store() const { return !configuration_->store.postgres.empty(); }
  std::string public_url() const;
  void serve_api();
  // For clients on this machine. A full disk is no reason not to serve: it is tried again.
  void write_address_files();
  void add_all_routes(const std::string& public_url);
  void start_notifications(const std::string& url);
  void serve();
  void reload();
  bool reload_tokens(const config::HostConfiguration& configuration);  // it logs why not
  void log_mistakes(const config::Report& report) const;
  void refuse(const config::Report& report);
  // Why the certificate in use goes on, if it does.
  std::optional<std::string> reload_certificate(const config::HostConfiguration& configuration);
  void take_over(const config::Report& report);
  ExitCode drain();
  bool end_plugins_by(SteadyTime until);
  Signals::Event wait(SteadyTime until = SteadyTime::max());
  std::chrono::milliseconds left_until(SteadyTime until) const;
  void apply_log_settings(const config::LogSettings& settings);

  const CommandLine command_line_;
  const config::Defaults defaults_;
  std::shared_ptr<const config::HostConfiguration> configuration_;
  Signals signals_;  // before any thread
  const SystemClock clock_{};
  TimeWatch time_watch_{clock_};
  const ServiceNotifier notifier_{};
  Log log_;
  PublishedStatus status_;
  std::optional<DataDirectory> data_directory_;
  HostAuth auth_{clock_, time_watch_, log_};
  std::unique_ptr<plugin_loader::PluginCatalog> plugins_;
  std::unique_ptr<FleetRuntime> fleet_;
  std::string no_fleet_;                        // why there is none
  std::string host_name_;                       // among those that share the database
  std::unique_ptr<FollowerState> state_;        // while another one leads
  std::unique_ptr<postgres::Replica> warm_;     // what it left, for the start of the fleet
  std::unique_ptr<leadership::Keeper> keeper_;  // if they do
  std::unique_ptr<FollowerFront> follower_;
  std::atomic<bool> watches_role_ = true, handed_over_ = false;
  std::optional<std::chrono::milliseconds> begins_again_;
  bool address_files_written_ = false;
  std::unique_ptr<registration::Registrar> registrar_;
  metrics::Metrics metrics_;
  std::unique_ptr<http::WorkerThreads> workers_;  // for handlers that wait for plugins
  worker_logs::LogStore worker_logs_;
  std::shared_ptr<history::History> history_ = std::make_shared<history::History>();
  std::unique_ptr<HistorySampler> history_sampler_;
  std::unique_ptr<NotificationConditions> conditions_;
  std::unique_ptr<notifications::Service> notifications_;
  std::unique_ptr<http::Router> router_;
  std::unique_ptr<http::WorkerThreads> body_readers_;  // for requests with large bodies
  std::unique_ptr<http::Server> server_;               // last: its threads use all of the above
};

}  // namespace muster
