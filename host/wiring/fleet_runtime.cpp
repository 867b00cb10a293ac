#include "host/wiring/fleet_runtime.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/auth/client_row.hpp"
#include "host/fleet/model/rows.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"
#include "lib/base/deadline_context.hpp"
#include "lib/base/secret.hpp"

namespace muster {
namespace {

using namespace std::chrono_literals;

constexpr auto look_at_providers_every = 2s;
constexpr const char* store_name = "muster.db";

template <class Into, class From>
void set(Into& into, const std::optional<From>& from) {
  if (from) into = *from;
}

queue::Settings queue_settings(const config::QueueSettings& from) {
  queue::Settings settings;
  set(settings.patience, from.patience);
  set(settings.half_life, from.half_life);
  set(settings.least_charge, from.least_charge);
  set(settings.ended_kept, from.ended_kept);
  set(settings.most_waiting, from.most_waiting);
  if (!from.strategies) return settings;
  settings.strategies.clear();
  for (const std::string& name : *from.strategies)
    if (const auto strategy = queue::strategy_from(name)) settings.strategies.push_back(*strategy);
  return settings;
}

std::map<queue::TeamId, queue::TeamNumbers> teams_of(const config::HostConfiguration& host) {
  std::map<queue::TeamId, queue::TeamNumbers> teams;
  for (const auto& [name, numbers] : host.teams)
    teams[queue::TeamId(name)] = {numbers.weight, numbers.max_held, numbers.max_pending};
  return teams;
}

fleet::Settings fleet_settings(const config::HostConfiguration& host, const std::string& url) {
  const config::FleetSettings& from = host.fleet;
  fleet::Settings settings;
  settings.events_kept = host.events.kept;
  set(settings.default_strategy, from.default_strategy);
  set(settings.poll, from.poll);
  set(settings.list_every, from.list_every);
  set(settings.notices_every, from.notices_every);
  set(settings.grace, from.grace);
  set(settings.journal_kept, from.journal_kept);
  set(settings.stopped_kept, from.stopped_kept);
  settings.queue = queue_settings(host.queue);
  settings.teams = teams_of(host);
  settings.teams_origin = host.file.string();
  settings.registration = {{"rootUrl", url}};
  return settings;
}

fleet::ProviderUp provider_up(const config::PluginInstance& instance,
                              const ProviderDescription& description) {
  fleet::ProviderUp up;
  up.provider_id = ProviderId(instance.id);
  up.settings.max_capacity = instance.launch.max_capacity;
  set(up.settings.launches_per_second, instance.launch.per_second);
  if (instance.launch.burst) up.settings.launch_burst = static_cast<double>(*instance.launch.burst);
  set(up.settings.launch_calls_at_once, instance.launch.calls_at_once);
  set(up.settings.launches_per_call, instance.launch.per_call);
  up.field_classes = description.field_classes;
  const auto offers = [&](const char* capability) {
    return std::ranges::find(description.capabilities, capability) !=
           description.capabilities.end();
  };
  up.has_notices = offers(capability::notices);
  up.declares_machines = offers(capability::announced_workers);
  return up;
}

std::unique_ptr<pools::Source> source_of(const config::WorkerConfigurations& from,
                                         const std::filesystem::path& data) {
  if (from.git.empty()) return pools::folder_source(from.folder);
  return pools::git_source({.location = from.git,
                            .ref = from.ref,
                            .folder = from.folder.string(),
                            .cache = data / "repositories"});
}

const config::PluginInstance* find(const std::vector<config::PluginInstance>& instances,
                                   const std::string& id) {
  const auto found = std::ranges::find(instances, id, &config::PluginInstance::id);
  return found == instances.end() ? nullptr : &*found;
}

}  // namespace

Result<std::unique_ptr<FleetRuntime>> FleetRuntime::start(Parts parts) {
  std::unique_ptr<FleetRuntime> fleet(new FleetRuntime(std::move(parts)));
  if (const auto opened = fleet->open(); !opened) return opened.error();
  fleet->start_worker_configurations();
  fleet->start_demand();
  fleet->watcher_ = std::thread([at = fleet.get()] { at->watch_providers(); });
  return fleet;
}

FleetRuntime::FleetRuntime(Parts parts) : parts_(std::move(parts)) {}

FleetRuntime::~FleetRuntime() {
  stop(0ms);
}

Result<void> FleetRuntime::open() {
  store::SqliteSettings settings;
  settings.synchronous_full = parts_.configuration->store.synchronous_full;
  settings.clock = parts_.clock;
  settings.log = parts_.log;
  auto store = store::SqliteStore::open(parts_.data_directory / store_name, settings);
  if (!store) return store.error();
  store_ = std::move(*store);
  const fleet::Now now{parts_.clock->now(), std::chrono::duration_cast<std::chrono::milliseconds>(
                                                parts_.clock->steady().time_since_epoch())};
  auto loaded = fleet::Fleet::load(*store_, fleet_settings(*parts_.configuration, parts_.url),
                                   random_token().reveal().substr(0, 12), now);
  if (!loaded) return loaded.error();
  parts_.log.info("the fleet goes on", {{"workers", (*loaded)->workers().size()},
                                        {"pools", (*loaded)->pools().size()},
                                        {"epoch", (*loaded)->epoch()}});
  static const store::Table* const salvage[] = {
      &store::table_of<fleet::DecisionRow>,  &store::table_of<fleet::PoolErrorRow>,
      &store::table_of<fleet::ApiPoolRow>,   &store::table_of<events::Event>,
      &store::table_of<events::DeliveryRow>, &store::table_of<events::DeadLetterRow>,
      &store::table_of<auth::ClientRow>};
  auto events = events::Service::make({.configuration = parts_.configuration,
                                       .store = store_.get(),
                                       .clock = parts_.clock,
                                       .log = parts_.log});
  if (!events) return events.error();
  events_ = std::move(*events);
  fleet_ = std::make_unique<fleet::Service>(
      std::move(*loaded),
      fleet::ServiceParts{
          .store = store_.get(),
          .clock = parts_.clock,
          .log = parts_.log,
          .find_plugin = [this](const std::string& id) { return find_plugin(id); },
          .rebuild_store =
              [this](const store::Batch& all) { return store_->rebuild(all, salvage); },
          .listener =
              [this](const std::vector<events::Event>& told) { events_->on_durable(told); }});
  return events_->start([this](store::Batch batch, std::function<void()> durable) {
    return fleet_->committer().submit(std::move(batch), std::move(durable));
  });
}

void FleetRuntime::start_worker_configurations() {
  const auto configuration = this->configuration();
  if (!configuration->worker_configurations) return;
  pools::ServiceSettings settings;
  settings.poll = configuration->worker_configurations->poll;
  auto started = pools::Service::start(
      {.source = source_of(*configuration->worker_configurations, parts_.data_directory),
       .provider_context = [this] { return provider_context(); },
       .expand = [this](const ProviderId& id,
                        const ExpandRequest& request) { return expand(id, request); },
       .accept =
           [this](std::shared_ptr<const fleet::Configuration> accepted) {
             fleet_->post([accepted = std::move(accepted)](fleet::Fleet& fleet, fleet::Now now) {
               fleet.configure(accepted, now);
             });
             name_pools();
           },
       .clock = parts_.clock,
       .log = parts_.log},
      settings);
  if (!started) {
    parts_.log.error("the worker configurations cannot be watched",
                     {{"error", started.error().message}});
    return;
  }
  const std::lock_guard lock(mutex_);
  worker_configurations_ = std::move(*started);
}

void FleetRuntime::tell_of_teams(const config::HostConfiguration& configuration) {
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
      parts_.clock, parts_.log);
  if (!started) {
    parts_.log.error("the sources of demand cannot be asked", {{"error", started.error().message}});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    demand_ = std::move(*started);
  }
  name_pools();
}

// Tells the sources of demand which pools there are, those of the API among them.
void FleetRuntime::name_pools() {
  fleet_->post([this](fleet::Fleet& fleet, fleet::Now) {
    std::vector<WorkerPoolId> pools;
    for (const fleet::Pool& pool : fleet.pools())
      if (!pool.removed() && pool.spec) pools.push_back(pool.id);
    const std::lock_guard lock(mutex_);
    if (demand_) demand_->set_pools(std::move(pools));
  });
}

std::vector<demand::SourceStatus> FleetRuntime::demand_status() const {
  const std::lock_guard lock(mutex_);
  return demand_ ? demand_->status() : std::vector<demand::SourceStatus>();
}

void FleetRuntime::stop(std::chrono::milliseconds patience) {
  std::unique_ptr<pools::Service> configurations;
  std::unique_ptr<demand::DemandService> demand;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
    configurations = std::move(worker_configurations_);
    demand = std::move(demand_);
  }
  demand.reset();
  configurations.reset();  // waits for its calls
  if (watcher_.joinable()) watcher_.join();
  if (events_) events_->stop();
  if (fleet_) fleet_->stop(patience);
}

std::shared_ptr<const config::HostConfiguration> FleetRuntime::configuration() const {
  const std::lock_guard lock(mutex_);
  return parts_.configuration;
}

void FleetRuntime::configuration_changed(std::shared_ptr<const config::HostConfiguration> next) {
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
    changed_.notify_all();
  }
  replaced.reset();
  replaced_demand.reset();
  events_->reconfigure(next);
  if (other_queue)
    fleet_->post([settings = queue_settings(next->queue)](fleet::Fleet& fleet, fleet::Now now) {
      fleet.configure_queue(settings, now);
    });
  if (other_teams) tell_of_teams(*next);
  if (other_demand) start_demand();
  if (other_source) start_worker_configurations();
  reload_worker_configurations();
}

void FleetRuntime::reload_worker_configurations() const {
  const std::lock_guard lock(mutex_);
  if (worker_configurations_) worker_configurations_->reload();
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

// -------------------------------------------------------------------------------------------------
// Providers

fleet::Callee FleetRuntime::find_plugin(const std::string& instance_id) const {
  const auto configuration = this->configuration();
  const config::PluginInstance* instance = find(configuration->providers, instance_id);
  if (!instance) instance = find(configuration->strategies, instance_id);
  if (!instance) return {};
  return {parts_.plugins->channel(instance_id), instance->deadline, instance->concurrency};
}

pools::ProviderContext FleetRuntime::provider_context() const {
  const auto configuration = this->configuration();
  pools::ProviderContext provider_context;
  for (const config::PluginInstance& strategy : configuration->strategies)
    provider_context.strategies.push_back(strategy.id);
  set(provider_context.default_strategy, configuration->fleet.default_strategy);
  for (const config::PluginInstance& provider : configuration->providers)
    provider_context.providers[ProviderId(provider.id)] = facts_of(provider, provider.deadline);
  return provider_context;
}

pools::ProviderFacts FleetRuntime::facts_of(const config::PluginInstance& provider,
                                            std::chrono::milliseconds at_most) const {
  pools::ProviderFacts facts;
  const auto running = parts_.plugins->running(provider.id);
  const auto channel = parts_.plugins->channel(provider.id);
  if (!running || !channel) {
    facts.unavailable = Error::transient("its plugin " + provider.plugin + " does not run");
    return facts;
  }
  auto description = from_value<ProviderDescription>(json::value(running->description));
  if (!description) {
    facts.unavailable = description.error();
    return facts;
  }
  ProviderClient client(*channel);
  const DeadlineContext context(std::min(provider.deadline, at_most));
  return pools::ask_provider(std::move(*description),
                             running->version + " " + json::write(provider.config), client,
                             context);
}

std::optional<pools::ProviderFacts> FleetRuntime::provider_facts(
    const ProviderId& id, std::chrono::milliseconds at_most) const {
  const auto configuration = this->configuration();
  const config::PluginInstance* provider = find(configuration->providers, id.str());
  if (!provider) return std::nullopt;
  return facts_of(*provider, at_most);
}

Result<Expansion> FleetRuntime::expand(const ProviderId& id, const ExpandRequest& request) const {
  const fleet::Callee callee = find_plugin(id.str());
  if (!callee.channel) return Error::transient("provider " + id.str() + " does not run");
  return ProviderClient(*callee.channel).expand(request, DeadlineContext(callee.deadline));
}

void FleetRuntime::watch_providers() {
  StatusEventSource changes([this](events::Event event) {
    fleet_->post([event = std::move(event)](fleet::Fleet& fleet, fleet::Now now) {
      fleet.tell(event, now);
    });
  });
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    lock.unlock();
    tell_of_providers();
    changes.look(parts_.plugins->list());
    changes.look(configuration_status());
    name_pools();
    lock.lock();
    changed_.wait_for(lock, look_at_providers_every, [&] { return stopping_; });
  }
}

void FleetRuntime::tell_of_providers() {
  const auto configuration = this->configuration();
  std::map<std::string, std::string> up;
  bool changed = false;
  for (const config::PluginInstance& provider : configuration->providers) {
    const auto running = parts_.plugins->running(provider.id);
    if (!running) continue;
    const auto description = from_value<ProviderDescription>(json::value(running->description));
    if (!description) continue;
    const fleet::ProviderUp said = provider_up(provider, *description);
    std::string text = running->version + json::write(codec::to_value(said.field_classes));
    for (const auto limit : {said.settings.max_capacity.value_or(-1),
                             said.settings.launches_per_call, said.settings.launch_calls_at_once})
      text += " " + std::to_string(limit);
    text += " " + std::to_string(said.settings.launches_per_second) + " " +
            std::to_string(said.settings.launch_burst);
    up[provider.id] = text;
    if (const auto before = told_.find(provider.id);
        before != told_.end() && before->second == text)
      continue;
    changed = true;
    fleet_->post([said](fleet::Fleet& fleet, fleet::Now now) { fleet.provider_up(said, now); });
  }
  for (const auto& [id, text] : told_) {
    if (up.contains(id)) continue;
    changed = true;
    const std::string why = find(configuration->providers, id)
                                ? "its plugin does not run; see: muster plugin list"
                                : "it is no longer in the host's configuration";
    fleet_->post([id = id, why](fleet::Fleet& fleet, fleet::Now now) {
      fleet.provider_down(ProviderId(id), why, now);
    });
  }
  told_ = std::move(up);
  const std::lock_guard lock(mutex_);
  if (changed && worker_configurations_) worker_configurations_->providers_changed();
}

}  // namespace muster
