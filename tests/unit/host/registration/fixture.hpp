// A registrar over a real fleet whose store is in memory. Its pool p/cloudy has three launched
// workers, eu-1/i-1 to i-3, of the provider "cloud". There is also a provider "rack", which the
// pool does not use.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <vector>

#include "host/auth/authority.hpp"
#include "host/events/model/event.hpp"
#include "host/fleet/service.hpp"
#include "host/registration/registrar.hpp"
#include "host/store/memory_store.hpp"
#include "lib/base/fake_clock.hpp"

namespace muster::registration {

class Fixture {
 public:
  explicit Fixture(FailureLimits limits = {});
  ~Fixture();

  // Wait for the outcome.
  Outcome register_worker(Application application);
  Outcome renew(const std::string& worker_id, const std::string& renewal_secret);

  // Of a worker in the pool, with a proof that the provider accepts.
  static Application application(const std::string& worker_id = "i-1");

  std::vector<events::Event> relay_events();
  std::int64_t counted(const std::string& provider, RegistrationOutcome outcome) const {
    return registrar->meters().counted(provider, outcome);
  }
  Dependencies dependencies();

  std::shared_ptr<FakeClock> clock = std::make_shared<FakeClock>();
  store::MemoryStore store;
  auth::Authority authority{*clock};
  std::unique_ptr<fleet::Service> fleet;
  std::unique_ptr<Registrar> registrar;
  std::atomic<int> asked = 0;
  std::atomic<bool> cloud_runs = true;
  // Accepts the proof {"token": "good"} unless a test replaces it.
  std::function<Result<Identity>(const IdentifyRequest&)> identify;
};

}  // namespace muster::registration
