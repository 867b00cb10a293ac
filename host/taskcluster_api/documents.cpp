#include "host/taskcluster_api/documents.hpp"

#include <algorithm>

#include <muster/enum_name.hpp>

#include "host/pools/api_pool.hpp"
#include "host/worker_state/service.hpp"

namespace muster::taskcluster_api {
namespace {

using fleet::Fleet;
using fleet::Index;
using fleet::LaunchConfigState;
using fleet::LaunchConfigStatus;
using fleet::Pool;
using fleet::Worker;
using fleet::WorkerState;

constexpr std::array<std::string_view, 4> state_names = enum_names(WorkerState{});

// The longest texts that the schema of errors allows.
constexpr std::size_t longest_title = 128, longest_description = 10240;

std::string_view state_of(const Worker& worker) {
  return state_names[static_cast<std::size_t>(shown_state(worker))];
}

// Cut at a whole character.
std::string_view shortened(std::string_view text, std::size_t longest) {
  if (text.size() <= longest) return text;
  std::size_t end = longest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

// Empty if it has none any more.
std::string_view launch_config_id(const Fleet& fleet, const Worker& worker) {
  if (worker.launch_config == fleet::no_index) return {};
  const auto& spec = fleet.launch_configs()[worker.launch_config].spec;
  return spec ? std::string_view(spec->launch_config.launch_config_id.str()) : std::string_view();
}

// When it will be forgotten, or may be at the earliest.
Time expires(const Fleet& fleet, const Worker& worker, Time now) {
  if (worker.state == WorkerState::stopped) return worker.since + fleet.settings().stopped_kept;
  return worker.expires != Time{} ? worker.expires : now + fleet.settings().stopped_kept;
}

Time last_checked(const Fleet& fleet, const Worker& worker) {
  if (worker.declared()) return worker.created;
  const Time listed = fleet.providers()[worker.provider].listed;
  const Time end = worker.state == WorkerState::stopped ? worker.since : Time::max();
  return std::max(worker.created, std::min(listed, end));
}

json::object lifecycle_document(const fleet::Lifecycle& life) {
  return {{"registrationTimeout", life.registration_timeout.count()},
          {"reregistrationTimeout", life.reregistration_timeout.count()},
          {"queueInactivityTimeout", life.queue_inactivity_timeout.count()}};
}

// Of a pool that a file configures, as if it had been made through the API.
json::object config_document(const Fleet& fleet, const Pool& pool) {
  json::array launch_configs;
  for (const Index at : pool.launch_configs) {
    const LaunchConfigState& launch_config = fleet.launch_configs()[at];
    if (launch_config.status != LaunchConfigStatus::archived)
      launch_configs.push_back(configuration_of(*launch_config.spec));
  }
  json::object config;
  if (pool.spec) {
    config = {{"minCapacity", pool.spec->settings.min_capacity},
              {"maxCapacity", pool.spec->settings.max_capacity},
              {"scalingRatio", pool.spec->settings.scaling_ratio},
              {"lifecycle", lifecycle_document(pool.spec->lifecycle)}};
  }
  config["launchConfigs"] = std::move(launch_configs);
  return config;
}

std::string provider_of(const Pool& pool) {
  return pool.spec && !pool.spec->providers.empty() ? pool.spec->providers.front().str()
                                                    : std::string(pools::null_provider);
}

// For a moment between a start and the first change, old rows know no times.
Time known_or(Time time, Time otherwise) {
  return time == Time{} ? otherwise : time;
}

}  // namespace

WorkerState shown_state(const Worker& worker) {
  return worker.signed_off() ? WorkerState::stopped : worker.state;
}

void Counts::add(const Worker& worker) {
  const auto at = static_cast<std::size_t>(shown_state(worker));
  ++workers[at];
  capacity[at] += worker.capacity;
}

Counts count_workers(const Fleet& fleet, const Pool& pool) {
  Counts counts;
  for (const auto* list : {&pool.workers, &pool.stopped})
    for (const Index at : *list) counts.add(fleet.workers()[at]);
  return counts;
}

void write_counts(PrettyText& text, const Counts& counts) {
  const auto [requested, running, stopping, stopped] = counts.capacity;
  text.key("currentCapacity").integer(requested + running + stopping);
  text.key("requestedCapacity").integer(requested).key("runningCapacity").integer(running);
  text.key("stoppingCapacity").integer(stopping).key("stoppedCapacity").integer(stopped);
  text.key("requestedCount").integer(counts.workers[0]);
  text.key("runningCount").integer(counts.workers[1]);
  text.key("stoppingCount").integer(counts.workers[2]);
  text.key("stoppedCount").integer(counts.workers[3]);
}

// -------------------------------------------------------------------------------------------------
// Pools

bool is_shown(const Pool& pool) {
  return !pool.removed();
}

void write_pool(PrettyText& text, const Fleet& fleet, const Pool& pool) {
  const fleet::ApiPoolRow* made = fleet.find_api_pool(pool.id);
  if (pool.spec && !pool.spec->origin.empty()) made = nullptr;  // a file has taken it over
  text.begin_object().key("workerPoolId").string(pool.id.str());
  text.key("providerId").string(provider_of(pool));
  text.key("description")
      .string(pool.spec ? std::string_view(pool.spec->description)
                        : "no longer configured; its workers end");
  text.key("created").time(made ? made->created : pool.created);
  text.key("lastModified")
      .time(made ? made->last_modified : known_or(pool.last_modified, pool.created));
  text.key("config");
  const json::value* config = made ? made->document.if_contains("config") : nullptr;
  if (config && config->is_object())
    text.value(*config);
  else
    text.object(config_document(fleet, pool));
  text.key("owner").string(pool.spec ? std::string_view(pool.spec->owner)
                                     : "nobody@invalid.invalid");
  text.key("emailOnError").boolean(pool.spec && pool.spec->email_on_error);
  write_counts(text, count_workers(fleet, pool));
  text.end_object();
}

// -------------------------------------------------------------------------------------------------
// Launch configurations

json::object configuration_of(const fleet::LaunchConfigSpec& spec) {
  json::object all;
  for (const auto& [fact, value] : spec.launch_config.placement.facts)
    all[fact == "availabilityZone" ? "zone" : fact] = value;
  std::vector<const json::value*> sections;
  for (const auto& member : spec.launch_config.document) {
    if (member.key() == "workerManager" || member.key() == "workerConfig") continue;
    all[member.key()] = member.value();
    sections.push_back(&member.value());
  }
  // The provider's one section is what makers of pools write without a name around it.
  if (sections.size() == 1 && sections.front()->is_object()) {
    const json::object section = sections.front()->get_object();
    for (const auto& member : spec.launch_config.document)
      if (&member.value() == sections.front()) all.erase(member.key());
    for (const auto& member : section) all[member.key()] = member.value();
  }
  if (!spec.worker_config.empty()) all["workerConfig"] = spec.worker_config;
  json::object own{{"launchConfigId", spec.launch_config.launch_config_id.str()},
                   {"capacityPerInstance", spec.launch_config.capacity_per_instance},
                   {"initialWeight", spec.initial_weight}};
  if (spec.max_capacity) own["maxCapacity"] = *spec.max_capacity;
  all["workerManager"] = std::move(own);
  return all;
}

void write_launch_config(PrettyText& text, const Fleet& fleet, const LaunchConfigState& state,
                         LaunchConfigDetail detail) {
  const bool archived = state.status == LaunchConfigStatus::archived;
  text.begin_object();
  text.key("launchConfigId").string(state.spec->launch_config.launch_config_id.str());
  text.key("workerPoolId").string(fleet.pools()[state.pool].id.str());
  text.key("isArchived").boolean(archived);
  text.key("configuration").object(configuration_of(*state.spec));
  text.key("created").time(state.created);
  text.key("lastModified").time(archived ? state.archived : state.created);
  if (detail == LaunchConfigDetail::single) {
    text.key("status").string(name_of(state.status));
    if (state.status == LaunchConfigStatus::paused) {
      text.key("pausedUntil").time(state.paused_until);
      if (!state.pause_reason.empty()) text.key("pauseReason").string(state.pause_reason);
    }
  }
  text.end_object();
}

// -------------------------------------------------------------------------------------------------
// Workers

bool has_name(const Worker& worker) {
  return worker.group != fleet::no_index && !worker.worker_id.empty();
}

void write_worker(PrettyText& text, const Fleet& fleet, const Worker& worker, Time now) {
  text.begin_object();
  text.key("workerPoolId").string(fleet.pools()[worker.pool].id.str());
  text.key("workerGroup").string(fleet.group_name(worker.group));
  text.key("workerId").string(worker.worker_id);
  text.key("providerId").string(fleet.providers()[worker.provider].id.str());
  text.key("created").time(worker.created);
  text.key("expires").time(expires(fleet, worker, now));
  text.key("state").string(state_of(worker));
  text.key("capacity").integer(worker.capacity);
  if (const auto id = launch_config_id(fleet, worker); !id.empty())
    text.key("launchConfigId").string(id);
  text.key("lastModified")
      .time(known_or(worker.last_modified, std::max(worker.since, worker.created)));
  text.key("lastChecked").time(last_checked(fleet, worker));
  text.end_object();
}

void write_run(PrettyText& text, const worker_state::TaskRunRow& run) {
  text.begin_object().key("taskId").string(run.task_id);
  text.key("runId").integer(run.run_id).end_object();
}

void write_queue_worker(PrettyText& text, const Fleet& fleet, const Worker& worker, Time now,
                        const worker_state::Service* runs, bool single) {
  const std::string& pool = fleet.pools()[worker.pool].id.str();
  text.begin_object();
  text.key("workerPoolId").string(pool);
  if (single) {
    text.key("provisionerId").string(std::string_view(pool).substr(0, pool.find('/')));
    text.key("workerType").string(std::string_view(pool).substr(pool.find('/') + 1));
  }
  text.key("workerGroup").string(fleet.group_name(worker.group));
  text.key("workerId").string(worker.worker_id);
  text.key("providerId").string(fleet.providers()[worker.provider].id.str());
  text.key("state").string(state_of(worker));
  text.key("capacity").integer(worker.capacity);
  if (const auto id = launch_config_id(fleet, worker); !id.empty())
    text.key("launchConfigId").string(id);
  std::optional<worker_state::WorkerActivity> activity;
  if (runs)
    activity =
        runs->activity({fleet.pools()[worker.pool].id, WorkerGroup(fleet.group_name(worker.group)),
                        WorkerId(worker.worker_id)});
  // Without task runs muster knows that it worked, not when it first did.
  if (activity)
    text.key("firstClaim").time(activity->first_claim);
  else if (single || worker.registered != Time{})
    text.key("firstClaim").time(known_or(worker.registered, worker.created));
  const Time last = std::max(worker.last_active, activity ? activity->last_active : Time{});
  if (last != Time{}) text.key("lastDateActive").time(last);
  if (worker.in_quarantine_until() > now)
    text.key("quarantineUntil").time(worker.in_quarantine_until());
  if (!single && activity) {
    text.key("latestTask");
    write_run(text, activity->recent.back());
  }
  if (single) {
    text.key("expires").time(expires(fleet, worker, now));
    text.key("recentTasks").begin_array();
    if (activity)
      for (const worker_state::TaskRunRow& run : activity->recent) write_run(text, run);
    text.end_array();
    text.key("quarantineDetails").begin_array().end_array();
  }
  text.end_object();
}

// -------------------------------------------------------------------------------------------------
// Errors

void write_error(PrettyText& text, const std::string& host_id, const fleet::PoolErrorRow& error) {
  text.begin_object();
  text.key("workerPoolId").string(error.worker_pool_id.str());
  text.key("errorId").string(fleet::error_id(host_id, error.number));
  text.key("reported").time(error.at);
  text.key("kind").string(shortened(error.kind, longest_title));
  text.key("title").string(shortened(error.title, longest_title));
  text.key("description").string(shortened(error.description, longest_description));
  text.key("extra").object(error.extra);
  if (!error.launch_config_id.empty())
    text.key("launchConfigId").string(error.launch_config_id.str());
  text.end_object();
}

}  // namespace muster::taskcluster_api
