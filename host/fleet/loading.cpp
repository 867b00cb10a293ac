// From the store back to the state, and the other way round.
#include <algorithm>
#include <charconv>

#include <muster/codec.hpp>

#include "host/fleet/changing.hpp"
#include "host/fleet/model/spec_json.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

std::int64_t number_in(const std::string& text) {
  std::int64_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

// All zero if there is none.
Sha256 digest_from(const std::string& text) {
  return sha256_from_hex(text).value_or(Sha256{});
}

bidding::Hold from_row(const HoldRow& row) {
  bidding::Hold hold;
  hold.provider_id = row.provider_id;
  hold.error.error_class = error_class_from(row.error_class).value_or(ErrorClass::internal);
  hold.error.message = row.message;
  hold.error.code = row.code;
  hold.error.scope = {row.region, row.zone, row.instance_type, row.launch_config_id};
  hold.since = row.since;
  hold.until = row.until;
  hold.strikes = row.strikes;
  return hold;
}

}  // namespace

Result<std::unique_ptr<Fleet>> Fleet::load(const store::Store& store, Settings settings,
                                           const std::string& host_id, Now now) {
  std::map<std::string, std::string> host;
  auto read = store::read_rows<HostRow>(store, [&](HostRow row) { host[row.name] = row.value; });
  if (!read) return read.error();
  // A store that was set back to an older copy has an old epoch, and providers have seen newer
  // ones: the clock is ahead of any of them.
  const std::int64_t seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.wall.time_since_epoch()).count();
  const std::int64_t epoch = std::max(number_in(host["epoch"]) + 1, seconds);
  auto fleet = std::make_unique<Fleet>(
      std::move(settings), host.contains("hostId") ? host["hostId"] : host_id, epoch, now);
  fleet->next_number_ = fleet->reserved_ = std::max<std::int64_t>(1, number_in(host["nextNumber"]));
  fleet->next_event_ = std::max<std::int64_t>(1, number_in(host["nextEvent"]));
  for (const auto part : {&Fleet::load_pools, &Fleet::load_launch_configs, &Fleet::load_times,
                          &Fleet::load_worker_facts, &Fleet::load_workers, &Fleet::load_holds,
                          &Fleet::load_events, &Fleet::load_queue})
    if (const auto done = (fleet.get()->*part)(store); !done) return done.error();
  fleet->clock_was_set();  // it may have been while nobody looked
  for (Index at = 0; at < fleet->pools_.size(); ++at) fleet->wake(at, true);
  return fleet;
}

Result<void> Fleet::load_pools(const store::Store& store) {
  std::optional<Error> wrong;
  auto read = store::read_rows<PoolRow>(store, [&](PoolRow row) {
    Pool& pool = pools_[index_of_pool(row.worker_pool_id)];
    for (const json::value& point : row.history)
      if (auto decoded = from_value<HistoryPoint>(point)) pool.history.push_back(*decoded);
    pool.created = row.created.value_or(Time{});
    pool.last_modified = row.last_modified.value_or(Time{});
    if (row.spec.empty()) return;
    auto spec = pool_spec_from_json(row.spec);
    if (spec)
      pool.spec = std::make_shared<const PoolSpec>(std::move(*spec));
    else
      wrong = spec.error();
  });
  if (!read) return read;
  if (wrong) return *wrong;
  return store::read_rows<ApiPoolRow>(store, [&](const ApiPoolRow& row) {
    const Pool* pool = find_pool(row.worker_pool_id);
    api_rows_[row.worker_pool_id] = row;
    if (pool && pool->spec) api_pools_[row.worker_pool_id] = pool->spec;
  });
}

Result<void> Fleet::load_launch_configs(const store::Store& store) {
  std::optional<Error> wrong;
  std::map<Index, std::vector<std::shared_ptr<const LaunchConfigSpec>>> current;
  auto read = store::read_rows<LaunchConfigRow>(store, [&](LaunchConfigRow row) {
    auto spec = from_value<LaunchConfigSpec>(json::value(std::move(row.spec)));
    if (!spec) {
      wrong = spec.error();
      return;
    }
    const Index pool = index_of_pool(row.worker_pool_id);
    const auto index = static_cast<Index>(launch_configs_.size());
    LaunchConfigState& launch_config = launch_configs_.emplace_back();
    take_spec(launch_config, std::make_shared<const LaunchConfigSpec>(std::move(*spec)));
    launch_config.pool = pool;
    launch_config.provider = index_of_provider(row.provider_id);
    launch_config.status = row.status;
    launch_config.paused_until = row.paused_until.value_or(Time{});
    launch_config.pause_reason = std::move(row.pause_reason);
    launch_config.created = row.created;
    launch_config.archived = row.archived.value_or(Time{});
    launch_config.on_probation = row.on_probation;
    launch_config.health = bidding::Health::from_json(row.health);
    pools_[pool].launch_configs.push_back(index);
    if (row.status != LaunchConfigStatus::archived)
      current[pool].push_back(launch_config.spec);
    else if (!pools_[pool].spec)
      launch_config.outdated = "its pool is no longer configured";
    if (row.paused_until) set_pool_timer(pool, *row.paused_until);
  });
  if (!read) return read;
  if (wrong)
    return Error::internal("a launch configuration in the store cannot be read: " + wrong->message);
  for (auto& [pool, specs] : current) {
    if (!pools_[pool].spec) continue;
    auto whole = std::make_shared<PoolSpec>(*pools_[pool].spec);
    whole->launch_configs = std::move(specs);
    pools_[pool].spec = whole;
    if (const auto made = api_pools_.find(whole->worker_pool_id); made != api_pools_.end())
      made->second = whole;
  }
  return {};
}

Result<void> Fleet::load_worker_facts(const store::Store& store) {
  return store::read_rows<WorkerFactsRow>(store, [&](WorkerFactsRow row) {
    if (auto facts = read_reported(json::value(std::move(row.facts))))
      reported_[row.number] = std::move(*facts);
  });
}

Result<void> Fleet::load_workers(const store::Store& store) {
  std::optional<Error> wrong;
  std::map<std::pair<Index, LaunchConfigId>, Index> launch_configs;
  for (Index at = 0; at < launch_configs_.size(); ++at)
    launch_configs.emplace(std::pair(launch_configs_[at].pool,
                                     launch_configs_[at].spec->launch_config.launch_config_id),
                           at);
  auto read = store::read_rows<WorkerRow>(store, [&](WorkerRow row) {
    const auto pool = pool_index_.find(row.worker_pool_id);
    const auto launch_config = pool == pool_index_.end()
                                   ? launch_configs.end()
                                   : launch_configs.find({pool->second, row.launch_config_id});
    if (launch_config == launch_configs.end()) {
      wrong = Error::internal("worker " + std::to_string(row.number) +
                              " in the store is of a launch configuration that is not there");
      return;
    }
    Worker worker;
    worker.number = row.number;
    worker.pool = pool->second;
    worker.launch_config = launch_config->second;
    worker.provider = launch_configs_[launch_config->second].provider;
    worker.state = row.state;
    worker.phase = row.phase;
    worker.drain = row.drain;
    worker.capacity = static_cast<std::int32_t>(row.capacity);
    worker.working = static_cast<std::int32_t>(row.busy);
    worker.busy = capacity_at_work(worker, row.busy);
    worker.epoch = row.epoch;
    worker.attempts = static_cast<std::uint8_t>(std::clamp<std::int64_t>(row.attempts, 0, 200));
    worker.price = row.price;
    worker.created = row.created;
    worker.since = row.since;
    worker.registered = row.registered.value_or(Time{});
    worker.credentials_expire = row.credentials_expire.value_or(Time{});
    worker.last_active = row.last_active.value_or(Time{});
    worker.idle_since = row.idle_since.value_or(Time{});
    worker.interruption = row.interruption.value_or(Time{});
    worker.quarantined_until = row.quarantined_until.value_or(Time{});
    worker.reason = std::move(row.reason);
    worker.provider_data = std::move(row.provider_data);
    worker.expires = row.expires.value_or(Time{});
    worker.last_modified = row.last_modified.value_or(row.since);
    worker.secret = digest_from(row.secret_digest);
    worker.next_secret = digest_from(row.next_secret_digest);
    worker.origin = row.origin;
    if (!row.worker_id.empty()) {
      worker.group = index_of_group(row.worker_group.str());
      worker.worker_id = row.worker_id.str();
    }
    // Its call may have gone out before the host ended: a listing tells.
    const bool in_doubt =
        worker.phase == LaunchPhase::intended && worker.state != WorkerState::stopped;
    if (in_doubt) {
      worker.phase = LaunchPhase::uncertain;
      worker.lost = false;
    }
    worker.claimed = worker.busy > 0 || worker.idle_since != Time{};
    // What they were told stands until their documents are judged again.
    if (worker.drain == Drain::outdated && worker.state == WorkerState::running)
      launch_configs_[worker.launch_config].outdated = worker.reason;
    const Index index = add_worker(std::move(worker));
    if (workers_[index].state == WorkerState::requested && has_instance(workers_[index]))
      launch_configs_[workers_[index].launch_config].unregistered.push_back(index);
    set_timer(index);
  });
  if (!read) return read;
  if (wrong) return *wrong;
  return {};
}

Result<void> Fleet::load_holds(const store::Store& store) {
  return store::read_rows<HoldRow>(store,
                                   [&](const HoldRow& row) { holds_.restore(from_row(row)); });
}

store::Batch Fleet::everything() const {
  store::Batch rows;
  rows.emplace_back(store::put(HostRow{"hostId", host_id_}));
  rows.emplace_back(store::put(HostRow{"epoch", std::to_string(epoch_)}));
  rows.emplace_back(store::put(HostRow{"nextNumber", std::to_string(reserved_)}));
  rows.emplace_back(store::put(HostRow{"nextEvent", std::to_string(next_event_)}));
  for (const auto& [id, row] : api_rows_) rows.emplace_back(store::put(row));
  for (const Pool& pool : pools_)
    if (!pool.removed()) rows.emplace_back(store::put(row_of(pool)));
  for (const LaunchConfigState& launch_config : launch_configs_)
    if (!launch_config.removed()) {
      rows.emplace_back(store::put(row_of(launch_config)));
      if (launch_config.times) rows.emplace_back(store::put(times_row_of(launch_config)));
    }
  for (const Worker& worker : workers_)
    if (worker.number != 0) rows.emplace_back(store::put(row_of(worker)));
  for (const auto& [number, facts] : reported_)
    rows.emplace_back(store::put(WorkerFactsRow{number, codec::to_value(facts).as_object()}));
  for (const bidding::Hold& hold : holds_.all()) rows.emplace_back(store::put(to_row(hold)));
  std::ranges::move(queue_->everything(), std::back_inserter(rows));
  return rows;
}

}  // namespace muster::fleet
