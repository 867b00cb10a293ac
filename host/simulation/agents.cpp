// What workers do: register, renew, work, and leave when they are told.
#include <algorithm>

#include "host/simulation/parts.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto retry = 30s;
constexpr auto asks_every = 60s;
constexpr auto reports_every = 5min;  // while it is busy, as agents do

}  // namespace

// The machine is there and nobody took it away.
bool World::exists(const Agent& agent) const {
  if (agent.gone) return false;
  const auto& machines = agent.cloud->cloud.state().machines;
  const auto machine = machines.find(agent.instance.worker_id.str());
  if (machine == machines.end() || machine->second.terminated) return false;
  return !machine->second.interruption || true_time() < machine->second.interruption->at;
}

void World::boot(Cloud& cloud, const Instance& instance) {
  auto agent = std::make_shared<Agent>();
  agent->cloud = &cloud;
  agent->instance = instance;
  agent->secret = sha256(instance.worker_id.str());
  agent->name = {instance.worker_pool_id, instance.worker_group, instance.worker_id};
  if (!exists(*agent)) return;
  if (const auto& taken = cloud.cloud.state().machines.at(instance.worker_id.str()).interruption)
    at(now_ + std::chrono::duration_cast<milliseconds>(taken->at - true_time()),
       [this, agent] { leave(agent, false); });
  agents_[{cloud.scenario.provider_id, instance.worker_id.str()}] = agent;
  try_register(agent);
  if (!calm_ && random_.happens(scenario_.faults.dies_per_hour))
    after(random_.between(1min, 1h), [this, agent] { leave(agent, false); });
}

std::optional<Error> World::take_credentials(Agent& agent,
                                             const Result<fleet::Registered>& answer) {
  if (!answer) return answer.error();
  agent.credentials_expire = answer->credentials_expire;
  return std::nullopt;
}

void World::try_register(const std::shared_ptr<Agent>& agent) {
  if (!exists(*agent)) return leave(agent, false);
  std::optional<Error> refused = Error::transient("the host is down");
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    const auto answer =
        fleet.register_worker(agent->name, agent->cloud->scenario.provider_id, agent->secret, now);
    refused = take_credentials(*agent, answer);
    agent->registered |= !refused;
  });
  if (refused && refused->code == "gone") return leave(agent, true);
  if (refused) return after(retry, [this, agent] { try_register(agent); });
  note("registered");
  after(renewal(*agent), [this, agent] { renew(agent); });
  keep_reporting(agent);
  work(agent);
  if (agent->tasks.empty()) after(asks_every, [this, agent] { idle(agent); });
}

// Half-way to the end of the credentials, as the host's clock has it.
milliseconds World::renewal(const Agent& agent) const {
  return std::max<milliseconds>(1min, (agent.credentials_expire - host_now().wall) / 2);
}

void World::renew(const std::shared_ptr<Agent>& agent) {
  if (!exists(*agent)) return leave(agent, false);
  std::optional<Error> refused = Error::transient("the host is down");
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    const auto answer = fleet.reregister_worker(agent->name, agent->secret, agent->secret, now);
    refused = take_credentials(*agent, answer);
  });
  // The host may have lost what it knew of it: the agent registers again, and works on.
  if (refused && refused->code != "gone" && refused->error_class != ErrorClass::transient)
    tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
      refused = take_credentials(
          *agent, fleet.register_worker(agent->name, agent->cloud->scenario.provider_id,
                                        agent->secret, now));
    });
  if (refused && refused->code == "gone") {
    agent->leaving = true;
    note_room(agent);
    if (agent->tasks.empty()) leave(agent, true);
    return;
  }
  after(refused ? milliseconds(retry) : renewal(*agent), [this, agent] { renew(agent); });
}

void World::keep_reporting(const std::shared_ptr<Agent>& agent) {
  if (agent->gone || !exists(*agent)) return;
  report_activity(agent);
  after(reports_every, [this, agent] { keep_reporting(agent); });
}

void World::report_activity(const std::shared_ptr<Agent>& agent) {
  if (hears()) agent->told = now_;
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    (void)fleet.worker_active(agent->name, static_cast<std::int64_t>(agent->tasks.size()), now);
  });
}

// Keeps the list of those that could take work, so that nobody has to look at all of them.
void World::note_room(const std::shared_ptr<Agent>& agent) {
  const bool free = agent->registered && !agent->leaving && !agent->gone &&
                    static_cast<std::int64_t>(agent->tasks.size()) < agent->instance.capacity;
  if (free == agent->free) return;
  agent->free = free;
  const AgentKey key{agent->cloud->scenario.provider_id, agent->instance.worker_id.str()};
  if (free)
    free_[agent->name.worker_pool_id].emplace(key, agent);
  else
    free_[agent->name.worker_pool_id].erase(key);
}

bool World::work(const std::shared_ptr<Agent>& agent) {
  if (!agent->registered || agent->leaving || !exists(*agent)) return false;
  auto& queue = waiting_[agent->name.worker_pool_id];
  bool took = false;
  while (!queue.empty() &&
         static_cast<std::int64_t>(agent->tasks.size()) < agent->instance.capacity) {
    Task task = queue.front();
    queue.pop_front();
    PoolReport& report = report_.pools[agent->name.worker_pool_id];
    if (!task.began) report.waits.push_back(now_ - task.arrived);
    task.began = true;
    const std::uint64_t id = agent->next_task++;
    agent->tasks.emplace(id, task);
    after(task.length, [this, agent, id] { finish(agent, id); });
    took = true;
  }
  note_room(agent);
  if (!took) return false;
  demand_told_ = false;
  report_activity(agent);
  tell_demand();
  return true;
}

void World::finish(const std::shared_ptr<Agent>& agent, std::uint64_t id) {
  const auto task = agent->tasks.find(id);
  if (task == agent->tasks.end()) return;
  if (!exists(*agent)) return leave(agent, false);
  agent->tasks.erase(task);
  ++report_.pools[agent->name.worker_pool_id].done;
  if (agent->leaving && agent->tasks.empty()) return leave(agent, true);
  if (!work(agent)) report_activity(agent);
  note_room(agent);
  if (agent->tasks.empty()) after(asks_every, [this, agent] { idle(agent); });
}

void World::idle(const std::shared_ptr<Agent>& agent) {
  if (agent->gone || !agent->tasks.empty()) return;
  if (!exists(*agent)) return leave(agent, false);
  bool ends = false;
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    const auto answer = fleet.should_terminate(agent->name, now);
    ends = answer && answer->terminate;
  });
  if (ends) return leave(agent, true);
  after(asks_every, [this, agent] { idle(agent); });
}

// What it was at goes back to the others.
void World::leave(const std::shared_ptr<Agent>& agent, bool tells) {
  if (agent->gone) return;
  for (const auto& [id, task] : agent->tasks)
    if (!calm_) waiting_[agent->name.worker_pool_id].push_front(task);
  const bool had_work = !agent->tasks.empty();
  report_.pools[agent->name.worker_pool_id].interrupted +=
      static_cast<std::int64_t>(agent->tasks.size());
  agent->tasks.clear();
  agent->leaving = true;
  note_room(agent);
  if (tells)
    tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
      (void)fleet.remove_worker(agent->name, "it left", now);
    });
  agent->gone = true;
  // The machine shuts itself down, by nobody's leave.
  Cloud& cloud = *agent->cloud;
  const auto& epochs = cloud.cloud.state().epochs;
  std::int64_t epoch = 0;
  for (const auto& [owner, newest] : epochs) epoch = std::max(epoch, newest);
  (void)cloud.cloud.terminate(
      {.owner = {"simulated", cloud.scenario.provider_id, epoch},
       .workers = {{agent->instance.worker_group, agent->instance.worker_id, {}}},
       .reason = "it shut down"},
      CloudContext(true_time()));
  agents_.erase({cloud.scenario.provider_id, agent->instance.worker_id.str()});
  if (!had_work) return;
  demand_told_ = false;
  hand_out(agent->name.worker_pool_id);
  tell_demand();
}

void World::arrive(const Arrival& arrival) {
  if (calm_) return;
  auto& queue = waiting_[arrival.worker_pool_id];
  for (std::int64_t i = 0; i < arrival.tasks; ++i) queue.push_back({now_, arrival.each});
  report_.pools[arrival.worker_pool_id].tasks += arrival.tasks;
  demand_told_ = false;
  hand_out(arrival.worker_pool_id);
  tell_demand();
}

void World::hand_out(const WorkerPoolId& pool) {
  // A worker that takes work may drop out of the list.
  std::vector<std::shared_ptr<Agent>> free;
  const auto enough = waiting_[pool].size();
  for (const auto& [key, agent] : free_[pool]) {
    if (free.size() >= enough) break;
    if (exists(*agent)) free.push_back(agent);
  }
  for (const auto& agent : free)
    if (!waiting_[pool].empty()) work(agent);
}

void World::tell_demand() {
  if (demand_told_ || !hears()) return;
  demand_told_ = true;
  fleet::Demand demand;
  for (const auto& [pool, tasks] : waiting_)
    if (!tasks.empty()) demand[pool].pending = static_cast<std::int64_t>(tasks.size());
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) { fleet.demand_changed(demand, now); });
}

}  // namespace muster::simulation
