#include "host/fleet/verdict_inputs/verdict_inputs.hpp"

#include <algorithm>
#include <cmath>

#include "host/fleet/model/words.hpp"
#include "host/queue/lines.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {
namespace {

// Of a fleet with many pools, or a pool with many workers, so many are considered.
constexpr std::size_t most_outlooks = 64;
constexpr std::size_t most_workers = 256;

// What was measured of the launch configuration, else of its pool.
const verdict::Durations* measured(const LaunchConfigState& launch_config, const Pool& pool,
                                   verdict::Durations Times::*part) {
  for (const Times* times : {launch_config.times.get(), pool.times.get()})
    if (times && !(times->*part).empty()) return &(times->*part);
  return nullptr;
}

// How many requests of its kind a worker serves at once.
double room_for(const Promised& promised, const queue::Resources& needs) {
  return std::max(1.0, std::floor(1 / promised.has.share_of(needs) + 1e-9));
}

}  // namespace

const Worker* VerdictInputs::find_worker(std::int64_t number) const {
  const Index index = table_.find(number);
  return index == no_index ? nullptr : &workers_[index];
}

// -------------------------------------------------------------------------------------------------
// What comes

// The launches of the pool that are under way; `room` says what one from a launch configuration is
// worth, 0 for those that do not matter.
template <class Room>
void VerdictInputs::add_launches(const Pool& pool, std::vector<verdict::RoomSource>& coming,
                                 const Room& room) const {
  if (pool.totals.requested == 0) return;
  const std::size_t first = coming.size();
  std::int64_t found = 0;
  std::size_t seen = 0;
  // The newest are at the end.
  for (auto at = pool.workers.rbegin(); at != pool.workers.rend() && seen < most_workers;
       ++at, ++seen) {
    const Worker& worker = workers_[*at];
    if (worker.state != WorkerState::requested) continue;
    found += worker.capacity;
    const LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
    const double worth = room(launch_config);
    if (worth <= 0) continue;
    const bool boots = has_instance(worker);
    coming.push_back(
        {.takes = measured(launch_config, pool, boots ? &Times::registration : &Times::start),
         .age = std::max<std::chrono::milliseconds>(
             std::chrono::milliseconds(0), clock_.now() - (boots ? worker.since : worker.created)),
         .room = worth});
  }
  if (found == 0) return;
  const double times =
      std::max(1.0, static_cast<double>(pool.totals.requested) / static_cast<double>(found));
  for (std::size_t i = first; i < coming.size(); ++i) coming[i].times = times;
}

// -------------------------------------------------------------------------------------------------
// Requests

// The pools that could launch a worker for it, the preferred ones first.
std::vector<Index> VerdictInputs::could_launch_for(const queue::Request& request) const {
  const queue::WaitingCapacity candidates = link_.queue().candidates_of(request);
  std::vector<Index> pools;
  const auto consider = [&](Index at) {
    if (pools.size() >= most_outlooks || !pools_[at].spec) return;
    if (std::ranges::any_of(pools_[at].launch_configs, [&](Index launch_config) {
          const LaunchConfigState& state = launch_configs_[launch_config];
          return state.status != LaunchConfigStatus::archived &&
                 state.promised.serves(candidates.tags, request.needs);
        }))
      pools.push_back(at);
  };
  for (const WorkerPoolId& id : candidates.pools)
    if (const Index known = registry_.find_pool_index(id); known != no_index) consider(known);
  if (candidates.shared)
    for (const auto& [id, at] : registry_.pool_indices()) {
      const queue::TeamPool* known = link_.queue().find_pool(id);
      if (!(known && known->dedicated)) consider(at);
    }
  return pools;
}

verdict::RequestSituation VerdictInputs::situation_of(const queue::Request& request,
                                                      Time now) const {
  verdict::RequestSituation situation = link_.queue().situation_of(request);
  const Worker* worker = find_worker(link_.queue().worker_of(request));
  if (worker && has_instance(*worker))
    situation.worker = "worker " + registry_.group_name(worker->group) + "/" + worker->worker_id +
                       " of " + pools_[worker->pool].id.str();
  if (situation.held) return situation;
  const std::vector<std::string>& tags = link_.queue().lines()[request.line].tags;
  for (const Index at : could_launch_for(request)) {
    const Pool& pool = pools_[at];
    double launching = 0;
    const std::size_t before = situation.room_sources.size();
    add_launches(pool, situation.room_sources, [&](const LaunchConfigState& launch_config) {
      return launch_config.promised.serves(tags, request.needs)
                 ? room_for(launch_config.promised, request.needs)
                 : 0;
    });
    for (std::size_t i = before; i < situation.room_sources.size(); ++i)
      launching += situation.room_sources[i].room * situation.room_sources[i].times;
    situation.outlooks.push_back(
        {.pool = pool.id,
         .launching = static_cast<std::int64_t>(launching),
         .obstacle = pool.verdict.obstacle ? &*pool.verdict.obstacle : nullptr,
         .text = pool.verdict.text});
  }
  for (const queue::RoomToCome& lease : link_.queue().room_to_come(request)) {
    const Worker* holder = find_worker(lease.worker);
    if (!holder) continue;
    situation.room_sources.push_back({.takes = measured(launch_configs_[holder->launch_config],
                                                        pools_[holder->pool], &Times::lease),
                                      .age = std::max<std::chrono::milliseconds>(
                                          std::chrono::milliseconds(0), now - lease.granted),
                                      .room = lease.room,
                                      .times = lease.times,
                                      .again = true});
  }
  return situation;
}

verdict::Verdict VerdictInputs::verdict_of(const queue::Request& request, Time now) const {
  return verdict::judge(situation_of(request, now), now);
}

// What is said of the first of a line is said of all behind it, but for those that what is launched
// for them does not suffice for.
std::map<std::pair<verdict::Kind, std::string>, std::int64_t> VerdictInputs::count_verdicts(
    Time now) const {
  std::map<std::pair<verdict::Kind, std::string>, std::int64_t> counts;
  const auto add = [&](const verdict::RequestSituation& situation, std::int64_t requests) {
    const verdict::Verdict verdict = verdict::judge(situation, now);
    counts[{verdict.kind, verdict.obstacle ? verdict.obstacle->cause : ""}] += requests;
  };
  for (const queue::Line& line : link_.queue().lines())
    for (const queue::Line::Places* places : {&line.waiting, &line.too_large}) {
      if (places->empty()) continue;
      auto situation = situation_of(link_.queue().requests()[places->begin()->request], now);
      situation.room_sources.clear();  // only kind and cause count
      const auto all = static_cast<std::int64_t>(places->size());
      std::int64_t launching = 0;
      for (const verdict::Outlook& outlook : situation.outlooks)
        launching = std::max(launching, outlook.launching);
      const std::int64_t first = std::clamp<std::int64_t>(launching, 1, all);
      add(situation, first);
      if (first == all) continue;
      situation.position = first + 1;
      add(situation, all - first);
    }
  return counts;
}

// -------------------------------------------------------------------------------------------------
// Pools and launch configurations

verdict::Verdict VerdictInputs::verdict_of(const Pool& pool, Time now) const {
  verdict::PoolSituation situation = pool.situation;
  add_launches(pool, situation.room_sources, [](const LaunchConfigState&) { return 1.0; });
  return verdict::judge(situation, now);
}

verdict::Verdict VerdictInputs::verdict_of(Index index, const Weights& weights, Time now) const {
  const LaunchConfigState& launch_config = launch_configs_[index];
  verdict::LaunchConfigSituation situation{
      .archived = launch_config.status == LaunchConfigStatus::archived,
      .capacity = in_words(launch_config.totals),
      .workers = launch_config.totals.workers,
      .requested = launch_config.totals.requested};
  const Pool& pool = pools_[launch_config.pool];
  add_launches(pool, situation.room_sources, [&](const LaunchConfigState& other) {
    return &other == &launch_config ? 1.0 : 0.0;
  });
  if (situation.archived) return verdict::judge(situation, now);
  const auto weight =
      std::ranges::find(weights, index, [](const auto& entry) { return entry.first; });
  std::int64_t instances = 0;
  auto obstacle =
      limits_.obstacle_of(launch_config.pool, index,
                          weight == weights.end() ? bidding::Weight{} : weight->second, instances);
  // A limit is no obstacle while no more is wanted.
  const bool limit = obstacle && (obstacle->cause == verdict::cause::max_capacity ||
                                  obstacle->cause == verdict::cause::launch_config_limit ||
                                  obstacle->cause == verdict::cause::provider_limit ||
                                  obstacle->cause == verdict::cause::unsuitable);
  const bool wants_more = pool.want > 0 || pool.situation.outcome == verdict::PoolOutcome::full;
  if (!limit || wants_more) situation.obstacle = std::move(obstacle);
  return verdict::judge(situation, now);
}

}  // namespace muster::fleet
