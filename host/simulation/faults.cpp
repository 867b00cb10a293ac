// Listings that leave out or invent machines, and times in which the host neither hears nor
// decides.
#include <algorithm>
#include <utility>

#include "host/simulation/parts.hpp"
#include "lib/base/secret.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

constexpr auto drawn_every = 10min;

double per_draw(double per_hour) {
  return per_hour * std::chrono::duration<double, std::ratio<3600>>(drawn_every).count();
}

// The same for the same text: a lie is about the same machines as long as it lasts.
double fraction_of(const std::string& text) {
  const Sha256 digest = sha256(text);
  return static_cast<double>(digest[0] * 256 + digest[1]) / 65536;
}

}  // namespace

// -------------------------------------------------------------------------------------------------
// Listings

void World::next_lie() {
  const Faults& faults = scenario_.faults;
  if (calm_ || faults.lying_times_per_hour <= 0) return;
  for (auto& [id, cloud] : clouds_) {
    if (cloud->lie.until > now_ || !fault_random_.happens(per_draw(faults.lying_times_per_hour)))
      continue;
    cloud->lie.until = now_ + fault_random_.between(1min, faults.longest_lie);
    const double part = fault_random_.happens(0.4) ? 1 : fault_random_.fraction();
    cloud->lie.share = faults.smallest_lie + part * (faults.largest_lie - faults.smallest_lie);
    cloud->lie.salt = std::to_string(now_.count());
    const auto& regions = cloud->scenario.cloud.regions;
    const auto which = fault_random_.between(0, static_cast<std::int64_t>(regions.size()) - 1);
    cloud->lie.region = faults.lies_by_region && fault_random_.happens(0.3)
                            ? regions[static_cast<std::size_t>(which)].name
                            : "";
    note("lie");
    ++report_.happenings["lie"];
  }
  after(drawn_every, [this] { next_lie(); });
}

void World::leave_out(Cloud& cloud, Listing& listing) {
  const Cloud::Lie& lie = cloud.lie;
  if (lie.until <= now_) return;
  std::erase_if(listing.instances, [&](const Instance& instance) {
    const std::string& id = instance.worker_id.str();
    if (!lie.region.empty() && instance.worker_group.str() != lie.region) return false;
    if (fraction_of(id + lie.salt) >= lie.share) return false;
    cloud.hidden.insert(id);
    return true;
  });
}

// Machines with the host's tags and keys that it never used, machines of another host, the same
// machine twice, and machines that have ended.
void World::invent(Cloud& cloud, Listing& listing) {
  const std::string number = std::to_string(report_.steps);
  const auto& pools = scenario_.configurations[configuration_].configuration->pools;
  const auto ghost = [&](const std::string& id, const WorkerPoolId& pool,
                         const LaunchConfigId& launch_config) -> Instance& {
    Instance& instance = listing.instances.emplace_back();
    instance.worker_group = WorkerGroup(cloud.scenario.cloud.regions.front().name);
    instance.worker_id = WorkerId(id + number);
    instance.worker_pool_id = pool;
    instance.launch_config_id = launch_config;
    instance.idempotency_key = IdempotencyKey("simulated-1-9" + number);
    instance.state = InstanceState::running;
    instance.tags = {{"muster-host", "simulated"},
                     {"muster-provider", cloud.scenario.provider_id.str()}};
    return instance;
  };
  switch (fault_random_.between(0, 4)) {
    case 0:
      for (const auto& [id, pool] : pools)
        for (const auto& spec : pool->launch_configs)
          if (spec->provider_id == cloud.scenario.provider_id)
            return void(ghost("ghost-", id, spec->launch_config.launch_config_id));
      break;
    case 1:
      ghost("stranger-", WorkerPoolId("nobody/knows"), LaunchConfigId("lc-unknown"));
      break;
    case 2:
      ghost("another-", WorkerPoolId("nobody/knows"), LaunchConfigId("lc-unknown"))
          .tags["muster-host"] = "another";
      break;
    case 3:
      if (listing.instances.empty()) break;
      listing.instances.push_back(Instance(listing.instances.front()));
      if (fault_random_.happens(0.5)) listing.instances.back().state = InstanceState::stopped;
      break;
    default:
      for (const auto& [id, machine] : cloud.cloud.state().machines)
        if (ended(machine, true_time()) && !twins_.contains(id)) {
          listing.instances.push_back(machine.instance);
          listing.instances.back().state = InstanceState::running;
          break;
        }
  }
}

// -------------------------------------------------------------------------------------------------
// Deafness

void World::next_freeze() {
  const Faults& faults = scenario_.faults;
  if (calm_ || faults.freezes_per_hour <= 0) return;
  if (hears() && fault_random_.happens(per_draw(faults.freezes_per_hour)))
    be_deaf(fault_random_.between(1s, faults.longest_deafness), "frozen");
  after(drawn_every, [this] { next_freeze(); });
}

// A crash at each write with a fixed probability would come the more often the more workers there
// are. A host that starts judges nobody for ten minutes, so workers that make it crash every few
// minutes by asking whether they may end would never end.
void World::next_crash() {
  if (calm_ || scenario_.faults.crashes_per_hour <= 0) return;
  crash_is_due_ |= fault_random_.happens(per_draw(scenario_.faults.crashes_per_hour));
  after(drawn_every, [this] { next_crash(); });
}

void World::be_deaf(milliseconds length, const char* why) {
  note(why);
  ++report_.happenings[why];
  deaf_ = true;
  deaf_until_ = now_ + length;
  pumped_for_ = -1ms;
  at(deaf_until_, [this, incarnation = incarnation_, until = deaf_until_] {
    if (incarnation == incarnation_ && deaf_ && until == deaf_until_) hear_again();
  });
}

// What it had decided is made durable first, and then asked.
void World::hear_again() {
  deaf_ = false;
  host_heard_since_ = now_;
  fleet_->could_not_hear(host_now());
  if (auto outcome = std::exchange(unsaved_, {})) {
    if (!commit(outcome->changes)) return;
    carry_out(std::move(outcome->questions));
  }
  if (!std::exchange(configured_, true))
    fleet_->configure(scenario_.configurations[configuration_].configuration, host_now());
  demand_told_ = false;
  tell_demand();
  pump();
}

// -------------------------------------------------------------------------------------------------
// Loss

void World::next_restore() {
  if (calm_) return;
  if (hears() && fault_random_.happens(per_draw(scenario_.faults.restores_per_hour))) {
    if (copy_) {
      ++report_.happenings["restored"];
      store_ = std::make_unique<store::MemoryStore>(*copy_);
      lost_changes_ = true;
      crash_host();
    }
    copy_ = store_->contents();
  }
  after(drawn_every, [this] { next_restore(); });
}

}  // namespace muster::simulation
