#include "tests/simulation/hosts/hosts_world.hpp"

#include <algorithm>
#include <utility>

#include "tests/simulation/hosts/parts.hpp"
#include "tests/simulation/random_scenario.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

const Time birth = Time(std::chrono::sys_days(std::chrono::year(2026) / 1 / 1));

// All that is wanted is what clients of the queue wait for.
std::shared_ptr<const fleet::Configuration> one_pool(const simulated::Settings& cloud) {
  ProviderScenario provider;
  provider.provider_id = provider_id;
  provider.cloud = cloud;
  auto pool = std::make_shared<fleet::PoolSpec>(
      *pool_on({provider}, "type", {.min_capacity = 0, .max_capacity = most_machines}));
  pool->lifecycle.idle_timeout = 2min;
  pool->lifecycle.registration_timeout = 20min;
  return configuration_of({pool});
}

}  // namespace

HostsWorld::HostsWorld(TakeoverScenario scenario,
                       std::map<std::string, BiddingStrategy*> strategies)
    : scenario_(scenario),
      strategies_(std::move(strategies)),
      random_(scenario.seed * 7919 + 5),
      database_(scenario.checks_epochs),
      cloud_(small_cloud(scenario.seed), [](milliseconds, const Context&) {}),
      configuration_(one_pool(small_cloud(scenario.seed))),
      acknowledged_(3) {
  settings_.give_up_older_after = 5min;  // effects of calls may be that late here
  for (const char* team : {"one", "two", "three"})
    settings_.teams[queue::TeamId(team)].max_held = 8;
  settings_.teams_origin = "muster.toml";
  for (std::size_t i = 0; i < scenario_.hosts; ++i) {
    Host& host = hosts_.emplace_back();
    host.name = "host-" + std::to_string(i);
    host.speed = 1 + (random_.fraction() - 0.5) / 50;
  }
}

HostsWorld::~HostsWorld() = default;

TakeoverReport HostsWorld::run() {
  for (Host& host : hosts_) {
    host.up = true;
    follow(host);
  }
  next_client();
  for (std::int64_t team = 0; team < std::ssize(acknowledged_); ++team) write_team(team);
  after(1min, [this] { next_fault(); });
  milliseconds end = scenario_.takeovers * milliseconds(10min);
  while (!events_.empty() && events_.front().at <= end && report_.violations.size() < 5) {
    std::pop_heap(events_.begin(), events_.end(), std::greater<>());
    const Event event = std::move(events_.back());
    events_.pop_back();
    now_ = event.at;
    event.act();
    if (calm_ || database_.takeovers() < scenario_.takeovers) continue;
    calm_down();
    end = now_ + 30min;
  }
  now_ = end;
  check_end();
  report_.takeovers = database_.takeovers();
  return std::move(report_);
}

void HostsWorld::violated(const std::string& what) {
  if (report_.violations.size() < 5)
    report_.violations.push_back("at " + std::to_string(now_.count()) + " ms: " + what);
}

// -------------------------------------------------------------------------------------------------
// Time

void HostsWorld::after(milliseconds delay, std::function<void()> act) {
  events_.push_back({now_ + std::max(delay, 0ms), next_order_++, std::move(act)});
  std::push_heap(events_.begin(), events_.end(), std::greater<>());
}

// For the process that runs now: one that was started since hears nothing of it.
void HostsWorld::on_host(Host& host, milliseconds delay, std::function<void()> act) {
  after(delay, [this, &host, incarnation = host.incarnation, act = std::move(act)] {
    deliver(host, incarnation, act);
  });
}

void HostsWorld::deliver(Host& host, std::uint64_t incarnation, const std::function<void()>& act) {
  if (!host.up || incarnation != host.incarnation) return;
  if (!host.paused) return act();
  host.missed.push_back([this, &host, incarnation, act] { deliver(host, incarnation, act); });
}

Time HostsWorld::true_time() const {
  return birth + now_;
}

fleet::Now HostsWorld::now_of(const Host& host) const {
  return {birth + now_ + host.wall_offset, boot_time_of(host)};
}

leadership::BootTime HostsWorld::boot_time_of(const Host& host) const {
  return milliseconds(static_cast<std::int64_t>(static_cast<double>(now_.count()) * host.speed));
}

// -------------------------------------------------------------------------------------------------
// Faults

HostsWorld::Host* HostsWorld::leader() {
  const auto found = std::ranges::find_if(
      hosts_, [](const Host& host) { return host.up && !host.paused && host.holding.holds; });
  return found == hosts_.end() ? nullptr : &*found;
}

void HostsWorld::next_fault() {
  if (calm_) return;
  Host* target = random_.happens(0.85) ? leader() : nullptr;
  if (!target)
    target = &hosts_[static_cast<std::size_t>(random_.between(0, std::ssize(hosts_) - 1))];
  if (target->up && !target->paused) inject(*target);
  after(random_.between(1s, 90s), [this] { next_fault(); });
}

void HostsWorld::inject(Host& host) {
  switch (random_.between(0, 7)) {
    case 0:
      return kill(host);
    case 1:
      return pause(host);
    case 2:
      count("cut from the database");
      host.cut_until = now_ + random_.between(1s, 60s);
      return;
    case 3:
      return hand_over(host);
    case 4:
      count("clock of a host set");
      // Ended requests are kept for half an hour by the clock of the leader.
      host.wall_offset = random_.between(milliseconds(-5min), milliseconds(5min));
      return decide(host);
    case 5:
      count("slow database");
      slow_until_ = now_ + random_.between(5s, 60s);
      return;
    case 6:
      count("clock of the database set");
      database_offset_ += random_.between(-5s, 20s);
      return;
    default:
      count("all cut from the database");
      for (Host& each : hosts_) each.cut_until = now_ + random_.between(1s, 20s);
  }
}

void HostsWorld::kill(Host& host) {
  count("killed");
  host.up = false;
  lose(host);
  after(random_.between(1s, 40s), [this, &host] {
    host.up = true;
    follow(host);
  });
}

void HostsWorld::pause(Host& host) {
  count("paused");
  host.paused = true;
  after(random_.between(1s, 120s), [this, &host] { resume(host); });
}

// What waited for it comes in any order.
void HostsWorld::resume(Host& host) {
  if (!std::exchange(host.paused, false)) return;
  auto missed = std::exchange(host.missed, {});
  while (!missed.empty()) {
    const auto next = missed.begin() + random_.between(0, std::ssize(missed) - 1);
    const auto act = std::move(*next);
    missed.erase(next);
    act();
  }
}

void HostsWorld::calm_down() {
  calm_ = true;
  slow_until_ = now_;
  for (Host& host : hosts_) {
    host.cut_until = now_;
    resume(host);
  }
}

}  // namespace muster::simulation
