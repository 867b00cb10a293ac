// The machines: launched, listed, taken away, terminated.
#include "plugins/provider/simulated/cloud.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "plugins/provider/simulated/draws.hpp"
#include "plugins/provider/simulated/use.hpp"

namespace muster::simulated {
namespace {

using namespace std::chrono_literals;

constexpr auto remembered = 24h;  // after it is gone, for hosts that repeat an old key

// At most about a century: every time must have a year of four digits.
std::chrono::milliseconds in_milliseconds(double seconds) {
  return std::chrono::milliseconds(std::llround(std::min(seconds, 3e9) * 1000));
}

std::string name_of(const std::string& host_id, const ProviderId& provider_id) {
  return host_id + "\n" + provider_id.str();
}

std::string name_of(const Owner& owner) {
  return name_of(owner.host_id, owner.provider_id);
}

bool belongs_to(const Machine& machine, const Owner& owner) {
  return machine.host_id == owner.host_id && machine.provider_id == owner.provider_id;
}

std::string hex(std::uint64_t number) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

Cloud::Cloud(Settings settings, Wait wait)
    : settings_(std::move(settings)), wait_(std::move(wait)) {}

void Cloud::restore(State state) {
  state_ = std::move(state);
  by_key_.clear();
  there_.clear();
  for (const auto& [id, machine] : state_.machines) {
    there_.insert(id);
    by_key_[name_of(machine.host_id, machine.provider_id) + "\n" +
            machine.instance.idempotency_key.str()] = id;
  }
}

bool Cloud::gone(const Machine& machine, Time now) const {
  if (machine.interruption && now >= machine.interruption->at) return true;
  return machine.terminated &&
         now >= *machine.terminated + in_milliseconds(settings_.shutdown_seconds);
}

bool Cloud::announced(const Machine& machine, Time now) const {
  return machine.interruption &&
         now >= machine.interruption->at - in_milliseconds(settings_.interruptions.notice_seconds);
}

Instance Cloud::seen(const Machine& machine, Time now) const {
  Instance instance = machine.instance;
  instance.state = gone(machine, now)                       ? InstanceState::stopped
                   : machine.terminated                     ? InstanceState::stopping
                   : machine.ready && now >= *machine.ready ? InstanceState::running
                                                            : InstanceState::pending;
  if (announced(machine, now)) instance.interruption = machine.interruption;
  return instance;
}

Cloud::Use Cloud::use_at(Time now) const {
  Use use;
  for (const std::string& id : there_)
    if (const Machine& machine = state_.machines.at(id); !gone(machine, now))
      use.add({machine.instance.worker_group.str(), machine.zone, machine.instance_type});
  return use;
}

// Machines that are gone are remembered for long, and there may be many of them: only now and then
// are those that are there told from them. A clock that goes back by less than an hour does no
// harm.
void Cloud::look_at_the_clock(Time now) {
  if (now < looked_ + 10min) return;
  looked_ = now;
  std::erase_if(there_, [&](const std::string& id) {
    const auto machine = state_.machines.find(id);
    return machine == state_.machines.end() || gone(machine->second, now - 1h);
  });
}

void Cloud::forget_long_gone(Time now) {
  if (now < forgot_ + 1h) return;
  forgot_ = now;
  for (auto it = state_.machines.begin(); it != state_.machines.end();) {
    const Machine& machine = it->second;
    if (!gone(machine, now - remembered)) {
      ++it;
      continue;
    }
    by_key_.erase(name_of(machine.host_id, machine.provider_id) + "\n" +
                  machine.instance.idempotency_key.str());
    there_.erase(it->first);
    it = state_.machines.erase(it);
    ++changes_;
  }
}

// A host that was superseded by a newer start of itself must change nothing any more.
Result<void> Cloud::fence(const Owner& owner) {
  std::int64_t& newest = state_.epochs[name_of(owner)];
  if (owner.epoch < newest)
    return Error::invalid("epoch " + std::to_string(owner.epoch) + " of host " + owner.host_id +
                          " is superseded by epoch " + std::to_string(newest));
  if (owner.epoch > newest) {
    newest = owner.epoch;
    ++changes_;
  }
  return {};
}

std::optional<Interruption> Cloud::draw_interruption(const std::string& worker_id, Time now) const {
  const Interruptions& setting = settings_.interruptions;
  if (std::find(setting.launches.begin(), setting.launches.end(), state_.launches) !=
      setting.launches.end())
    return Interruption{now + in_milliseconds(setting.after_seconds), "scripted interruption"};
  if (setting.per_hour <= 0) return std::nullopt;
  const double hours =
      -std::log1p(-draw(settings_.seed, {"interruption", worker_id})) / setting.per_hour;
  return Interruption{now + in_milliseconds(hours * 3600), "the zone needs its capacity back"};
}

Machine Cloud::make_machine(const AllocateRequest& request, const IdempotencyKey& key,
                            const Site& site, Time now) {
  const LaunchConfig& launch_config = request.launch_config;
  const std::string id =
      "sim-" + hex(hash(settings_.seed, {"worker", name_of(request.owner), key.str()}));
  Machine machine{
      request.owner.host_id, request.owner.provider_id, site.zone, site.instance_type, {}};
  Instance& instance = machine.instance;
  instance.worker_group = WorkerGroup(site.region);
  instance.worker_id = WorkerId(id);
  instance.worker_pool_id = launch_config.worker_pool_id;
  instance.launch_config_id = launch_config.launch_config_id;
  instance.idempotency_key = key;
  instance.capacity = launch_config.capacity_per_instance;
  instance.epoch = request.owner.epoch;
  instance.created = now;
  instance.provider_data = {{"v", 1}, {"zone", site.zone}, {"instanceType", site.instance_type}};
  instance.tags = request.tags;
  const Boot& boot = settings_.boot;
  if (draw(settings_.seed, {"never", id}) >= boot.never)
    machine.ready =
        now + in_milliseconds(boot.min_seconds + (boot.max_seconds - boot.min_seconds) *
                                                     draw(settings_.seed, {"boot", id}));
  machine.interruption = draw_interruption(id, now);
  return machine;
}

Launch Cloud::launch(const AllocateRequest& request, const IdempotencyKey& key, const Site& site,
                     Use& use, const Context& context) {
  const Time now = context.now();
  const std::string name = name_of(request.owner) + "\n" + key.str();
  if (const auto known = by_key_.find(name); known != by_key_.end())
    return {key, seen(state_.machines.at(known->second), now), {}};
  const auto refuse = [&](Error error) { return Launch{key, {}, std::move(error)}; };
  if (context.cancelled()) return refuse(Error::cancelled("allocate was cancelled"));
  if (key.empty()) return refuse(Error::invalid("an idempotency key is empty"));
  if (auto failed = fails("allocate", site, now)) return refuse(std::move(*failed));
  if (room(site, use) <= 0) return refuse(no_room(site, use));
  ++state_.launches;
  ++changes_;
  Machine machine = make_machine(request, key, site, now);
  const std::string id = machine.instance.worker_id.str();
  by_key_[name] = id;
  there_.insert(id);
  use.add(site);
  const Instance launched = seen(state_.machines[id] = std::move(machine), now);
  if (auto lost = fails("allocate", site, now, true)) return refuse(std::move(*lost));
  return {key, launched, {}};
}

Result<Allocation> Cloud::allocate(const AllocateRequest& request, const Context& context) {
  if (const auto begun = begin("allocate", context); !begun) return begun.error();
  if (const auto current = fence(request.owner); !current) return current.error();
  const auto site = site_of(request.launch_config);
  if (!site) return site.error();
  forget_long_gone(context.now());
  Use use = use_at(context.now());
  Allocation allocation;
  for (const IdempotencyKey& key : request.idempotency_keys)
    allocation.launches.push_back(launch(request, key, *site, use, context));
  return allocation;
}

Result<Listing> Cloud::list(const ListRequest& request, const Context& context) {
  if (const auto begun = begin("list", context); !begun) return begun.error();
  Listing listing;
  for (const Region& region : settings_.regions) {
    if (auto failed = fails("list", {region.name, {}, {}}, context.now())) {
      listing.problems.push_back(std::move(*failed));
      continue;
    }
    for (const std::string& id : there_)
      if (const Machine& machine = state_.machines.at(id);
          machine.instance.worker_group.str() == region.name &&
          belongs_to(machine, request.owner) && !gone(machine, context.now()))
        listing.instances.push_back(seen(machine, context.now()));
  }
  return listing;
}

Result<Termination> Cloud::terminate(const TerminateRequest& request, const Context& context) {
  if (const auto begun = begin("terminate", context); !begun) return begun.error();
  if (const auto current = fence(request.owner); !current) return current.error();
  Termination termination;
  for (const WorkerRef& worker : request.workers) {
    const auto found = state_.machines.find(worker.worker_id.str());
    if (found == state_.machines.end() || !belongs_to(found->second, request.owner)) continue;
    Machine& machine = found->second;
    if (machine.terminated || gone(machine, context.now())) continue;
    if (auto failed = fails(
            "terminate", {machine.instance.worker_group.str(), machine.zone, machine.instance_type},
            context.now())) {
      termination.failures.push_back({worker.worker_group, worker.worker_id, std::move(*failed)});
      continue;
    }
    machine.terminated = context.now();
    ++changes_;
  }
  return termination;
}

Result<Notices> Cloud::notices(const NoticesRequest& request, const Context& context) {
  if (const auto begun = begin("notices", context); !begun) return begun.error();
  Notices found;
  for (const std::string& id : there_)
    if (const Machine& machine = state_.machines.at(id);
        belongs_to(machine, request.owner) && !gone(machine, context.now()) &&
        !machine.terminated && announced(machine, context.now()))
      found.notices.push_back(
          {machine.instance.worker_group, machine.instance.worker_id, *machine.interruption});
  return found;
}

}  // namespace muster::simulated
