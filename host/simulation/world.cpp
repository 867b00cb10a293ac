#include "host/simulation/world.hpp"

#include <algorithm>
#include <utility>

#include "host/fleet/model/rows.hpp"
#include "host/queue/queue.hpp"
#include "host/simulation/parts.hpp"
#include "host/store/row.hpp"
#include "lib/base/secret.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

const Time birth = Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1));

}  // namespace

World::World(Scenario scenario, std::map<std::string, BiddingStrategy*> strategies)
    : scenario_(std::move(scenario)),
      strategies_(std::move(strategies)),
      random_(scenario_.seed),
      fault_random_(scenario_.seed + 2),
      client_random_(scenario_.seed + 1),
      store_(std::make_unique<store::MemoryStore>()) {
  for (const ProviderScenario& provider : scenario_.providers)
    clouds_.emplace(provider.provider_id, std::make_unique<Cloud>(provider));
}

World::~World() = default;

void World::at(milliseconds when, std::function<void()> act) {
  events_.push_back({std::max(when, now_), next_order_++, std::move(act)});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

World::Event World::next_event() {
  std::pop_heap(events_.begin(), events_.end(), std::greater<>());
  Event event = std::move(events_.back());
  events_.pop_back();
  return event;
}

// One after the other: a long trace is not a long queue of events.
void World::next_arrival(std::size_t index) {
  if (index == scenario_.arrivals.size()) return void(all_arrived_ = true);
  at(scenario_.arrivals[index].at, [this, index] {
    arrive(scenario_.arrivals[index]);
    next_arrival(index + 1);
  });
}

Time World::true_time() const {
  return birth + now_;
}

fleet::Now World::host_now() const {
  return {birth + now_ + wall_offset_, now_};
}

// FNV-1a over everything that happens: one difference anywhere is another number at the end.
void World::note(const std::string& what) {
  const auto mix = [&](unsigned char byte) { trace_ = (trace_ ^ byte) * 1099511628211u; };
  for (const char c : what) mix(static_cast<unsigned char>(c));
  const std::string time = std::to_string(now_.count());
  for (const char c : time) mix(static_cast<unsigned char>(c));
}

Report World::run(const std::function<void(milliseconds)>& progress) {
  start_host();
  next_arrival(0);
  for (std::size_t i = 1; i < scenario_.configurations.size(); ++i)
    at(scenario_.configurations[i].at, [this, i] {
      configuration_ = i;
      tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
        fleet.configure(scenario_.configurations[i].configuration, now);
      });
      configured_ = hears();
    });
  if (scenario_.leases_per_hour > 0) next_client();
  if (scenario_.faults.clock_jumps_per_hour > 0) after(1h, [this] { jump_clock(); });
  next_lie();
  next_freeze();
  if (scenario_.faults.restores_per_hour > 0) next_restore();
  next_crash();
  sample();
  milliseconds end = scenario_.duration + (scenario_.ends_by_draining ? scenario_.wind_down : 0ms);
  if (scenario_.ends_by_draining) at(scenario_.duration, [this] { wind_down(); });
  while (!events_.empty() && events_.front().at <= end && report_.violations.size() < 5) {
    Event event = next_event();
    now_ = event.at;
    event.act();
    ++report_.steps;
    if (progress && report_.steps % 1024 == 0) progress(now_);
    if (scenario_.ends_when_done && done()) end = now_;
    if (calm_ && report_.steps % 256 == 0 && nothing_left()) end = std::min(end, now_ + 10min);
  }
  now_ = end;
  if (scenario_.ends_by_draining) check_end();
  conclude();
  return std::move(report_);
}

void World::conclude() {
  report_.end = now_;
  count_costs(true);
  for (const auto& [pool, tasks] : waiting_)
    for (const Task& task : tasks)
      if (!task.began) report_.pools[pool].waiting.push_back(now_ - task.arrived);
  if (fleet_)
    for (const fleet::Pool& pool : fleet_->pools()) {
      if (pool.removed()) continue;
      report_.pools[pool.id].verdict = pool.verdict.text;
      report_.pools[pool.id].verdict_kind = pool.verdict.kind;
    }
  report_.digest = to_hex(sha256(std::to_string(trace_) + store_->digest())).substr(0, 16);
}

// No work is left, and no machine but those that a pool keeps whatever the demand.
bool World::done() const {
  if (!all_arrived_ || !fleet_) return false;
  const auto empty = [](const auto& queue) { return queue.second.empty(); };
  if (!std::all_of(waiting_.begin(), waiting_.end(), empty)) return false;
  for (const fleet::Pool& pool : fleet_->pools()) {
    const bool keeps = pool.spec && (pool.spec->settings.min_capacity > 0 ||
                                     pool.spec->lifecycle.warm_capacity > 0);
    if (!keeps && pool.totals.workers > 0) return false;
  }
  return std::all_of(agents_.begin(), agents_.end(),
                     [](const auto& agent) { return agent.second->tasks.empty(); });
}

// What has to end has ended.
bool World::nothing_left() const {
  if (!hears() || !agents_.empty() || fleet_->queue().waiting() != 0) return false;
  const auto idle = [](const queue::Team& team) { return team.leases == 0; };
  return std::ranges::none_of(fleet_->workers(), fleet::is_alive) &&
         std::ranges::all_of(fleet_->queue().teams(), idle) &&
         std::ranges::all_of(clouds_,
                             [](const auto& cloud) { return cloud.second->alive.empty(); });
}

// Nothing is wanted and nothing fails any more: whatever is there has to end.
void World::wind_down() {
  if (!hears() && fleet_) hear_again();
  calm_ = true;
  waiting_.clear();
  for (auto& [id, cloud] : clouds_) cloud->down_until = 0ms;
  static const auto nothing = std::make_shared<const fleet::Configuration>();
  scenario_.configurations.push_back({now_, nothing});
  configuration_ = scenario_.configurations.size() - 1;
  tell_fleet([&](fleet::Fleet& fleet, fleet::Now now) {
    fleet.configure(nothing, now);
    fleet.demand_changed({}, now);
  });
}

void World::start_host() {
  ++incarnation_;
  fleet::Settings settings = scenario_.settings;
  settings.list_before_launches = std::exchange(lost_changes_, false);
  auto loaded = fleet::Fleet::load(*store_, std::move(settings), "simulated", host_now());
  if (!loaded) return violated("the store cannot be loaded: " + loaded.error().message);
  fleet_ = std::move(*loaded);
  host_heard_since_ = now_;
  deaf_ = false;
  configured_ = true;
  check();
  for (auto& [id, cloud] : clouds_)
    fleet_->provider_up({.provider_id = id,
                         .settings = cloud->scenario.settings,
                         .field_classes = {{"simulated.image"}, {"simulated.instanceType"}, {}},
                         .has_notices = cloud->scenario.has_notices},
                        host_now());
  fleet_->configure(scenario_.configurations[configuration_].configuration, host_now());
  demand_told_ = false;
  tell_demand();
}

void World::crash_host() {
  note("crash");
  used_now_ = used_before_;
  ++report_.crashes;
  fleet_.reset();
  unsaved_.reset();
  ++incarnation_;
  pumped_for_ = -1ms;
  after(random_.between(1s, 120s), [this] { start_host(); });
}

// Lets the fleet decide, makes its changes durable, and only then asks its questions; a crash may
// come between any two of these.
void World::pump() {
  if (!hears()) return;
  fleet::Outcome outcome = fleet_->settle(host_now());
  for (const events::Event& happening : outcome.events) {
    note(happening.kind + happening.text);
    ++report_.happenings[happening.kind];
    if (happening.worker_pool_id.empty()) continue;  // of a provider, not of a pool
    PoolReport& pool = report_.pools[happening.worker_pool_id];
    if (happening.kind == "worker-launched") ++pool.launches;
    if (happening.kind == "worker-error") ++pool.launch_errors;
    if (happening.kind == "worker-stopping") check_vanished(happening);
  }
  if (report_.steps % scenario_.check_every == 0) check();
  const Faults& faults = scenario_.faults;
  if (!calm_ && !outcome.changes.empty() && fault_random_.happens(faults.commit_fails)) {
    if (fault_random_.happens(faults.commit_torn) && !commit(outcome.changes)) return;
    unsaved_ = std::move(outcome);
    return be_deaf(fault_random_.between(1s, faults.longest_deafness), "the store takes nothing");
  }
  if (commit(outcome.changes)) carry_out(std::move(outcome.questions));
}

void World::carry_out(std::vector<fleet::Question> questions) {
  for (fleet::Question& question : questions) ask(std::move(question));
  const Time wake = fleet_->next_wake();
  if (wake == Time::max()) return;
  const milliseconds due =
      std::max(now_ + 1ms, std::chrono::duration_cast<milliseconds>(wake - birth) - wall_offset_);
  if (pumped_for_ >= 0ms && pumped_for_ > now_ && pumped_for_ <= due) return;
  pumped_for_ = due;
  at(due, [this, incarnation = incarnation_, due] {
    if (incarnation != incarnation_ || pumped_for_ != due || !hears()) return;
    pumped_for_ = -1ms;
    pump();
  });
}

bool World::commit(const store::Batch& changes) {
  if (changes.empty()) return true;
  ++report_.commits;
  const bool crashes =
      !calm_ && (std::exchange(crash_is_due_, false) || random_.happens(scenario_.faults.crash));
  if (crashes && random_.happens(0.5)) return crash_host(), false;
  if (const auto done = store_->commit(changes); !done)
    violated("the store refuses a batch: " + done.error().message);
  used_before_ = used_now_;
  for (const store::Change& change : changes) {
    const auto* put = std::get_if<store::Put>(&change);
    if (!put || put->table != &store::table_of<fleet::WorkerRow>) continue;
    const auto row = store::from_values<fleet::WorkerRow>(put->row);
    if (!row) {
      violated("a row cannot be read: " + row.error().message);
      continue;
    }
    intents_.insert("simulated-" + std::to_string(row->epoch) + "-" + std::to_string(row->number));
  }
  if (crashes) return crash_host(), false;
  return true;
}

void World::jump_clock() {
  if (calm_) return;
  if (random_.happens(scenario_.faults.clock_jumps_per_hour)) {
    wall_offset_ += random_.between(-scenario_.faults.largest_jump, scenario_.faults.largest_jump);
    note("clock jump");
    host_heard_since_ = now_;
    pumped_for_ = -1ms;
    pump();
  }
  after(1h, [this] { jump_clock(); });
}

void World::sample() {
  Sample taken{.at = now_};
  std::int64_t workers = 0;
  for (const auto& [pool, tasks] : waiting_)
    taken.pending += static_cast<std::int64_t>(tasks.size());
  if (fleet_)
    for (const fleet::Pool& pool : fleet_->pools()) {
      if (pool.removed()) continue;
      taken.requested += pool.totals.requested;
      taken.running += pool.totals.running + pool.totals.draining;
      PoolReport& report = report_.pools[pool.id];
      report.workers_most = std::max(report.workers_most, pool.totals.workers);
      workers += pool.totals.workers;
    }
  report_.workers_most = std::max(report_.workers_most, workers);
  report_.samples.push_back(taken);
  if (report_.samples.size() % 60 == 0) count_costs(false);
  after(1min, [this] { sample(); });
}

// A cloud forgets its machines a day after they are gone.
void World::count_costs(bool all) {
  for (auto& [id, cloud] : clouds_)
    for (const auto& [worker, machine] : cloud->cloud.state().machines)
      if (all || ended(machine, true_time())) count_cost(*cloud, machine);
}

// By the price at its launch, from its launch to its end.
void World::count_cost(Cloud& cloud, const simulated::Machine& machine) {
  if (!cloud.counted.insert(machine.instance.worker_id.str()).second) return;
  Time end = machine.terminated.value_or(true_time());
  if (machine.interruption) end = std::min(end, machine.interruption->at);
  const double hours =
      std::chrono::duration<double, std::ratio<3600>>(end - machine.instance.created).count();
  const simulated::InstanceType* type = cloud.scenario.cloud.find_type(machine.instance_type);
  PoolReport& pool = report_.pools[machine.instance.worker_pool_id];
  pool.machine_hours += std::max(0.0, hours);
  if (type)
    pool.cost += std::max(0.0, hours) * simulated::price_at(cloud.scenario.cloud, machine.zone,
                                                            *type, machine.instance.created);
}

}  // namespace muster::simulation
