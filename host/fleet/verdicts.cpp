// Why something is where it is.
#include <algorithm>

#include "host/fleet/changing.hpp"
#include "host/fleet/queue_facts.hpp"
#include "host/queue/queue.hpp"

namespace muster::fleet {

queue::Verdict Fleet::verdict_of(const queue::Request& request, Now now) const {
  queue::Situation situation = queue_->situation_of(request);
  const Worker* worker = find_worker(situation.worker_number);
  if (worker && has_instance(*worker))
    situation.worker = "worker " + groups_[worker->group] + "/" + worker->worker_id + " of " +
                       pools_[worker->pool].id.str();
  if (situation.held) return queue::judge(situation, now.wall);
  const queue::Waiting candidates = queue_->candidates_of(request);
  const auto look_at = [&](const Pool& pool) {
    queue::Outlook outlook{.pool = pool.id};
    for (const Index at : pool.launch_configs) {
      const LaunchConfigState& state = launch_configs_[at];
      if (state.status == LaunchConfigStatus::archived ||
          !promised_by(*state.spec).serves(candidates.tags, request.needs))
        continue;
      outlook.largest_worker = std::max(outlook.largest_worker, instance_capacity(*state.spec));
      outlook.launching += state.totals.requested;
    }
    if (outlook.largest_worker == 0) return;
    if (outlook.launching > 0 && pool.start_time.count() > 0)
      outlook.ready = now.wall + pool.start_time;
    outlook.blocked = pool.verdict.kind == VerdictKind::blocked;
    outlook.text = pool.verdict.text;
    outlook.until = pool.verdict.until;
    outlook.owner = pool.spec->owner;
    situation.outlooks.push_back(std::move(outlook));
  };
  for (const WorkerPoolId& id : candidates.pools)
    if (const Pool* pool = find_pool(id); pool && pool->spec) look_at(*pool);
  if (candidates.shared)
    for (const Pool& pool : pools_) {
      const queue::TeamPool* known = queue_->find_pool(pool.id);
      if (!pool.removed() && pool.spec && !(known && known->dedicated)) look_at(pool);
    }
  return queue::judge(situation, now.wall);
}

}  // namespace muster::fleet
