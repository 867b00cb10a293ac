// What the API needs of the host.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "host/pools/provider_facts.hpp"
#include "lib/base/clock.hpp"
#include "lib/base/log.hpp"

namespace muster::auth {
class Authority;
}
namespace muster::fleet {
class Service;
}
namespace muster::http {
class WorkerThreads;
}
namespace muster::registration {
class Registrar;
}
namespace muster::store {
class Store;
}

namespace muster::taskcluster_api {

// A configured provider, as far as it is known without asking it.
struct ProviderInfo {
  ProviderId id;
  std::string plugin;      // "simulated"
  bool running = false;    // else nothing can be asked of it now
  bool announced = false;  // its workers are announced, not launched (capability)
};

// All pointers are borrowed and must outlive the router's last answer.
struct Parts {
  fleet::Service* fleet = nullptr;  // none: nothing works, because of `problem`
  std::string problem = {};
  const store::Store* store = nullptr;
  const auth::Authority* authority = nullptr;
  registration::Registrar* registrar = nullptr;
  http::WorkerThreads* workers = nullptr;  // for what waits for the store or for a provider
  std::shared_ptr<const Clock> clock;
  Log log = {};
  std::string root_url;  // how clients reach the host, without a slash at its end
  std::string version;
  std::function<std::vector<ProviderInfo>()> providers;      // at once; THREADS: any
  std::function<pools::ProviderContext()> provider_context;  // may wait for providers
  pools::Expand expand;
};

}  // namespace muster::taskcluster_api
