#include "host/fleet/workers/worker_rows.hpp"

#include <algorithm>

#include "host/fleet/workers/worker_table.hpp"
#include "host/store/row.hpp"
#include "lib/base/secret.hpp"

namespace muster::fleet {
namespace {

std::string digest_text(const Sha256& digest) {
  return digest == Sha256{} ? "" : to_hex(digest);
}

// All zero if there is none.
Sha256 digest_from(const std::string& text) {
  return sha256_from_hex(text).value_or(Sha256{});
}

}  // namespace

WorkerRow WorkerTable::row_of(const Worker& worker) const {
  return {.number = worker.number,
          .worker_pool_id = registry_.pools()[worker.pool].id,
          .launch_config_id =
              registry_.launch_configs()[worker.launch_config].spec->launch_config.launch_config_id,
          .provider_id = registry_.providers()[worker.provider].id,
          .worker_group =
              WorkerGroup(worker.group == no_index ? "" : registry_.group_name(worker.group)),
          .worker_id = WorkerId(worker.worker_id),
          .state = worker.state,
          .phase = worker.phase,
          .drain = worker.drain,
          .capacity = worker.capacity,
          .busy = worker.working,
          .epoch = worker.epoch,
          .attempts = worker.attempts,
          .price = worker.price,
          .created = worker.created,
          .since = worker.since,
          .registered = store::known_time(worker.registered),
          .credentials_expire = store::known_time(worker.credentials_expire),
          .last_active = store::known_time(worker.last_active),
          .idle_since = store::known_time(worker.idle_since),
          .interruption = store::known_time(worker.interruption),
          .quarantined_until = store::known_time(worker.quarantined_until),
          .reason = worker.reason,
          .provider_data = worker.provider_data,
          .expires = store::known_time(worker.expires),
          .last_modified = store::known_time(worker.last_modified),
          .secret_digest = digest_text(worker.secret),
          .next_secret_digest = digest_text(worker.next_secret),
          .origin = worker.origin,
          .registration_key_digest = digest_text(worker.registration_key)};
}

void WorkerTable::write_rows(store::Batch& out) {
  for (const Index index : dirty_) {
    Worker& worker = workers_[index];
    worker.dirty = false;
    if (worker.number != 0) out.emplace_back(store::put(row_of(worker)));
  }
  dirty_.clear();
}

void WorkerTable::write_everything(store::Batch& out) const {
  for (const Worker& worker : workers_)
    if (worker.number != 0) out.emplace_back(store::put(row_of(worker)));
}

Worker worker_from(WorkerRow row) {
  Worker worker;
  worker.number = row.number;
  worker.state = row.state;
  worker.phase = row.phase;
  worker.drain = row.drain;
  worker.capacity = static_cast<std::int32_t>(row.capacity);
  worker.working = static_cast<std::int32_t>(row.busy);
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
  worker.registration_key = digest_from(row.registration_key_digest);
  // Its call may have gone out before the host ended: a listing tells.
  if (worker.phase == LaunchPhase::intended && worker.state != WorkerState::stopped)
    worker.phase = LaunchPhase::uncertain;
  worker.worker_id = row.worker_id.str();
  return worker;
}

}  // namespace muster::fleet
