#include "tests/unit/host/fleet/fleet_driver.hpp"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "host/queue/queue.hpp"
#include "host/store/row.hpp"

namespace muster::fleet {
namespace {

using namespace std::chrono_literals;

constexpr Time beginning = Time(std::chrono::milliseconds(1'000'000'000'000));
// More steps without time passing than any honest fleet needs.
constexpr int steps_at_once = 2000;

template <class... Kinds>
struct Overloaded : Kinds... {
  using Kinds::operator()...;
};
template <class... Kinds>
Overloaded(Kinds...) -> Overloaded<Kinds...>;

// What is missing, no cleverness.
Result<Size> plain_size(const SizeRequest& request) {
  const PoolCapacity& has = request.capacity;
  const std::int64_t wanted = std::max(request.pending - has.requested - has.idle,
                                       request.settings.min_capacity - has.running - has.requested);
  return Size{std::max<std::int64_t>(wanted, 0), std::to_string(request.pending) + " wait"};
}

// The offers in their order.
Result<Selection> plain_select(const SelectRequest& request) {
  Selection selection{{}, "in order"};
  std::int64_t left = request.capacity;
  for (const auto& offer : request.offers) {
    if (left <= 0) break;
    const std::int64_t per = offer.bid.capacity_per_instance;
    const std::int64_t instances = std::min(offer.bid.instances, (left + per - 1) / per);
    selection.choices.push_back({offer.bid_id, instances});
    left -= instances * per;
  }
  return selection;
}

}  // namespace

std::shared_ptr<const PoolSpec> make_spec(const PoolSketch& sketch) {
  auto spec = std::make_shared<PoolSpec>();
  spec->worker_pool_id = WorkerPoolId(sketch.id);
  spec->origin = sketch.origin;
  spec->owner = "team@example.com";
  spec->strategy = sketch.strategy;
  spec->settings = {
      .min_capacity = sketch.min_capacity, .max_capacity = sketch.max_capacity, .scaling_ratio = 1};
  spec->lifecycle = sketch.lifecycle;
  for (const LaunchSketch& launch : sketch.launch_configs) {
    auto made = std::make_shared<LaunchConfigSpec>();
    made->launch_config = {.launch_config_id = LaunchConfigId(launch.id),
                           .worker_pool_id = spec->worker_pool_id,
                           .placement = {{{"region", "r"}, {"availabilityZone", launch.zone}}},
                           .document = launch.document,
                           .capacity_per_instance = launch.capacity,
                           .instance_type = launch.type};
    made->provider_id = ProviderId(launch.provider);
    if (std::ranges::find(spec->providers, made->provider_id) == spec->providers.end())
      spec->providers.push_back(made->provider_id);
    made->max_capacity = launch.max_capacity;
    made->initial_weight = launch.initial_weight;
    made->worker_config = launch.worker_config;
    spec->launch_configs.push_back(made);
  }
  return spec;
}

FleetDriver::FleetDriver(Settings settings) : settings_(std::move(settings)), wall_(beginning) {
  fleet_ = Fleet::load(*store_, settings_, "host", now()).value();
}

FakeCloud& FleetDriver::cloud(const std::string& id) {
  return clouds_.try_emplace(id, ProviderId(id)).first->second;
}

// -------------------------------------------------------------------------------------------------
// Inputs

void FleetDriver::configure(const std::vector<PoolSketch>& pools) {
  auto configuration = std::make_shared<Configuration>();
  for (const PoolSketch& sketch : pools)
    configuration->pools[WorkerPoolId(sketch.id)] = make_spec(sketch);
  configuration_ = configuration;
  fleet_->configure(configuration, now());
  settle();
}

void FleetDriver::provider_up(const std::string& id, ProviderSettings settings,
                              FieldClasses classes) {
  up_[id] = {.provider_id = ProviderId(id),
             .settings = settings,
             .field_classes = std::move(classes),
             .has_notices = true,
             .declares_machines = providers_announce};
  if (settings.max_capacity) provider_limits[ProviderId(id)] = *settings.max_capacity;
  fleet_->provider_up(up_[id], now());
  settle();
}

void FleetDriver::provider_down(const std::string& id) {
  fleet_->provider_down(ProviderId(id), "its plugin died", now());
  settle();
}

void FleetDriver::demand(const std::string& pool, std::int64_t pending) {
  demand_[pool] = pending;
  demand(demand_);
}

void FleetDriver::demand(const std::map<std::string, std::int64_t>& pending) {
  demand_ = pending;
  Demand all;
  for (const auto& [pool, waits] : pending) all[WorkerPoolId(pool)] = {.pending = waits};
  fleet_->demand_changed(all, now());
  settle();
}

WorkerName FleetDriver::name(const std::string& worker_id) const {
  for (const auto& [id, cloud] : clouds_)
    if (const auto found = cloud.instances.find(worker_id); found != cloud.instances.end())
      return {found->second.worker_pool_id, WorkerGroup("r"), WorkerId(worker_id)};
  for (const Worker& worker : fleet_->workers())
    if (worker.worker_id == worker_id)
      return {fleet_->pools()[worker.pool].id, WorkerGroup("r"), WorkerId(worker_id)};
  return {WorkerPoolId("nobody/nothing"), WorkerGroup("r"), WorkerId(worker_id)};
}

Result<Registered> FleetDriver::register_worker(const std::string& worker_id) {
  const std::string provider = worker_id.substr(0, worker_id.rfind('-'));
  auto registered = fleet_->register_worker(name(worker_id), ProviderId(provider), secret, now());
  settle();
  return registered;
}

void FleetDriver::register_all() {
  std::vector<std::string> ids;
  for (const auto& [id, cloud] : clouds_)
    for (const auto& [worker_id, instance] : cloud.instances)
      if (const Worker* known = worker(worker_id); known && known->state == WorkerState::requested)
        ids.push_back(worker_id);
  for (const std::string& id : ids) EXPECT_TRUE(register_worker(id).has_value()) << id;
}

Result<void> FleetDriver::active(const std::string& worker_id, std::int64_t busy) {
  auto done = fleet_->worker_active(name(worker_id), busy, now());
  settle();
  return done;
}

// -------------------------------------------------------------------------------------------------
// Time

void FleetDriver::settle() {
  for (int i = 0; i < steps_at_once; ++i) {
    const int before = answered_;
    step();
    if (answered_ == before && fleet_->next_wake() > wall_) return;
  }
  FAIL() << "the fleet does not come to rest";
}

void FleetDriver::step() {
  Outcome outcome = fleet_->settle(now());
  ASSERT_TRUE(store_->commit(outcome.changes).has_value());
  for (events::Event& event : outcome.events) events.push_back(std::move(event));
  check();
  for (const Question& question : outcome.questions) {
    check_durable(question);
    if (withhold && withhold(question))
      withheld.push_back(question);
    else
      ++answered_, fleet_->answered(answer_to(question), now());
  }
  check();
}

void FleetDriver::advance(std::chrono::milliseconds by) {
  const auto end = steady_ + by;
  settle();
  while (steady_ < end) {
    const auto wait = std::clamp<std::chrono::milliseconds>(fleet_->next_wake() - wall_, 1ms, 24h);
    const auto pass = std::min(wait, end - steady_);
    steady_ += pass;
    wall_ += pass;
    settle();
    if (testing::Test::HasFatalFailure()) return;
  }
}

void FleetDriver::freeze(std::chrono::milliseconds by) {
  steady_ += by;
  wall_ += by;
  fleet_->could_not_hear(now());
  settle();
}

void FleetDriver::crash() {
  crash_into(std::make_shared<store::MemoryStore>(store_->contents()));
}

void FleetDriver::crash_into(std::shared_ptr<store::MemoryStore> store) {
  store_ = std::move(store);
  withheld.clear();
  auto loaded = Fleet::load(*store_, settings_, "host", now());
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  fleet_ = std::move(*loaded);
  check();
}

void FleetDriver::start_again() {
  fleet_->configure(configuration_, now());
  for (const auto& [id, up] : up_) fleet_->provider_up(up, now());
  demand(demand_);
}

// -------------------------------------------------------------------------------------------------
// Answers

void FleetDriver::answer(const Question& question) {
  fleet_->answered(answer_to(question), now());
  settle();
}

Answer FleetDriver::answer_to(const Question& question) {
  const auto result =
      std::visit(Overloaded{[&](const AskSize& ask) -> decltype(Answer::result) {
                              ++asked_for_size;
                              size_requests.push_back(ask.request);
                              return size ? size(ask.request) : plain_size(ask.request);
                            },
                            [&](const AskSelection& ask) -> decltype(Answer::result) {
                              select_requests.push_back(*ask.request);
                              return select ? select(*ask.request) : plain_select(*ask.request);
                            },
                            [&](const AskBids& ask) -> decltype(Answer::result) {
                              return cloud(ask.provider_id.str()).bid(ask.request());
                            },
                            [&](const AskAllocation& ask) -> decltype(Answer::result) {
                              return cloud(ask.provider_id.str()).allocate(ask.request, wall_);
                            },
                            [&](const AskListing& ask) -> decltype(Answer::result) {
                              return cloud(ask.provider_id.str()).list();
                            },
                            [&](const AskTermination& ask) -> decltype(Answer::result) {
                              return cloud(ask.provider_id.str()).terminate(ask.request);
                            },
                            [&](const AskNotices& ask) -> decltype(Answer::result) {
                              return cloud(ask.provider_id.str()).ask_notices();
                            }},
                 question.ask);
  return {question.call_id, result};
}

// Whatever is asked of a provider is in the store by then.
void FleetDriver::check_durable(const Question& question) {
  const auto* ask = std::get_if<AskAllocation>(&question.ask);
  if (!ask) return;
  std::set<std::string> keys;
  ASSERT_TRUE(store::read_rows<WorkerRow>(*store_, [&](const WorkerRow& row) {
                keys.insert("host-" + std::to_string(row.epoch) + "-" + std::to_string(row.number));
              }).has_value());
  for (const IdempotencyKey& key : ask->request.idempotency_keys)
    EXPECT_TRUE(keys.contains(key.str())) << key << " is asked for and not durable";
}

void FleetDriver::check() {
  EXPECT_EQ(fleet_->check_sums(), "");
  EXPECT_EQ(fleet_->queue().check(), "");
  for (const ProviderState& provider : fleet_->providers()) {
    const auto limit = provider_limits.find(provider.id);
    if (limit == provider_limits.end()) continue;
    EXPECT_LE(provider.totals.used() - provider.totals.unconfirmed, limit->second)
        << "the limit of " << provider.id;
  }
  for (const auto& pool : fleet_->pools())
    EXPECT_TRUE(pool.removed() || !pool.verdict.text.empty()) << "no verdict for " << pool.id;
  for (const auto& [id, cloud] : clouds_)
    for (const auto& [key, launches] : cloud.launches_of_key)
      EXPECT_EQ(launches, 1) << key << " was launched more than once";
}

// -------------------------------------------------------------------------------------------------
// Looking

const Pool& FleetDriver::pool(const std::string& id) const {
  static const Pool none;
  const Pool* found = fleet_->find_pool(WorkerPoolId(id));
  return found ? *found : none;
}

const Worker* FleetDriver::worker(const std::string& worker_id) const {
  for (const Worker& worker : fleet_->workers())
    if (worker.number != 0 && worker.worker_id == worker_id) return &worker;
  return nullptr;
}

const Worker* FleetDriver::by_number(std::int64_t number) const {
  for (const Worker& worker : fleet_->workers())
    if (worker.number == number) return &worker;
  return nullptr;
}

const LaunchConfigState* FleetDriver::launch_config(const std::string& id) const {
  for (const LaunchConfigState& state : fleet_->launch_configs())
    if (!state.removed() && state.spec->launch_config.launch_config_id.str() == id) return &state;
  return nullptr;
}

std::vector<const Worker*> FleetDriver::workers(WorkerState state) const {
  std::vector<const Worker*> found;
  for (const Worker& worker : fleet_->workers())
    if (worker.number != 0 && worker.state == state) found.push_back(&worker);
  return found;
}

std::vector<DecisionRow> FleetDriver::journal(const std::string& pool,
                                              const std::string& kind) const {
  std::vector<DecisionRow> found;
  (void)store::read_rows<DecisionRow>(*store_, [&](DecisionRow row) {
    if (row.worker_pool_id.str() == pool && (kind.empty() || row.kind == kind))
      found.push_back(std::move(row));
  });
  return found;
}

std::vector<PoolErrorRow> FleetDriver::errors() const {
  std::vector<PoolErrorRow> found;
  (void)store::read_rows<PoolErrorRow>(*store_,
                                       [&](PoolErrorRow row) { found.push_back(std::move(row)); });
  return found;
}

std::size_t FleetDriver::rows(const std::string& table) const {
  const auto contents = store_->contents();
  const auto found = contents.find(table);
  return found == contents.end() ? 0 : found->second.size();
}

FleetDriver simple_fleet(PoolSketch sketch, Settings settings) {
  FleetDriver driver(std::move(settings));
  std::set<std::string> providers;
  for (const LaunchSketch& launch : sketch.launch_configs) providers.insert(launch.provider);
  driver.configure({std::move(sketch)});
  for (const std::string& provider : providers) driver.provider_up(provider);
  driver.advance(11min);
  return driver;
}

FleetDriver unhurried_fleet() {
  Settings settings;
  settings.poll = settings.list_every = settings.notices_every = 1h;
  return simple_fleet({.id = "p/w", .launch_configs = {{"lc-1"}}}, settings);
}

}  // namespace muster::fleet
