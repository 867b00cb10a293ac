#include "tests/simulation/random_scenario.hpp"

#include <muster/codec.hpp>
#include <muster/rules/content_hash.hpp>

#include "host/simulation/random.hpp"
#include "plugins/provider/simulated/cloud.hpp"

namespace muster::simulation {
namespace {

using namespace std::chrono_literals;

// Only for what asks no clock.
class NoContext final : public Context {
 public:
  bool cancelled() const noexcept override { return false; }
  milliseconds time_left() const noexcept override { return 30s; }
  Time now() const noexcept override { return {}; }
  void log(LogLevel, std::string_view) const noexcept override {}
};

Faults random_faults(Random& random) {
  const auto sometimes = [&](double most) {
    return random.happens(0.6) ? random.fraction() * most : 0;
  };
  Faults faults;
  faults.call_fails = sometimes(0.2);
  faults.answer_lost = sometimes(0.1);
  faults.effect_late = sometimes(0.05);
  faults.call_slow = sometimes(0.2);
  faults.listing_lies = sometimes(0.2);
  faults.launched_twice = sometimes(0.05);
  faults.crash = sometimes(0.03);
  faults.clock_jumps_per_hour = sometimes(1);
  faults.notice_repeated = sometimes(0.5);
  faults.never_registers = sometimes(0.1);
  faults.dies_per_hour = sometimes(0.2);
  faults.provider_outages_per_hour = sometimes(1);
  return faults;
}

void add_lies_and_deafness(Random& random, Faults& faults) {
  const auto sometimes = [&](double most) {
    return random.happens(0.5) ? random.fraction() * most : 0;
  };
  faults.lying_times_per_hour = sometimes(2);
  faults.largest_lie = random.happens(0.5) ? 1 : random.fraction();
  faults.longest_lie = random.between(5min, 3h);
  faults.listing_invents = sometimes(0.3);
  faults.freezes_per_hour = sometimes(1);
  faults.commit_fails = sometimes(0.005);
  faults.commit_torn = random.fraction();
  faults.longest_deafness = random.between(1min, 40min);
}

ProviderScenario random_provider(Random& random, int number) {
  ProviderScenario provider;
  provider.provider_id = ProviderId("cloud-" + std::to_string(number));
  provider.cloud = small_cloud(random.next());
  provider.cloud.boot.never = random.happens(0.3) ? random.fraction() * 0.1 : 0;
  provider.cloud.interruptions.per_hour = random.happens(0.5) ? random.fraction() * 0.5 : 0;
  if (random.happens(0.3)) provider.cloud.quotas.push_back({"eu-1", {}, random.between(2, 20)});
  if (random.happens(0.4)) provider.settings.max_capacity = random.between(3, 40);
  provider.settings.launches_per_second = static_cast<double>(random.between(1, 50));
  provider.settings.launch_burst = static_cast<double>(random.between(1, 50));
  provider.settings.launches_per_call = random.between(1, 20);
  return provider;
}

// What workers of a pool are to the queue, and which teams it serves; the same in every version of
// its configuration.
std::shared_ptr<const fleet::PoolSpec> for_queue(const fleet::PoolSpec& made, std::uint64_t seed) {
  std::uint64_t of_pool = seed;
  for (const char letter : made.worker_pool_id.str())
    of_pool = of_pool * 31 + static_cast<unsigned char>(letter);
  Random random(of_pool);
  auto pool = std::make_shared<fleet::PoolSpec>(made);
  if (random.happens(0.4)) {
    pool->teams.push_back("team-" + std::to_string(random.between(0, 1)));
    if (random.happens(0.3)) pool->teams.emplace_back("team-2");
  }
  json::object facts;
  if (random.happens(0.5)) facts["resources"] = json::object{{"memory", random.between(8, 64)}};
  if (random.happens(0.3)) facts["tags"] = json::array{"gpu", "linux"};
  for (auto& launch_config : pool->launch_configs) {
    auto with_facts = std::make_shared<fleet::LaunchConfigSpec>(*launch_config);
    with_facts->worker_config = {{"queue", facts}};
    launch_config = std::move(with_facts);
  }
  return pool;
}

void add_clients(Random& random, Scenario& scenario) {
  if (random.happens(0.7)) scenario.leases_per_hour = static_cast<double>(random.between(1, 30));
  // A crowd competes for few workers: lines form, and each release and each limit matters.
  if (random.happens(0.7)) scenario.lease_crowd = random.between(4, 16);
  if (random.happens(0.6)) scenario.faults.client_dies = random.fraction() * 0.2;
  if (scenario.leases_per_hour == 0) return;
  for (int i = 0; i < 4; ++i) {
    queue::TeamNumbers& team = scenario.settings.teams[queue::TeamId("team-" + std::to_string(i))];
    if (random.happens(0.3)) team.weight = static_cast<double>(random.between(1, 5));
    if (random.happens(0.3)) team.max_held = random.between(1, 6);
    if (random.happens(0.3)) team.max_pending = random.between(1, 6);
  }
  scenario.settings.teams_origin = "muster.toml";
  const auto seed = random.next();
  for (ConfigurationChange& change : scenario.configurations) {
    std::vector<std::shared_ptr<const fleet::PoolSpec>> pools;
    for (const auto& [id, pool] : change.configuration->pools)
      pools.push_back(for_queue(*pool, seed));
    change.configuration = configuration_of(std::move(pools));
  }
}

}  // namespace

simulated::Settings small_cloud(std::uint64_t seed) {
  simulated::Settings cloud;
  cloud.seed = seed % 1'000'000;
  return cloud;
}

std::shared_ptr<const fleet::PoolSpec> pool_on(const std::vector<ProviderScenario>& providers,
                                               const std::string& worker_type,
                                               PoolSettings settings, const std::string& image,
                                               const std::string& strategy) {
  fleet::PoolSpec pool;
  pool.worker_pool_id = WorkerPoolId("worker-manager/" + worker_type);
  pool.origin = worker_type + ".toml";
  pool.owner = "team@example.com";
  pool.description = "a pool of a simulation";
  pool.strategy = strategy;
  pool.settings = std::move(settings);
  for (const ProviderScenario& provider : providers) {
    pool.providers.push_back(provider.provider_id);
    simulated::Cloud cloud(provider.cloud);
    const NoContext context;
    const Placements places = cloud.placements({}, context).value();
    for (const Placement& placement : places.placements) {
      const auto expansion =
          cloud.expand({.worker_pool_id = pool.worker_pool_id,
                        .placement = placement,
                        .document = {{"simulated", json::object{{"image", image}}}}},
                       context);
      for (const LaunchDocument& document : expansion->launch_documents) {
        fleet::LaunchConfigSpec spec;
        spec.provider_id = provider.provider_id;
        spec.launch_config = {.launch_config_id = LaunchConfigId(rules::launch_config_id(
                                  pool.worker_pool_id.str(), provider.provider_id.str(),
                                  codec::to_value(placement), document.document)),
                              .worker_pool_id = pool.worker_pool_id,
                              .placement = placement,
                              .document = document.document,
                              .capacity_per_instance = document.capacity_per_instance,
                              .instance_type = document.instance_type};
        pool.launch_configs.push_back(
            std::make_shared<const fleet::LaunchConfigSpec>(std::move(spec)));
      }
    }
  }
  return std::make_shared<const fleet::PoolSpec>(std::move(pool));
}

std::shared_ptr<const fleet::Configuration> configuration_of(
    std::vector<std::shared_ptr<const fleet::PoolSpec>> pools) {
  fleet::Configuration configuration;
  for (auto& pool : pools) configuration.pools.emplace(pool->worker_pool_id, std::move(pool));
  return std::make_shared<const fleet::Configuration>(std::move(configuration));
}

Scenario random_scenario(std::uint64_t seed) {
  Random random(seed * 7919 + 17);
  Scenario scenario;
  scenario.seed = seed;
  scenario.duration = random.between(1h, 4h);
  scenario.wind_down = 12h;
  scenario.settings.stopped_kept = random.happens(0.5) ? milliseconds(24h) : milliseconds(30min);
  scenario.settings.give_up_older_after = 5min;  // effects of its calls may be that late here
  scenario.faults = random_faults(random);
  const auto clouds = static_cast<int>(random.between(1, 3));
  for (int i = 0; i < clouds; ++i) scenario.providers.push_back(random_provider(random, i));
  const auto pools = static_cast<int>(random.between(1, 5));
  const char* const strategies[] = {"classic", "cheapest", "estimator"};
  std::vector<std::shared_ptr<const fleet::PoolSpec>> made;
  const auto change = [&](int i, const std::string& image) {
    PoolSettings settings;
    settings.max_capacity = random.between(0, 30);
    settings.min_capacity = random.happens(0.3) ? random.between(0, 4) : 0;
    settings.scaling_ratio = random.happens(0.5) ? random.fraction() : 0;
    auto pool = std::make_shared<fleet::PoolSpec>(
        *pool_on(scenario.providers, "type-" + std::to_string(i), settings, image,
                 strategies[random.between(0, 2)]));
    // Credentials that last less than a simulation does.
    pool->lifecycle.reregistration_timeout =
        std::chrono::duration_cast<std::chrono::seconds>(random.between(20min, 3h));
    pool->lifecycle.registration_timeout = 20min;
    pool->lifecycle.idle_timeout =
        std::chrono::duration_cast<std::chrono::seconds>(random.between(1min, 20min));
    pool->lifecycle.warm_capacity = random.happens(0.2) ? 1 : 0;
    if (random.happens(0.3)) pool->lifecycle.cycling_budget.workers = 1;
    for (auto& launch_config : pool->launch_configs)
      if (random.happens(0.2)) {
        auto limited = std::make_shared<fleet::LaunchConfigSpec>(*launch_config);
        limited->max_capacity = random.between(0, 8);
        launch_config = std::move(limited);
      }
    return pool;
  };
  for (int i = 0; i < pools; ++i) made.push_back(change(i, "image-1"));
  scenario.configurations.push_back({0ms, configuration_of(made)});
  const auto changes = random.between(0, 3);
  for (std::int64_t i = 0; i < changes; ++i) {
    const auto which = random.between(0, pools - 1);
    auto next = made;
    if (random.happens(0.2))
      next.erase(next.begin() + which);
    else
      next[static_cast<std::size_t>(which)] =
          change(static_cast<int>(which), "image-" + std::to_string(random.between(1, 2)));
    scenario.configurations.push_back(
        {scenario.duration * (i + 1) / (changes + 1), configuration_of(next)});
  }
  milliseconds at{0};
  while (at < scenario.duration) {
    scenario.arrivals.push_back(
        {at, made[static_cast<std::size_t>(random.between(0, pools - 1))]->worker_pool_id,
         random.between(1, 15), random.between(10s, 30min)});
    at += random.between(1s, 20min);
  }
  Random of_lies(seed * 15'485'863 + 3);
  add_lies_and_deafness(of_lies, scenario.faults);
  // Of their own draws, so that the rest of a seed's scenario is the same with and without them.
  Random of_clients(seed * 104'729 + 7);
  add_clients(of_clients, scenario);
  return scenario;
}

}  // namespace muster::simulation
