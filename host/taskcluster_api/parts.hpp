// What the API needs of the host.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "host/endpoints/call.hpp"
#include "host/pools/provider_facts.hpp"

namespace muster::registration {
class Registrar;
}
namespace muster::worker_state {
class Service;
}
namespace muster::store {
class Store;
}

namespace muster::taskcluster_api {

// A configured provider, as far as it is known without asking it.
struct ProviderInfo {
  ProviderId id;
  std::string plugin;     // "simulated"
  bool running = false;   // else nothing can be asked of it now
  bool declares = false;  // its workers are declared by their owner, not launched (capability)
};

// All pointers are borrowed and must outlive the router's last answer.
struct Parts : endpoints::Host {
  const store::Store* store = nullptr;
  const worker_state::Service* runs = nullptr;
  registration::Registrar* registrar = nullptr;
  std::string root_url;  // how clients reach the host, without a slash at its end
  std::string version;
  std::function<std::vector<ProviderInfo>()> providers;      // at once; THREADS: any
  std::function<pools::ProviderContext()> provider_context;  // may wait for providers
  pools::Expand expand;
};

}  // namespace muster::taskcluster_api
