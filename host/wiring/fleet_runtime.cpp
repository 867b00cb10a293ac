#include "host/wiring/fleet_runtime.hpp"

#include <algorithm>
#include <iterator>

#include "host/auth/client_row.hpp"
#include "host/auth/sessions.hpp"
#include "host/documentation/rows.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/history/history_keeper.hpp"
#include "host/queue/queue.hpp"
#include "host/store/checks.hpp"
#include "host/store/row.hpp"
#include "host/wiring/fleet_settings.hpp"
#include "host/wiring/follower_state.hpp"
#include "host/wiring/host_id.hpp"
#include "host/wiring/task_runs.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr const char* host_id_name = "host-id";
constexpr const char* kept_name = "worker-configurations.json";

std::unique_ptr<pools::Source> source_of(const config::WorkerConfigurations& from,
                                         const std::filesystem::path& data) {
  if (from.git.empty()) return pools::folder_source(from.folder);
  return pools::git_source({.location = from.git,
                            .ref = from.ref,
                            .folder = from.folder.string(),
                            .cache = data / "repositories"});
}

bool adds_or_removes_a_pool(const events::Event& event) {
  return event.kind == "worker-pool-created" || event.kind == "worker-pool-removed";
}

store::Batch rows_set_aside(const store::Store& store) {
  store::Batch rows;
  for (store::SetAside::Entry& entry : store.set_aside().list()) {
    store::Change row = store::Put{entry.table, std::move(entry.row)};
    if (store::check(row)) rows.push_back(std::move(row));  // else no database takes it
  }
  return rows;
}

}  // namespace

Result<std::unique_ptr<FleetRuntime>> FleetRuntime::start(Parts parts) {
  std::unique_ptr<FleetRuntime> fleet(new FleetRuntime(std::move(parts)));
  if (const auto opened = fleet->open(); !opened) return opened.error();
  fleet->start_worker_configurations();
  fleet->start_demand();
  fleet->subscriptions_.push_back(fleet->parts_.plugins->subscribe(fleet->reporter_));
  fleet->subscriptions_.push_back(fleet->parts_.plugins->subscribe(fleet->status_events_));
  return fleet;
}

FleetRuntime::FleetRuntime(Parts parts)
    : parts_(std::move(parts)),
      providers_(*parts_.plugins, parts_.configuration),
      reporter_({.up =
                     [this](fleet::ProviderUp up) {
                       fleet_->post([up = std::move(up)](fleet::Fleet& fleet, fleet::Now now) {
                         fleet.provider_up(up, now);
                       });
                     },
                 .down =
                     [this](ProviderId id, std::string why) {
                       fleet_->post([id = std::move(id), why = std::move(why)](fleet::Fleet& fleet,
                                                                               fleet::Now now) {
                         fleet.provider_down(id, why, now);
                       });
                     },
                 .changed =
                     [this] {
                       const std::lock_guard lock(mutex_);
                       if (worker_configurations_) worker_configurations_->providers_changed();
                     }},
                parts_.configuration),
      status_events_([this](events::Event event) {
        fleet_->post([event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
          fleet.emit_event(event, now);
        });
      }) {}

FleetRuntime::~FleetRuntime() {
  stop(0ms);
}

Result<void> FleetRuntime::open() {
  auto opened = open_store(*parts_.configuration, parts_.data_directory, parts_.lead, parts_.clock,
                           parts_.log);
  if (!opened) return opened.error();
  opened_ = std::move(*opened);
  store::Store& store = *opened_.store;
  if (parts_.check_store)
    if (auto checked = parts_.check_store(store); !checked) return checked;
  const auto host = settle_host_id(parts_.data_directory / host_id_name, store, parts_.log);
  if (!host) return host.error();
  fleet::Settings fleet_settings = muster::fleet_settings(*parts_.configuration, parts_.url);
  fleet_settings.list_before_launches = host->store_lost_it || opened_.missing;
  if (parts_.lead) fleet_settings.least_epoch = parts_.lead->epoch;
  if (host->store_lost_it)
    parts_.log.error(
        "the database is new, though this host is not: what runs is taken from the "
        "providers' lists",
        {{"hostId", host->id}});
  auto loaded = load_fleet(fleet_settings, host->id);
  if (!loaded) return loaded.error();
  if (parts_.time_watch)
    for (const Time moment : (*loaded)->listening().last_moments(parts_.clock->now()))
      parts_.time_watch->saw(moment);
  parts_.log.info("the fleet is loaded", {{"workers", (*loaded)->workers().size()},
                                          {"pools", (*loaded)->pools().size()},
                                          {"epoch", (*loaded)->epoch()},
                                          {"from", parts_.warm ? "the copy" : "the store"}});
  for (const store::SetAside::Entry& row : store.set_aside().list())
    parts_.log.error(
        "a row of the store cannot be read and is set aside; see: muster set-aside",
        {{"number", row.number}, {"table", std::string(row.table->name)}, {"reason", row.reason}});
  auto events = events::Service::make({.configuration = parts_.configuration,
                                       .store = &store,
                                       .clock = parts_.clock,
                                       .log = parts_.log,
                                       .deadline = patience_of((*loaded)->listening())});
  if (!events) return events.error();
  events_ = std::move(*events);
  fleet_ = std::make_unique<fleet::Service>(
      std::move(*loaded),
      fleet::ServiceParts{
          .store = &store,
          .clock = parts_.clock,
          .time_watch = parts_.time_watch,
          .log = parts_.log,
          .find_plugin = [this](const std::string& id) { return providers_.find(id); },
          .may_act = parts_.lead ? parts_.lead->may_act : std::function<bool()>(),
          .rebuild_store = rebuilds(),
          .listener =
              [this](const std::vector<events::Event>& durable) {
                events_->on_durable(durable);
                meters_.observe(durable);
                if (std::ranges::any_of(durable, adds_or_removes_a_pool)) list_pools();
              },
          .call_ended = [this](const fleet::EndedCall& call) { meters_.observe(call); }});
  watch_store();
  if (const auto started = start_runs(); !started) return started;
  return events_->start([this](store::Batch batch, std::function<void()> durable) {
    return fleet_->committer().submit(std::move(batch), std::move(durable));
  });
}

// A row that cannot be read is set aside in the store itself, so that an operator finds it there.
Result<std::unique_ptr<fleet::Fleet>> FleetRuntime::load_fleet(const fleet::Settings& settings,
                                                               const std::string& host_id) const {
  const fleet::Now now = fleet::now_of(*parts_.clock);
  if (parts_.warm) {
    const WarmStore warm(*parts_.warm, store());
    auto loaded = fleet::Fleet::load(warm, settings, host_id, now);
    if (loaded && warm.set_aside().size() == 0) return loaded;
  }
  return fleet::Fleet::load(store(), settings, host_id, now);
}

Result<void> FleetRuntime::start_runs() {
  auto runs = worker_state::Service::make(
      {.configuration = parts_.configuration,
       .store = &store(),
       .clock = parts_.clock,
       .log = parts_.log,
       .submit =
           [this](store::Batch batch, std::function<void()> durable) {
             return fleet_->committer().submit(std::move(batch), std::move(durable));
           },
       .origins_of = [this](const auto& workers) { return origins_of(*fleet_, workers); },
       .resolved = [this](const auto& runs) { judge_by(*fleet_, runs); }});
  if (!runs) return runs.error();
  {
    const std::lock_guard lock(mutex_);
    runs_ = std::move(*runs);
  }
  runs_->start();
  list_pools();
  return {};
}

// The fleet knows for how long no host ran, and the watch what happened since.
std::function<Time(Time, std::chrono::milliseconds)> FleetRuntime::patience_of(
    const Listening& at_start) const {
  return [at_start, watch = parts_.time_watch](Time from, std::chrono::milliseconds patience) {
    const Time ends = at_start.deadline(from, patience);
    return watch ? watch->deadline(from, ends - from) : ends;
  };
}

// What readers and the scrub find is repaired; what is missing from the start is told.
void FleetRuntime::watch_store() {
  if (opened_.sqlite) {
    opened_.sqlite->on_damage(
        [this](const Error& damage) { fleet_->committer().report_damage(damage); });
    scrub_ =
        std::make_unique<store::Scrub>(*opened_.sqlite, parts_.configuration->store.scrub_every);
  }
  const auto& missing = opened_.missing;
  if (!missing) return;
  events::Event event;
  event.kind = "store-incomplete";
  event.text = store().notice();
  event.details = {{"first", missing->have.number + 1}, {"last", missing->expected.number}};
  fleet_->post([event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
    fleet.emit_event(event, now);
  });
}

void FleetRuntime::add_to_rebuilds(std::function<void(store::Batch&)> rows) {
  const std::lock_guard lock(mutex_);
  rows_of_others_ = std::move(rows);
}

// A damaged PostgreSQL is its operator's to restore: others may use the same server.
std::function<Result<void>(store::Batch)> FleetRuntime::rebuilds() {
  if (!opened_.sqlite) return {};
  return [this](store::Batch all) { return rebuild_store(std::move(all)); };
}

// Memory has most of it; of the rest, what can still be read.
Result<void> FleetRuntime::rebuild_store(store::Batch of_fleet) {
  static const store::Table* const salvage[] = {
      &store::table_of<fleet::DecisionRow>,
      &store::table_of<fleet::PoolErrorRow>,
      &store::table_of<events::Event>,
      &store::table_of<events::DeliveryRow>,
      &store::table_of<events::DeadLetterRow>,
      &store::table_of<auth::ClientRow>,
      &store::table_of<documentation::DocumentationRow>,
      &store::table_of<documentation::DocumentationPieceRow>,
      &store::table_of<auth::SessionRow>,
      &store::table_of<history::HistoryRow>,
      &store::table_of<worker_state::TaskRunRow>,
      &store::table_of<worker_state::ForgottenRunsRow>,
      &store::table_of<worker_state::SetAsideMessageRow>};
  store::Batch everything = rows_set_aside(store());  // what was written since comes after
  std::ranges::move(of_fleet, std::back_inserter(everything));
  {
    const std::lock_guard lock(mutex_);
    if (rows_of_others_) rows_of_others_(everything);
  }
  return opened_.sqlite->rebuild(everything, salvage);
}

void FleetRuntime::start_worker_configurations() {
  const auto configuration = this->configuration();
  if (!configuration->worker_configurations) return;
  pools::ServiceSettings settings;
  settings.poll = configuration->worker_configurations->poll;
  auto started = pools::Service::start(
      {.source = source_of(*configuration->worker_configurations, parts_.data_directory),
       .provider_context = [this] { return providers_.context(); },
       .expand = [this](const ProviderId& id,
                        const ExpandRequest& request) { return providers_.expand(id, request); },
       .accept =
           [this](std::shared_ptr<const fleet::Configuration> accepted) {
             fleet_->post([accepted = std::move(accepted)](fleet::Fleet& fleet, fleet::Now now) {
               fleet.configure(accepted, now);
             });
           },
       .clock = parts_.clock,
       .log = parts_.log,
       .status_changed = [this](const pools::Status& status) { status_events_.observe(status); },
       .kept = parts_.data_directory / kept_name,
       .has_pools = [this] { return has_configured_pools(); }},
      settings);
  if (!started) {
    parts_.log.error("the worker configurations cannot be watched",
                     {{"error", started.error().message}});
    return;
  }
  const std::lock_guard lock(mutex_);
  worker_configurations_ = std::move(*started);
}

// Those of worker configurations, not of the API.
bool FleetRuntime::has_configured_pools() {
  bool has = false;
  fleet_->read([&](const fleet::Fleet& fleet, fleet::Now) {
    has = std::ranges::any_of(fleet.pools(), [&](const fleet::Pool& pool) {
      return pool.spec && !pool.removed() && !fleet.find_api_pool(pool.id);
    });
  });
  return has;
}

void FleetRuntime::configure_teams(const config::HostConfiguration& configuration) {
  fleet_->post([teams = teams_of(configuration), file = configuration.file.string()](
                   fleet::Fleet& fleet, fleet::Now now) {
    fleet.change_queue(now).configure_teams(teams, file, now.wall);
  });
}

// Also without any source: then it says once that nothing is wanted, which ends what a source that
// was there before has asked for.
void FleetRuntime::start_demand() {
  const auto configuration = this->configuration();
  std::vector<demand::ConfiguredSource> sources;
  for (const config::DemandSettings& settings : configuration->demand)
    sources.push_back({settings, demand::make_source(settings)});
  auto started = demand::DemandService::start(
      std::move(sources), nullptr,
      [this](const fleet::Demand& demand) {
        fleet_->post(
            [demand](fleet::Fleet& fleet, fleet::Now now) { fleet.demand_changed(demand, now); });
      },
      parts_.clock, parts_.log, {}, parts_.time_watch);
  if (!started) {
    parts_.log.error("the sources of demand cannot be asked", {{"error", started.error().message}});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    demand_ = std::move(*started);
  }
  list_pools();
}

// Gives the sources of demand and of task runs the pools that there are, those of the API among
// them.
void FleetRuntime::list_pools() {
  fleet_->post([this](fleet::Fleet& fleet, fleet::Now) {
    std::vector<WorkerPoolId> pools;
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed() && pool.spec) pools.push_back(pool.id);
    const std::lock_guard lock(mutex_);
    if (runs_) runs_->set_pools(pools);
    if (demand_) demand_->set_pools(std::move(pools));
  });
}

std::vector<demand::SourceStatus> FleetRuntime::demand_status() const {
  const std::lock_guard lock(mutex_);
  return demand_ ? demand_->status() : std::vector<demand::SourceStatus>();
}

void FleetRuntime::stop(std::chrono::milliseconds patience) {
  scrub_.reset();
  subscriptions_.clear();  // waits for a report that is under way
  std::unique_ptr<pools::Service> configurations;
  std::unique_ptr<demand::DemandService> demand;
  {
    const std::lock_guard lock(mutex_);
    configurations = std::move(worker_configurations_);
    demand = std::move(demand_);
  }
  demand.reset();
  configurations.reset();  // waits for its calls
  if (events_) events_->stop();
  if (runs_) runs_->stop();
  if (fleet_) fleet_->stop(patience);
}

std::shared_ptr<const config::HostConfiguration> FleetRuntime::configuration() const {
  const std::lock_guard lock(mutex_);
  return parts_.configuration;
}

void FleetRuntime::configuration_changed(
    const std::shared_ptr<const config::HostConfiguration>& next) {
  std::unique_ptr<pools::Service> replaced;
  std::unique_ptr<demand::DemandService> replaced_demand;
  bool other_source = false, other_demand = false, other_queue = false, other_teams = false;
  {
    const std::lock_guard lock(mutex_);
    other_source = parts_.configuration->worker_configurations != next->worker_configurations;
    other_demand = parts_.configuration->demand != next->demand;
    other_queue = parts_.configuration->queue != next->queue;
    other_teams = parts_.configuration->teams != next->teams;
    parts_.configuration = next;
    if (other_demand) replaced_demand = std::move(demand_);
    if (other_source) replaced = std::move(worker_configurations_);
  }
  replaced.reset();
  replaced_demand.reset();
  providers_.configure(next);
  events_->reconfigure(*next);
  runs_->reconfigure(next);
  if (other_queue)
    fleet_->post([settings = queue_settings(next->queue)](fleet::Fleet& fleet, fleet::Now now) {
      fleet.configure_queue(settings, now);
    });
  if (other_teams) configure_teams(*next);
  if (other_demand) start_demand();
  if (other_source) start_worker_configurations();
  reload_worker_configurations();
}

void FleetRuntime::audit_reload(const std::string& changed) {
  events::Event event;
  event.kind = events::audit_kind;
  event.text = "(host): reloadHostConfiguration: " + changed;
  event.details = {{"action", "reloadHostConfiguration"},
                   {"by", "(host)"},
                   {"reason", "SIGHUP"},
                   {"about", {{"file", configuration()->file.string()}}},
                   {"changed", {{"keys", changed}}}};
  fleet_->post([event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
    fleet.emit_event(event, now);
  });
}

void FleetRuntime::providers_configured(std::shared_ptr<const config::HostConfiguration> next) {
  reporter_.configure(std::move(next));
}

void FleetRuntime::reload_worker_configurations() const {
  const std::lock_guard lock(mutex_);
  if (worker_configurations_) worker_configurations_->reload();
}

Result<void> FleetRuntime::accept_what_is_left() const {
  const std::lock_guard lock(mutex_);
  if (worker_configurations_) return worker_configurations_->accept_what_is_left();
  return Error::invalid("the host configuration has no workerConfigurations");
}

std::optional<pools::Status> FleetRuntime::configuration_status() const {
  const std::lock_guard lock(mutex_);
  if (!worker_configurations_) return std::nullopt;
  return worker_configurations_->status();
}

std::shared_ptr<const pools::SourceFiles> FleetRuntime::configuration_files(bool refused) const {
  const std::lock_guard lock(mutex_);
  return worker_configurations_ ? worker_configurations_->files(refused) : nullptr;
}

std::shared_ptr<const pools::SourceFiles> FleetRuntime::previous_configuration_files() const {
  const std::lock_guard lock(mutex_);
  return worker_configurations_ ? worker_configurations_->previous_files() : nullptr;
}

}  // namespace muster
