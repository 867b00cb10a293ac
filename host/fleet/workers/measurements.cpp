#include "host/fleet/workers/measurements.hpp"

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
void Measurements::measure(const Worker& worker, const Add& add) {
  LaunchConfigState& launch_config = launch_configs_[worker.launch_config];
  add(made(launch_config.times));
  add(made(pools_[worker.pool].times));
  if (!std::exchange(launch_config.times_dirty, true)) dirty_.push_back(worker.launch_config);
}

// Not of one whose start the host did not see in full: what it was deaf for is no boot time.
void Measurements::measure_start(const Worker& worker) {
  if (!clock_.listening().heard_all(worker.created, clock_.now())) return;
  measure(worker, [&](Times& times) {
    times.boot.add(worker.since - worker.created);
    times.registration.add(clock_.now() - worker.since);
    times.start.add(clock_.now() - worker.created);
  });
}

void Measurements::measure_lease(const Worker& worker, std::chrono::milliseconds lasted) {
  if (!clock_.listening().heard_all(clock_.now() - lasted, clock_.now())) return;
  measure(worker, [&](Times& times) { times.lease.add(lasted); });
}

TimesRow Measurements::row_of(const LaunchConfigState& launch_config) const {
  const Times& times = *launch_config.times;
  return {.worker_pool_id = pools_[launch_config.pool].id,
          .launch_config_id = launch_config.spec->launch_config.launch_config_id,
          .boot = times.boot.to_json(),
          .registration = times.registration.to_json(),
          .start = times.start.to_json(),
          .lease = times.lease.to_json()};
}

void Measurements::write_rows(store::Batch& out) {
  if (dirty_.empty() || (clock_.now() < written_ + times_written_every && clock_.now() >= written_))
    return;
  written_ = clock_.now();
  for (const Index index : std::exchange(dirty_, {})) {
    LaunchConfigState& launch_config = launch_configs_[index];
    launch_config.times_dirty = false;
    if (launch_config.times) out.emplace_back(store::put(row_of(launch_config)));
  }
}

void Measurements::write_everything(store::Batch& out) const {
  for (const LaunchConfigState& launch_config : launch_configs_)
    if (!launch_config.removed() && launch_config.times)
      out.emplace_back(store::put(row_of(launch_config)));
}

Result<void> Measurements::load(const store::Store& store) {
  return store::read_rows<TimesRow>(store, [&](const TimesRow& row) {
    const Index pool = registry_.find_pool_index(row.worker_pool_id);
    if (pool == no_index) return;
    const Index at = registry_.find_launch_config(pools_[pool], row.launch_config_id);
    if (at == no_index) return;
    for (auto [part, stored] :
         {std::pair(&Times::boot, &row.boot), std::pair(&Times::registration, &row.registration),
          std::pair(&Times::start, &row.start), std::pair(&Times::lease, &row.lease)}) {
      const auto read = verdict::Durations::from_json(*stored);
      made(launch_configs_[at].times).*part = read;
      for (const json::value& each : *stored)
        if (each.is_int64())
          (made(pools_[pool].times).*part).add(std::chrono::milliseconds(each.get_int64()));
    }
  });
}

}  // namespace muster::fleet
