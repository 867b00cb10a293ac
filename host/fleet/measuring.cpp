// How long workers take to start and how long they are held, for whoever asks when.
#include <algorithm>

#include "host/fleet/changing.hpp"
#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

// They change with every lease; after a crash the last minute of them is forgotten.
constexpr auto times_written_every = std::chrono::minutes(1);

Times& made(std::unique_ptr<Times>& times) {
  if (!times) times = std::make_unique<Times>();
  return *times;
}

}  // namespace

// Of its launch configuration and of its pool, which speaks for launch configurations that are new.
template <class Add>
void Fleet::measure(const Worker& worker, const Add& add) {
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  add(made(launch_config.times));
  add(made(pools_[worker.pool].times));
  if (!std::exchange(launch_config.times_dirty, true)) dirty_times_.push_back(worker.launch_config);
}

// It registers now. `since` is when its instance was known.
void Fleet::measure_start(const Worker& worker) {
  measure(worker, [&](Times& times) {
    times.boot.add(worker.since - worker.created);
    times.registration.add(now_.wall - worker.since);
    times.start.add(now_.wall - worker.created);
  });
}

void Fleet::measure_lease(const queue::LeaseTime& lease) {
  if (const Worker* worker = find_worker(lease.worker))
    measure(*worker, [&](Times& times) { times.lease.add(lease.lasted); });
}

TimesRow Fleet::times_row_of(const LaunchConfigState& launch_config) const {
  const Times& times = *launch_config.times;
  return {.worker_pool_id = pools_[launch_config.pool].id,
          .launch_config_id = launch_config.spec->launch_config.launch_config_id,
          .boot = times.boot.to_json(),
          .registration = times.registration.to_json(),
          .start = times.start.to_json(),
          .lease = times.lease.to_json()};
}

void Fleet::write_times() {
  if (dirty_times_.empty() ||
      (now_.wall < times_written_ + times_written_every && now_.wall >= times_written_))
    return;
  times_written_ = now_.wall;
  for (const Index index : std::exchange(dirty_times_, {})) {
    LaunchConfigState& launch_config = launch_configs_[index];
    launch_config.times_dirty = false;
    if (launch_config.times) outcome_.changes.emplace_back(store::put(times_row_of(launch_config)));
  }
}

Result<void> Fleet::load_times(const store::Store& store) {
  return store::read_rows<TimesRow>(store, [&](const TimesRow& row) {
    const auto pool = pool_index_.find(row.worker_pool_id);
    if (pool == pool_index_.end()) return;
    const Index at = find_launch_config(pools_[pool->second], row.launch_config_id);
    if (at == no_index) return;
    for (auto [part, stored] :
         {std::pair(&Times::boot, &row.boot), std::pair(&Times::registration, &row.registration),
          std::pair(&Times::start, &row.start), std::pair(&Times::lease, &row.lease)}) {
      const auto read = verdict::Durations::from_json(*stored);
      made(launch_configs_[at].times).*part = read;
      for (const json::value& each : *stored)
        if (each.is_int64())
          (made(pools_[pool->second].times).*part).add(std::chrono::milliseconds(each.get_int64()));
    }
  });
}

}  // namespace muster::fleet
