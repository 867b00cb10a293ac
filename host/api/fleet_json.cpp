#include "host/api/fleet_json.hpp"

#include <algorithm>

#include <muster/codec.hpp>

#include "host/api/json_members.hpp"
#include "host/fleet/allocation/throttle.hpp"

namespace muster::api {
namespace {

json::object totals_document(const fleet::Totals& totals) {
  return {{"requested", totals.requested}, {"lost", totals.lost},
          {"running", totals.running},     {"draining", totals.draining},
          {"stopping", totals.stopping},   {"absent", totals.absent},
          {"busy", totals.busy},           {"workers", totals.workers}};
}

void add_obstacle(json::object& document, const verdict::Obstacle& obstacle) {
  document["cause"] = obstacle.cause;
  document["scope"] = obstacle.scope;
  document["who"] = obstacle.who;
  if (obstacle.until) document["until"] = format_time(*obstacle.until);
  if (!obstacle.key.empty()) document["key"] = obstacle.key;
}

}  // namespace

// Nothing is said of what was never measured.
json::object times_document(const fleet::Times& times) {
  json::object document;
  const auto add = [&](const char* name, const verdict::Durations& measured) {
    if (measured.empty()) return;
    const auto seconds = [&](double share) {
      return static_cast<double>(measured.quantile(share).count()) / 1000;
    };
    document[name] = json::object{
        {"count", measured.size()}, {"p50Seconds", seconds(0.5)}, {"p90Seconds", seconds(0.9)}};
  };
  add("boot", times.boot);
  add("registration", times.registration);
  add("start", times.start);
  add("lease", times.lease);
  return document;
}

json::object verdict_document(const verdict::Verdict& verdict) {
  json::object document{{"kind", name_of(verdict.kind)}, {"text", verdict.text}};
  if (verdict.position) document["position"] = *verdict.position;
  if (verdict.eta)
    document["eta"] = json::object{{"p50", format_time(verdict.eta->p50)},
                                   {"p90", format_time(verdict.eta->p90)}};
  if (verdict.obstacle) add_obstacle(document, *verdict.obstacle);
  if (verdict.limited_by) {
    json::object limit{{"text", verdict.limited_by->text}};
    add_obstacle(limit, *verdict.limited_by);
    document["limitedBy"] = std::move(limit);
  }
  return document;
}

json::object launch_config_document(const fleet::Fleet& fleet, fleet::Index index,
                                    const Weights& weights, fleet::Now now) {
  const fleet::LaunchConfigState& launch_config = fleet.launch_configs()[index];
  const LaunchConfig& launch = launch_config.spec->launch_config;
  const bidding::HealthCounts health = launch_config.health.last_hour(now.wall);
  json::object document{{"workerPoolId", fleet.pools()[launch_config.pool].id.str()},
                        {"launchConfigId", launch.launch_config_id.str()},
                        {"providerId", launch_config.spec->provider_id.str()},
                        {"placement", codec::to_value(launch.placement.facts)},
                        {"instanceType", launch.instance_type},
                        {"status", name_of(launch_config.status)},
                        {"capacityPerInstance", launch.capacity_per_instance},
                        {"capacity", totals_document(launch_config.totals)},
                        {"lastHour", json::object{{"tried", health.tried},
                                                  {"failed", health.failed},
                                                  {"registered", health.registered},
                                                  {"claimed", health.claimed},
                                                  {"errors", health.errors()}}}};
  const auto weight =
      std::ranges::find(weights, index, [](const auto& entry) { return entry.first; });
  if (weight != weights.end()) {
    document["weight"] = weight->second.value;
    document["arithmetic"] = weight->second.arithmetic;
  }
  if (launch_config.spec->max_capacity) document["maxCapacity"] = *launch_config.spec->max_capacity;
  put_time(document, "created", launch_config.created);
  put_time(document, "archived", launch_config.archived);
  put_time(document, "pausedUntil", launch_config.paused_until);
  if (!launch_config.pause_reason.empty()) document["pauseReason"] = launch_config.pause_reason;
  if (launch_config.outdated) document["outdated"] = *launch_config.outdated;
  document["verdict"] = verdict_document(fleet.verdict_of(index, weights, now));
  if (launch_config.times) document["times"] = times_document(*launch_config.times);
  return document;
}

json::object launch_config_detail(const fleet::Fleet& fleet, const fleet::Pool& pool,
                                  fleet::Index index, fleet::Now now) {
  json::object document =
      launch_config_document(fleet, index, fleet.weights_of(pool, now.wall), now);
  const fleet::LaunchConfigSpec& spec = *fleet.launch_configs()[index].spec;
  document["initialWeight"] = spec.initial_weight;
  document["document"] = spec.launch_config.document;
  document["workerConfig"] = spec.worker_config;
  json::array holds;
  for (const bidding::Hold& hold : fleet.holds())
    if (bidding::covers(hold, spec.provider_id, spec.launch_config))
      holds.push_back(hold_document(hold));
  document["holds"] = std::move(holds);
  return document;
}

Time paused_until(const fleet::Fleet& fleet, const fleet::Pool& pool) {
  Time first{};
  for (const fleet::Index at : pool.launch_configs) {
    const fleet::LaunchConfigState& each = fleet.launch_configs()[at];
    if (each.status == fleet::LaunchConfigStatus::active) return {};
    if (each.status == fleet::LaunchConfigStatus::paused)
      first = first == Time{} ? each.paused_until : std::min(first, each.paused_until);
  }
  return first;
}

json::object pool_document(const fleet::Fleet& fleet, const fleet::Pool& pool, fleet::Now now) {
  json::object document{{"workerPoolId", pool.id.str()},
                        {"origin", pool.spec ? pool.spec->origin : ""},
                        {"configured", pool.spec != nullptr},
                        {"pending", pool.demand.pending},
                        {"capacity", totals_document(pool.totals)},
                        {"verdict", verdict_document(fleet.verdict_of(pool, now))}};
  put_time(document, "created", pool.created);
  put_time(document, "lastModified", pool.last_modified);
  put_time(document, "pausedUntil", paused_until(fleet, pool));
  if (!pool.demand.note.empty()) document["demandNote"] = pool.demand.note;
  if (pool.spec) {
    document["minCapacity"] = pool.spec->settings.min_capacity;
    document["maxCapacity"] = pool.spec->settings.max_capacity;
    document["strategy"] = pool.spec->strategy;
    document["owner"] = pool.spec->owner;
    document["description"] = pool.spec->description;
    json::array providers;
    for (const ProviderId& provider : pool.spec->providers) providers.emplace_back(provider.str());
    document["providers"] = std::move(providers);
  }
  return document;
}

json::object pool_detail(const fleet::Fleet& fleet, const fleet::Pool& pool, fleet::Now now) {
  json::object document = pool_document(fleet, pool, now);
  const Weights weights = fleet.weights_of(pool, now.wall);
  json::array launch_configs;
  for (const fleet::Index at : pool.launch_configs)
    launch_configs.push_back(launch_config_document(fleet, at, weights, now));
  document["launchConfigs"] = std::move(launch_configs);
  return document;
}

json::object worker_document(const fleet::Fleet& fleet, const fleet::Worker& worker) {
  const fleet::LaunchConfigState& launch_config = fleet.launch_configs()[worker.launch_config];
  json::object document{
      {"workerPoolId", fleet.pools()[worker.pool].id.str()},
      {"workerGroup", worker.group == fleet::no_index ? "" : fleet.group_name(worker.group)},
      {"workerId", worker.worker_id},
      {"number", worker.number},
      {"providerId", fleet.providers()[worker.provider].id.str()},
      {"launchConfigId", launch_config.spec->launch_config.launch_config_id.str()},
      {"state", name_of(worker.state)},
      {"phase", name_of(worker.phase)},
      {"drain", name_of(worker.drain)},
      {"origin", name_of(worker.origin)},
      {"capacity", worker.capacity},
      {"pricePerHour", worker.price},
      {"reason", worker.reason}};
  if (worker.busy >= 0) document["busy"] = worker.busy;
  if (const fleet::QueueFacts* reported = fleet.reported_facts(worker))
    document["announced"] = codec::to_value(*reported);
  put_time(document, "created", worker.created);
  put_time(document, "since", worker.since);
  put_time(document, "registered", worker.registered);
  put_time(document, "credentialsExpire", worker.credentials_expire);
  put_time(document, "lastActive", worker.last_active);
  put_time(document, "interruption", worker.interruption);
  put_time(document, "quarantinedUntil", worker.in_quarantine_until());
  put_time(document, "expires", worker.expires);
  return document;
}

json::object hold_document(const bidding::Hold& hold) {
  json::object document{{"providerId", hold.provider_id.str()},
                        {"scope", hold.scope_text()},
                        {"class", std::string(to_string(hold.error.error_class))},
                        {"message", hold.error.message},
                        {"since", format_time(hold.since)},
                        {"until", format_time(hold.until)},
                        {"strikes", hold.strikes},
                        {"probing", hold.probing},
                        {"text", hold.in_words()}};
  const auto part = [&](const char* name, const std::optional<std::string>& value) {
    if (value) document[name] = *value;
  };
  part("region", hold.error.scope.region);
  part("zone", hold.error.scope.zone);
  part("instanceType", hold.error.scope.instance_type);
  part("launchConfigId", hold.error.scope.launch_config_id);
  if (!hold.error.code.empty()) document["code"] = hold.error.code;
  return document;
}

json::object provider_document(const fleet::Fleet& fleet, const fleet::ProviderState& provider) {
  const allocation::Throttle& throttle = fleet.throttle_of(provider);
  json::object limits{{"launchesPerSecond", throttle.settings().launches_per_second},
                      {"launchBurst", throttle.settings().burst},
                      {"launchCallsAtOnce", throttle.settings().calls_at_once},
                      {"launchesPerCall", provider.settings.launches_per_call}};
  if (provider.settings.max_capacity) limits["maxCapacity"] = *provider.settings.max_capacity;
  std::int64_t holds = 0;
  for (const bidding::Hold& hold : fleet.holds()) holds += hold.provider_id == provider.id;
  json::object document{{"providerId", provider.id.str()},
                        {"up", provider.up},
                        {"capacity", totals_document(provider.totals)},
                        {"limits", std::move(limits)},
                        {"throttle", json::object{{"launchesPerSecond", throttle.rate()},
                                                  {"callsUnderWay", throttle.calls()}}},
                        {"launchesWaiting", fleet.launches_waiting(provider)},
                        {"terminationsWaiting", fleet.terminations_waiting(provider)},
                        {"launchesUnsure", provider.unsure},
                        {"holds", holds}};
  put_time(document, "listed", provider.listed);
  // A list that is not believed matters more than a call that failed.
  const bool doubted = !provider.doubts.empty();
  put_time(document, "troubleSince", doubted ? provider.doubted_since : provider.trouble_since);
  const std::string& trouble = doubted ? provider.doubts.begin()->second : provider.trouble;
  if (!trouble.empty()) document["trouble"] = trouble;
  return document;
}

}  // namespace muster::api
