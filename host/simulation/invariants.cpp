// What must hold at every step, and at the end.
#include <algorithm>

#include <muster/enum_name.hpp>

#include "host/fleet/fleet.hpp"
#include "host/queue/queue.hpp"
#include "host/simulation/parts.hpp"

namespace muster::simulation {

void World::violated(const std::string& what) {
  if (report_.violations.size() < 5)
    report_.violations.push_back("at " + std::to_string(now_.count()) + " ms: " + what);
}

// What is blocked says by what, and nothing else does.
void World::check_verdict(const std::string& subject, const verdict::Verdict& verdict) {
  const bool blocked = verdict.kind == verdict::Kind::blocked;
  if (verdict.text.empty() || blocked != verdict.obstacle.has_value())
    violated(subject + " has no verdict, or a wrong one: " + verdict.text);
}

void World::check() {
  if (const std::string wrong = fleet_->check_sums(); !wrong.empty()) violated("wrong: " + wrong);
  check_queue();
  // A limit may be lowered below what is there; then nothing may be added.
  const auto limit = [&](const std::string& name, std::int64_t used, std::int64_t most) {
    if (used > most && used > used_before_[name])
      violated(name + " has " + std::to_string(used) + " of at most " + std::to_string(most));
    used_now_[name] = used;
  };
  for (const fleet::Pool& pool : fleet_->pools()) {
    if (pool.removed()) continue;
    check_verdict("pool " + pool.id.str(), fleet_->verdict_of(pool, host_now()));
    if (pool.spec)
      limit("pool " + pool.id.str(), pool.totals.used(), pool.spec->settings.max_capacity);
    const fleet::Weights weights = fleet_->weights_of(pool, host_now().wall);
    for (const auto& [index, weight] : weights) {
      const fleet::LaunchConfigState& launch_config = fleet_->launch_configs()[index];
      check_verdict(
          "launch configuration " + launch_config.spec->launch_config.launch_config_id.str(),
          fleet_->verdict_of(index, weights, host_now()));
      if (!(weight.value >= 0 && weight.value <= 1) || weight.arithmetic.empty())
        violated("a weight of " + std::to_string(weight.value) + " (" + weight.arithmetic + ")");
      if (launch_config.spec->max_capacity)
        limit("launch configuration " + launch_config.spec->launch_config.launch_config_id.str(),
              launch_config.totals.used(), *launch_config.spec->max_capacity);
    }
  }
  for (const fleet::ProviderState& provider : fleet_->providers())
    if (provider.settings.max_capacity)
      limit("provider " + provider.id.str(), provider.totals.used(),
            *provider.settings.max_capacity);
}

// After the winding down nothing is left: no worker that lives, no machine that costs.
void World::check_end() {
  if (!fleet_) return violated("the host did not come back");
  for (const fleet::Worker& worker : fleet_->workers())
    if (fleet::is_alive(worker))
      violated("worker " + std::to_string(worker.number) + " did not end: " + worker.reason + " (" +
               name_of(worker.state) + ")");
  if (fleet_->queue().waiting() != 0) violated("a request still waits");
  for (const queue::Team& team : fleet_->queue().teams())
    if (team.leases != 0) violated("team " + team.id.str() + " still holds a worker");
  for (auto& [id, cloud] : clouds_)
    for (const auto& [worker_id, machine] : cloud->cloud.state().machines)
      if (!machine.terminated && (!machine.interruption || machine.interruption->at > true_time()))
        violated("machine " + worker_id + " of " + id.str() + " was left behind");
}

}  // namespace muster::simulation
