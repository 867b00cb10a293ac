// What must hold at every step, and at the end.
#include <algorithm>
#include <limits>

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

// A limit may come, or be lowered below what is there; then nothing may be added.
void World::limit(const std::string& name, const fleet::Totals& totals,
                  std::optional<std::int64_t> most) {
  constexpr auto unlimited = std::numeric_limits<std::int64_t>::max();
  const std::int64_t used = used_of(name, totals, most.value_or(unlimited));
  if (most && used > *most && used > used_before_[name])
    violated(name + " has " + std::to_string(used) + " of at most " + std::to_string(*most));
  used_now_[name] = used;
}

// What the host believes to have, or what the clouds really have if that is more. What it found
// beside the limits was not launched beyond them: of that, only what really is there counts.
std::int64_t World::used_of(const std::string& name, const fleet::Totals& totals,
                            std::int64_t most) const {
  const auto real = machines_.find(name);
  std::int64_t believed = totals.used() - totals.ending;
  if (believed > most) believed -= found_of(name);
  return std::max(believed, real == machines_.end() ? 0 : real->second);
}

std::int64_t World::found_of(const std::string& name) const {
  std::int64_t found = 0;
  for (const fleet::Worker& worker : fleet_->workers()) {
    if (!fleet::is_alive(worker) || worker.state == fleet::WorkerState::stopping ||
        !fleet::has_instance(worker) || launched_.contains(fleet_->key_of(worker).str()))
      continue;
    const fleet::LaunchConfigSpec& spec = *fleet_->launch_configs()[worker.launch_config].spec;
    if (name == "pool " + fleet_->pools()[worker.pool].id.str() ||
        name == "launch configuration " + spec.launch_config.launch_config_id.str() ||
        name == "provider " + spec.provider_id.str())
      found += worker.capacity;
  }
  return found;
}

// Without those that a cloud made although nobody asked, and those that nobody can know of: no
// listing shows them, and they never speak.
void World::count_machines() {
  machines_.clear();
  for (auto& [id, cloud] : clouds_) {
    const auto& machines = cloud->cloud.state().machines;
    for (auto at = cloud->alive.begin(); at != cloud->alive.end();) {
      const auto machine = machines.find(*at);
      if (machine == machines.end() || ended(machine->second, true_time())) {
        at = cloud->alive.erase(at);
        continue;
      }
      const Instance& instance = machine->second.instance;
      if (!twins_.contains(*at) && !(cloud->silent.contains(*at) && cloud->hidden.contains(*at)))
        for (const std::string& name :
             {"pool " + instance.worker_pool_id.str(),
              "launch configuration " + instance.launch_config_id.str(), "provider " + id.str()})
          machines_[name] += instance.capacity;
      ++at;
    }
  }
}

void World::check() {
  if (const std::string wrong = fleet_->check_sums(); !wrong.empty()) violated("wrong: " + wrong);
  check_queue();
  count_machines();
  for (const fleet::Pool& pool : fleet_->pools())
    if (!pool.removed()) check_limits(pool);
  for (const fleet::ProviderState& provider : fleet_->providers())
    limit("provider " + provider.id.str(), provider.totals, provider.settings.max_capacity);
  // To explain all of them costs more than most steps do: one after the other.
  const auto& pools = fleet_->pools();
  if (pools.empty()) return;
  const fleet::Pool& pool = pools[static_cast<std::size_t>(report_.steps) % pools.size()];
  if (!pool.removed()) check_explanations(pool);
}

void World::check_limits(const fleet::Pool& pool) {
  limit("pool " + pool.id.str(), pool.totals,
        pool.spec ? std::optional(pool.spec->settings.max_capacity) : std::nullopt);
  for (const fleet::Index index : pool.launch_configs) {
    const fleet::LaunchConfigState& launch_config = fleet_->launch_configs()[index];
    limit("launch configuration " + launch_config.spec->launch_config.launch_config_id.str(),
          launch_config.totals, launch_config.spec->max_capacity);
  }
}

void World::check_explanations(const fleet::Pool& pool) {
  check_verdict("pool " + pool.id.str(), fleet_->verdict_of(pool, host_now()));
  const fleet::Weights weights = fleet_->weights_of(pool, host_now().wall);
  for (const auto& [index, weight] : weights) {
    const fleet::LaunchConfigState& launch_config = fleet_->launch_configs()[index];
    check_verdict(
        "launch configuration " + launch_config.spec->launch_config.launch_config_id.str(),
        fleet_->verdict_of(index, weights, host_now()));
    if (!(weight.value >= 0 && weight.value <= 1) || weight.arithmetic.empty())
      violated("a weight of " + std::to_string(weight.value) + " (" + weight.arithmetic + ")");
  }
}

// A worker that lives, and tells the host so, has not vanished, whatever the listings say.
void World::check_vanished(const events::Event& happening) {
  constexpr auto long_enough = std::chrono::minutes(20);
  constexpr auto lately = std::chrono::minutes(5);
  if (!happening.text.starts_with("it vanished")) return;
  const auto found = agents_.find({happening.provider_id, happening.worker_id.str()});
  if (found == agents_.end() || !found->second->registered || !exists(*found->second)) return;
  if (now_ - host_heard_since_ > long_enough && now_ - found->second->told <= lately)
    violated("worker " + happening.worker_id.str() + " lives, and " + happening.text);
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
