#include "fixture.hpp"

#include <future>

#include <gtest/gtest.h>

#include <muster/codec.hpp>

#include "host/store/row.hpp"

namespace muster::registration {
namespace {

using namespace std::chrono_literals;

store::Batch launched_workers(Time now) {
  fleet::LaunchConfigSpec spec;
  spec.provider_id = ProviderId("cloud");
  spec.launch_config = {.launch_config_id = LaunchConfigId("lc-1"),
                        .worker_pool_id = WorkerPoolId("p/cloudy"),
                        .placement = {{{"region", "eu-1"}}},
                        .document = {{"cloud", json::object()}}};
  spec.worker_config = {{"a", 1}};
  const fleet::LaunchConfigRow launch{.worker_pool_id = WorkerPoolId("p/cloudy"),
                                      .launch_config_id = LaunchConfigId("lc-1"),
                                      .provider_id = ProviderId("cloud"),
                                      .created = now,
                                      .spec = codec::to_value(spec).as_object()};
  const fleet::PoolRow pool{.worker_pool_id = WorkerPoolId("p/cloudy"), .spec = {}, .history = {}};
  store::Batch batch{store::put(pool), store::put(launch)};
  for (int i = 1; i <= 3; ++i) {
    fleet::WorkerRow row;
    row.number = i;
    row.worker_pool_id = WorkerPoolId("p/cloudy");
    row.launch_config_id = LaunchConfigId("lc-1");
    row.provider_id = ProviderId("cloud");
    row.worker_group = WorkerGroup("eu-1");
    row.worker_id = WorkerId("i-" + std::to_string(i));
    row.phase = fleet::LaunchPhase::launched;
    row.created = row.since = now;
    batch.push_back(store::put(row));
  }
  return batch;
}

Outcome wait_for(const std::function<void(Done)>& begin) {
  const auto answered = std::make_shared<std::promise<Outcome>>();
  auto outcome = answered->get_future();
  begin([answered](Outcome given) { answered->set_value(std::move(given)); });
  if (outcome.wait_for(20s) == std::future_status::ready) return outcome.get();
  ADD_FAILURE() << "there is no outcome";
  return Refusal::unavailable("there is no outcome");
}

}  // namespace

Fixture::Fixture(FailureLimits limits) {
  EXPECT_TRUE(store.commit(launched_workers(clock->now())));
  auto loaded = fleet::Fleet::load(store, {}, "host-1", {clock->now(), 1h});
  EXPECT_TRUE(loaded);
  fleet = std::make_unique<fleet::Service>(
      std::move(*loaded),
      fleet::ServiceParts{
          .store = &store, .clock = clock, .log = {}, .find_plugin = [](const std::string&) {
            return fleet::Callee{};
          }});
  registrar = std::make_unique<Registrar>(dependencies(), limits);
}

Fixture::~Fixture() {
  registrar.reset();
  fleet->stop(1s);
}

Dependencies Fixture::dependencies() {
  Dependencies host;
  host.fleet = fleet.get();
  host.authority = &authority;
  host.clock = clock;
  host.root_url = "https://muster.example.com/";
  host.find_provider = [this](const ProviderId& id) -> std::optional<ProviderState> {
    if (id == ProviderId("cloud")) return ProviderState{cloud_runs, false};
    if (id == ProviderId("rack")) return ProviderState{true, true};
    return std::nullopt;
  };
  host.identify = [this](const ProviderId&, const IdentifyRequest& request,
                         const std::string&) -> Result<Identity> {
    ++asked;
    if (identify) return identify(request);
    const json::value* token = request.proof.if_contains("token");
    if (!token || *token != "good") return Error::auth("Token validation error");
    return Identity{request.worker_group, request.worker_id};
  };
  return host;
}

Outcome Fixture::register_worker(Application application) {
  return wait_for(
      [&](Done done) { registrar->register_worker(std::move(application), std::move(done)); });
}

Outcome Fixture::renew(const std::string& worker_id, const std::string& renewal_secret) {
  return wait_for([&](Done done) {
    registrar->renew({WorkerPoolId("p/cloudy"), WorkerGroup("eu-1"), WorkerId(worker_id)},
                     renewal_secret, std::move(done));
  });
}

Application Fixture::application(const std::string& worker_id) {
  return {.claim = {{WorkerPoolId("p/cloudy"), WorkerGroup("eu-1"), WorkerId(worker_id)},
                    ProviderId("cloud")},
          .proof = {{"token", "good"}},
          .address = "192.0.2.1"};
}

std::vector<events::Event> Fixture::relay_events() {
  EXPECT_TRUE(fleet->change<int>([](fleet::Fleet&, fleet::Now) { return Result<int>(0); }));
  std::vector<events::Event> all;
  EXPECT_TRUE(store::read_rows<events::Event>(store, [&](const events::Event& event) {
    if (event.kind == "relay-registration") all.push_back(event);
  }));
  return all;
}

}  // namespace muster::registration
