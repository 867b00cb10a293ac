#include "host/wiring/fleet_settings.hpp"

#include <algorithm>
#include <optional>

namespace muster {
namespace {

template <class Into, class From>
void set(Into& into, const std::optional<From>& from) {
  if (from) into = *from;
}

void set_pace(fleet::ProviderSettings& settings, const LaunchPace& pace) {
  // A plugin's word is bounded: a mistake in it must not launch without end.
  constexpr std::int64_t most = 10'000;
  if (pace.per_call) settings.launches_per_call = std::clamp<std::int64_t>(*pace.per_call, 1, most);
  if (pace.burst)
    settings.launch_burst = static_cast<double>(std::clamp<std::int64_t>(*pace.burst, 1, most));
  if (pace.per_second && *pace.per_second > 0)
    settings.launches_per_second = std::min<double>(*pace.per_second, most);
}

}  // namespace

queue::Settings queue_settings(const config::QueueSettings& from) {
  queue::Settings settings;
  set(settings.patience, from.patience);
  set(settings.half_life, from.half_life);
  set(settings.least_charge, from.least_charge);
  set(settings.ended_kept, from.ended_kept);
  set(settings.most_waiting, from.most_waiting);
  set(settings.most_waiting_of_team, from.most_waiting_of_team);
  set(settings.most_of_client, from.most_of_client);
  set(settings.most_teams, from.most_teams);
  set(settings.most_names_of_client, from.most_names_of_client);
  set(settings.most_polls_of_client, from.most_polls_of_client);
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
  set(settings.outcomes.enabled, from.outcomes.enabled);
  set(settings.outcomes.quarantine, from.outcomes.quarantine);
  set(settings.outcomes.false_alarm, from.outcomes.false_alarm);
  set(settings.outcomes.missed, from.outcomes.missed);
  set(settings.outcomes.effect, from.outcomes.effect);
  set(settings.outcomes.largest_share, from.outcomes.largest_share);
  set(settings.outcomes.first_quarantine, from.outcomes.first_quarantine);
  set(settings.outcomes.longest_quarantine, from.outcomes.longest_quarantine);
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
  set_pace(up.settings, description.launch_pace);
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

const config::PluginInstance* find_instance(const std::vector<config::PluginInstance>& instances,
                                            const std::string& id) {
  const auto found = std::ranges::find(instances, id, &config::PluginInstance::id);
  return found == instances.end() ? nullptr : &*found;
}

}  // namespace muster
