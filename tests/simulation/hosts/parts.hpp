// The parts of HostsWorld that its own files share.
#pragma once

#include "tests/simulation/hosts/hosts_world.hpp"

namespace muster::simulation {

inline constexpr std::int64_t most_machines = 12;
inline const ProviderId provider_id = ProviderId("cloud");

struct HostsWorld::Agent {
  Instance instance;
  fleet::WorkerName name;
  Sha256 secret{};
  bool registered = false;
  bool gone = false;
};

struct HostsWorld::Client {
  queue::NewRequest ask;
  std::int64_t request = 0;   // 0: no host has told it yet, or one has forgotten it
  std::int64_t known_as = 0;  // the number that it was told
  std::int64_t worker = 0;    // that it holds, as far as it knows
  milliseconds until{0};      // it gives it back then
  bool gives_back = false;
  bool over = false;
};

}  // namespace muster::simulation
