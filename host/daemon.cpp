#include "host/daemon.hpp"

#include <algorithm>
#include <future>
#include <malloc.h>
#include <thread>

#include "host/api/api.hpp"
#include "host/config/changes.hpp"
#include "host/config/default_configuration.hpp"
#include "host/wiring/host_plugins.hpp"
#include "host/wiring/http_settings.hpp"
#include "lib/base/atomic_file.hpp"
#include "lib/base/open_files.hpp"
#include "lib/process/run_as.hpp"

namespace muster {
namespace fs = std::filesystem;
namespace {

constexpr rlim_t least_open_files = 256, wanted_open_files = 4096;

// A body of the largest size may become a hundred times as large when it is parsed.
constexpr std::size_t large_bodies_at_once = 2, large_bodies_waiting = 32;

// Of both APIs together there are fewer.
constexpr std::size_t most_routes = 1024;

// Otherwise the pages that many small values took stay with the process.
void return_memory() {
  ::malloc_trim(0);
}

// Where somebody can put work into, if there is such a source of demand.
std::string task_folder(const config::HostConfiguration& configuration) {
  for (const config::DemandSettings& source : configuration.demand)
    if (source.type == config::DemandType::folder) return source.folder.string();
  return "(none)";
}

// It is full, or fails: that may get better without another configuration.
bool is_about_the_disk(const Error& error) {
  return error.error_class == ErrorClass::capacity || error.error_class == ErrorClass::transient;
}

}  // namespace

Daemon::Daemon(const CommandLine& command_line, config::Defaults defaults,
               const config::Report& report)
    : command_line_(command_line),
      defaults_(std::move(defaults)),
      configuration_(report.configuration),
      log_(standard_error_output(), LogLevel::info, format_for_standard_error()) {
  apply_log_settings(configuration_->log);
  log_mistakes(report);
}

Daemon::~Daemon() = default;

void Daemon::apply_log_settings(const config::LogSettings& settings) {
  log_.set_level(command_line_.log_level.value_or(settings.level));
  log_.set_format(settings.format.value_or(format_for_standard_error()));
}

ExitCode Daemon::run() {
  if (const auto failed = start()) return *failed;
  serve();
  return begins_again_ ? step_down() : drain();
}

std::optional<ExitCode> Daemon::start() {
  // Connections and cells need more descriptors than the soft limit of an old shell.
  if (const auto enough = raise_limit_of_open_files(least_open_files, wanted_open_files); !enough)
    log_.error(enough.error().message);
  status_.change([&](HostStatus& status) {
    status.started = status.configuration_loaded = clock_.now();
    status.started_steady = clock_.steady();
    status.configuration = configuration_;
  });
  if (const auto failed = open_data_directory()) return failed;
  if (const auto loaded = auth_.load(*configuration_, data_directory_->path()); !loaded)
    return cannot_start(loaded.error());
  if (const auto failed = load_plugins()) return failed;
  return listen();
}

// Nothing is damaged by a disk that is full or fails: the next start goes on from what is there.
ExitCode Daemon::cannot_start(const Error& why) {
  if (!is_about_the_disk(why)) {
    log_.error(why.message);
    return ExitCode::failed;
  }
  log_.error("the host cannot start now: " + why.message +
             ". Make room on the disk of the data directory, or repair it, and start the host "
             "again; nothing was lost");
  return ExitCode::disk_fails;
}

std::optional<ExitCode> Daemon::open_data_directory() {
  const fs::path& folder = configuration_->data_directory;
  std::error_code ignored;  // DataDirectory says what is wrong with it
  if (configuration_->data_directory_is_default)
    fs::create_directories(folder.parent_path(), ignored);
  auto opened = DataDirectory::open(folder);
  if (!opened) {
    if (opened.error().code != DataDirectory::in_use) return cannot_start(opened.error());
    log_.error(opened.error().message);
    return ExitCode::data_directory_in_use;
  }
  data_directory_.emplace(std::move(*opened));
  if (!configuration_->file.empty()) return std::nullopt;
  const auto worker_user = choose_worker_user(std::nullopt, own_user());
  const auto written =
      worker_user ? config::write_first_files(folder, *worker_user) : worker_user.error();
  if (!written)
    log_.warning("there is no worker configuration to start from: " + written.error().message);
  return std::nullopt;
}

bool Daemon::reload_tokens(const config::HostConfiguration& configuration) {
  const auto loaded = auth_.load(configuration, data_directory_->path());
  if (!loaded) log_.error(loaded.error().message);
  return loaded.has_value();
}

std::optional<ExitCode> Daemon::load_plugins() {
  std::error_code ignored;  // a folder that cannot be made is empty, and the catalog says so
  for (const fs::path& folder : configuration_->plugin_folders)
    if (folder.parent_path() == configuration_->data_directory)
      fs::create_directory(folder, ignored);
  auto crash_record = plugin_loader::CrashRecord::open(data_directory_->path() / "breadcrumbs");
  if (!crash_record) return cannot_start(crash_record.error());
  plugin_loader::CrashRecord::record_crashes();
  auto catalog = plugin_loader::PluginCatalog::open(
      {.folders = {}, .store = data_directory_->path() / "plugins", .cell_program = cell_program()},
      std::make_shared<SystemClock>(), log_, std::move(*crash_record));
  if (!catalog) return cannot_start(catalog.error());
  plugins_ = std::move(*catalog);
  plugins_->configure(plugin_folders(*configuration_, defaults_), instance_specs(*configuration_));
  plugins_->start_watching();
  return std::nullopt;
}

std::string Daemon::public_url() const {
  const std::string& elsewhere = configuration_->public_url;
  return elsewhere.empty() ? status_.get()->url : elsewhere;
}

std::optional<ExitCode> Daemon::listen() {
  router_ =
      std::make_unique<http::Router>(log_, auth::Guard(auth_.authority(), api::route_scopes()));
  workers_ = std::make_unique<http::WorkerThreads>(2, 64, log_);
  body_readers_ = std::make_unique<http::WorkerThreads>(large_bodies_at_once, large_bodies_waiting,
                                                        log_, return_memory);
  router_->read_large_bodies_on(*body_readers_);
  http::ServerSettings settings = server_settings(*configuration_);
  settings.most_routes = most_routes;
  auto server = http::Server::listen(settings, *router_, clock_, log_);
  if (!server) {
    log_.error(server.error().message);
    return ExitCode::cannot_listen;
  }
  server_ = std::move(*server);
  const std::string url =
      url_of(configuration_->listen, server_->port(), configuration_->http.tls.has_value());
  status_.change([&](HostStatus& status) {
    status.url = url;
    status.data_directory = data_directory_->path();
  });
  if (shares_store()) {
    follow(url);
  } else {
    if (const auto failed = start_fleet(public_url())) return failed;
    serve_api();
  }
  server_->start();
  log_.info("musterd serves " + url,
            {{"version", MUSTER_VERSION},
             {"pid", ::getpid()},
             {"configurationFile",
              configuration_->file.empty() ? "(built-in)" : configuration_->file.string()},
             {"dashboard", url + "/"},
             {"dataDirectory", data_directory_->path().string()},
             {"workerConfigurations", configuration_->worker_configurations
                                          ? configuration_->worker_configurations->folder.string()
                                          : "(none)"},
             {"tasks", task_folder(*configuration_)},
             {"adminTokenFile", configuration_->auth.admin_token_file.string()},
             {"adminClientFile", (data_directory_->path() / "admin.env").string()}});
  notifier_.ready("serves " + url);
  return std::nullopt;
}

// The fleet is there, or it is known why not.
void Daemon::serve_api() {
  add_all_routes(public_url());
  status_.change([](HostStatus& status) { status.state = HostState::ready; });
  write_address_files();
  start_notifications(public_url());
  server_->use(*router_);
}

void Daemon::write_address_files() {
  const std::string url = status_.get()->url;
  auto written = write_file_atomically(data_directory_->path() / "address", url + "\n");
  if (written) written = auth_.write_admin_file(data_directory_->path(), url);
  address_files_written_ = written.has_value();
  if (!written)
    log_.error("clients on this machine do not find the host by its data directory",
               {{"error", written.error().message}});
}

// A store that cannot be used is no reason to be silent: the host serves, decides nothing, and says
// why. A disk that is full or fails may get better by itself, so the host is to be started again.
std::optional<ExitCode> Daemon::start_fleet(const std::string& url) {
  std::optional<HostLead> lead;
  std::function<Result<void>(const store::Store&)> check_store;
  if (keeper_) {
    lead = {.epoch = keeper_->view().lead.epoch, .host_name = host_name_, .may_act = [this] {
              return keeper_->may_act();
            }};
    check_store = [this](const store::Store& store) {
      return HostAuth::check_key(store, data_directory_->path());
    };
  }
  auto started = FleetRuntime::start({.configuration = configuration_,
                                      .data_directory = data_directory_->path(),
                                      .plugins = plugins_.get(),
                                      .clock = std::make_shared<SystemClock>(),
                                      .time_watch = &time_watch_,
                                      .log = log_,
                                      .url = url,
                                      .lead = std::move(lead),
                                      .check_store = std::move(check_store),
                                      .warm = warm_ ? &warm_->store() : nullptr});
  if (started) {
    fleet_ = std::move(*started);
    auth_.open_store(fleet_->store(), fleet_->fleet(), data_directory_->path());
    if (const auth::ClientStore* book = auth_.book())
      fleet_->add_to_rebuilds([book](store::Batch& rows) { book->write_everything(rows); });
    return std::nullopt;
  }
  if (is_about_the_disk(started.error())) return cannot_start(started.error());
  no_fleet_ = "nothing is decided: " + started.error().message;
  log_.error(no_fleet_);
  auth_.store_unavailable(no_fleet_);
  return std::nullopt;
}

// The watchdog's pings go on whatever is waited for, as long as the HTTP threads run.
Signals::Event Daemon::wait(SteadyTime until) {
  const auto forever = std::chrono::milliseconds(std::chrono::hours(24));
  const auto interval = notifier_.watchdog_interval().value_or(forever);
  for (;;) {
    const auto left = until == SteadyTime::max() ? forever : left_until(until);
    const auto event = signals_.wait(std::min(left, interval));
    if (event != Signals::Event::timeout || clock_.steady() >= until) return event;
    server_->prove_alive([this] { notifier_.alive(); });
  }
}

void Daemon::serve() {
  constexpr auto again = std::chrono::seconds(10);
  for (;;) {
    switch (wait(address_files_written_ ? SteadyTime::max() : clock_.steady() + again)) {
      case Signals::Event::stop:
        return;
      case Signals::Event::reload:
        reload();
        break;
      case Signals::Event::timeout:
        if (!address_files_written_) write_address_files();
        break;
      case Signals::Event::woken:
        if (!check_role()) return;
        break;
    }
  }
}

void Daemon::reload() {
  notifier_.reloading();
  if (command_line_.config) {
    const config::Report report = config::read_own_configuration(*command_line_.config, defaults_);
    if (report.configuration)
      take_over(report);
    else
      refuse(report);
  } else {
    reload_tokens(*configuration_);
    reload_certificate(*configuration_);
    log_.info("there is no configuration file to read again: the host runs on the built-in one");
  }
  notifier_.ready("serves " + status_.get()->url);
}

std::optional<std::string> Daemon::reload_certificate(
    const config::HostConfiguration& configuration) {
  const auto& tls = configuration.http.tls;
  if (!tls || !server_->certificate_expires()) return std::nullopt;  // or it waits for a restart
  const auto replaced = server_->replace_certificate({tls->certificate_file, tls->key_file});
  if (!replaced) {
    log_.error("the old certificate stays in use: " + replaced.error().message);
    return "the old certificate stays in use: " + replaced.error().message;
  }
  log_.info("the certificate was read again",
            {{"expires", format_time(*server_->certificate_expires())}});
  return std::nullopt;
}

void Daemon::log_mistakes(const config::Report& report) const {
  for (const config::Mistake& mistake : report.mistakes)
    log_.write(mistake.severity == config::Severity::error ? LogLevel::error : LogLevel::warning,
               config::to_string(mistake, report.file), {{"key", mistake.key}});
}

void Daemon::refuse(const config::Report& report) {
  std::vector<std::string> problems;
  for (const config::Mistake& mistake : report.mistakes)
    problems.push_back(config::to_string(mistake, report.file));
  // First the status: a reader of the log line finds it there.
  status_.change([&](HostStatus& status) { status.configuration_problems = problems; });
  log_.error("the new configuration is refused, the host keeps the current one",
             {{"mistakes", problems.size()}});
  log_mistakes(report);
}

void Daemon::take_over(const config::Report& report) {
  const auto next = report.configuration;
  // Against what this process was started with: a change that waits for a restart goes on waiting.
  std::vector<std::string> waiting;
  std::string changed;
  for (const config::Change& change : config::changes_between(*configuration_, *next))
    if (change.needs_restart) waiting.push_back(change.key);
  for (const config::Change& change : config::changes_between(*status_.get()->configuration, *next))
    changed += (changed.empty() ? "" : ", ") + change.key;
  if (!reload_tokens(*next)) {
    status_.change([&](HostStatus& status) {
      status.configuration_problems = {"tokens or clients cannot be read; the log has the reason"};
    });
    return;
  }
  apply_log_settings(next->log);
  server_->trust_proxies(trusted_proxies(*next));
  if (fleet_) fleet_->providers_configured(next);
  std::vector<std::string> problems;
  for (const Error& error :
       plugins_->configure(plugin_folders(*next, defaults_), instance_specs(*next)))
    problems.push_back(error.message);
  if (auto problem = reload_certificate(*next)) problems.push_back(std::move(*problem));
  if (fleet_) fleet_->configuration_changed(next);
  if (notifications_) notifications_->configure(next->notifications);
  status_.change([&](HostStatus& status) {
    status.configuration = next;
    status.configuration_loaded = clock_.now();
    status.configuration_problems = problems;
    status.restart_needed = waiting;
  });
  if (fleet_ && !changed.empty()) fleet_->audit_reload(changed);
  log_.info("the configuration was read again", {{"changed", changed}});
  log_mistakes(report);
  for (const std::string& key : waiting)
    log_.warning("the new value of `" + key + "` waits for a restart", {{"key", key}});
}

std::chrono::milliseconds Daemon::left_until(SteadyTime until) const {
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::ceil<std::chrono::milliseconds>(until - clock_.steady()));
}

// A plugin that does not end holds up nobody: the process ends without it, and its cells end with
// the process.
bool Daemon::end_plugins_by(SteadyTime until) {
  auto ended = std::make_shared<std::promise<void>>();
  auto end = ended->get_future();
  std::thread([plugins = std::shared_ptr(std::move(plugins_)),
               registrar = std::shared_ptr(std::move(registrar_)),
               readers = std::shared_ptr(std::move(body_readers_)),
               workers = std::shared_ptr(std::move(workers_)),
               fleet = std::shared_ptr(std::move(fleet_)), patience = left_until(until),
               ended]() mutable {
    readers.reset();    // they use all of the others
    workers.reset();    // they call plugins and the fleet
    registrar.reset();  // so does this
    if (fleet) fleet->stop(patience);
    fleet.reset();
    plugins.reset();
    ended->set_value();
  }).detach();
  return end.wait_for(left_until(until)) == std::future_status::ready;
}

ExitCode Daemon::drain() {
  const auto deadline = status_.get()->configuration->shutdown_deadline;
  notifier_.stopping("drains");
  watches_role_ = false;
  log_.info("stopping: no new connections, running requests may end",
            {{"connections", server_->connections()}, {"milliseconds", deadline.count()}});
  status_.change([](HostStatus& status) { status.state = HostState::stopping; });
  if (fleet_) fleet_->fleet().request_waiters().close();  // who waits for a worker asks again
  server_->drain([this] { signals_.wake(); });
  if (notifications_) notifications_->stop();
  history_sampler_.reset();
  const auto until = clock_.steady() + deadline;
  Signals::Event event;
  do event = wait(until);
  while (event == Signals::Event::reload);
  const std::size_t left = server_->connections();
  server_->stop();
  std::error_code ignored;
  fs::remove(data_directory_->path() / "address", ignored);
  const bool drained = event == Signals::Event::woken;
  const bool plugins_ended = end_plugins_by(drained ? until : clock_.steady());
  if (plugins_ended) give_lead_back();
  if (drained && plugins_ended) {
    log_.info("stopped");
    return ExitCode::ok;
  }
  log_.warning(event == Signals::Event::stop ? "stopped at once by a second signal"
               : drained ? "stopped at the deadline, before all plugins had ended"
                         : "stopped at the deadline, before all was drained",
               {{"connections", left}});
  return ExitCode::failed;
}

}  // namespace muster
